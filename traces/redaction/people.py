"""Names of people, learned where their place says what they are, then replaced everywhere.

/home/jane/src   drwxr-xr-x 2 jane staff   projects/-home-jane-shop   jane@corp.example
"""

import re
from collections.abc import Iterator

COUNTRIES = (
    "ac ad ae af ag ai al am ao ar at au aw az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by "
    "bz ca cd cf cg ch ci cl cm cn co cr cu cv cy cz de dj dk dm do dz ec ee eg er es et eu fi fj "
    "fm fo fr ga ge gh gi gl gm gn gr gt gy hk hn hr ht hu id ie il im in io iq ir is it je jm jo "
    "jp ke kg kh kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc me mg mk mm mn mo mr mt mu mv "
    "mw mx my mz na ne ng ni nl no np nz om pa pe pg ph pk pl pt pw qa ro ru rw sa sb sc sd se sg "
    "si sk sl sm sn so sr st su sv sy sz tc td tg th tj tl tm tn to tr tt tv tw tz ua ug uk us uy "
    "uz va vc ve vn vu ws ye za zm zw"
)
"""Those of them that are endings of files of code (py, rs, sh, md, ml) are left out."""

DOMAINS = (
    "com org net edu gov mil int info biz name pro dev app cloud tech xyz online site store blog "
    "email agency studio systems software example test invalid local internal corp lan"
)

EMAIL = (
    r"(?<![A-Za-z0-9._%])[A-Za-z0-9](?:[A-Za-z0-9._%+-]*[A-Za-z0-9_])?@(?:[A-Za-z0-9-]+\.)+"
    rf"(?:{'|'.join((*DOMAINS.split(), *COUNTRIES.split()))})\b(?![(\w]|\.[a-z])"
)
EXAMPLE_MAIL = re.compile(r"@(?:example\.(?:com|org|net)|users\.noreply\.github\.com)$")
SERVICES = frozenset({"git", "hg", "svn"})
"""Before the address of a repository."""

PERSON = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
HOME = rf"(?:/home/|/Users/|\b[A-Za-z]:\\{{1,4}}Users\\{{1,4}})({PERSON})"
LISTING = rf"^[-dlbcps][-rwxsStT]{{9}}[.+@]?\s+\d+\s+({PERSON})\s+({PERSON})\s+\d"
SLUG = r"(?<=/)-(?:home|Users)-([A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*)(?=-|/|$|\s)"

PLACES = (
    (["/home/", "/Users/", ":\\"], re.compile(HOME)),
    (["rw", "r-"], re.compile(LISTING, re.MULTILINE)),
    (["-home-", "-Users-"], re.compile(SLUG)),
)
"""Where a name can stand, and words of which a text must hold one."""

MAIL = re.compile(rf"({EMAIL})")

_NOT_PEOPLE = """
Guest Public Shared User admin agent app azureuser build builder centos circleci codespace
coder data daemon debian default deploy dev docker ec2-user example fedora git github gitpod
guest home jenkins linuxbrew me mysql name nginx nobody node nogroup pi postgres python
redis root runner sandbox service staff system test tester travis ubuntu user username users
vagrant vscode wheel work workspace www-data you .
"""
NOT_PEOPLE = frozenset(_NOT_PEOPLE.split())
"""Accounts of machines, and words that stand for a name."""

_OFFICES = """
contact hello help info jobs mail no-reply noreply office sales security support team
"""
OFFICES = frozenset(_OFFICES.split())
PLACEHOLDER_USER = re.compile(r"user\d+")
SHORTEST = 4
"""A shorter name, replaced wherever it stands, would hit words of code."""

_COMMON_WORDS = """
backup base beta body book bugs build call code core demo docs edit file find fork form grep
head help index info item json lang link list load local lock logs main mark memo menu meta
mode more next open page path plan port post proc prod project read repo root rust save
script self server sets shop site size sort source spec stage start state step stop store
sync task temp text time tmpl tool tree type user values view void web will wiki yaml zero
"""
COMMON_WORDS = frozenset(_COMMON_WORDS.split())


def is_person(name: str) -> bool:
    """Whether an account is one of a person."""
    return name not in NOT_PEOPLE and not PLACEHOLDER_USER.fullmatch(name)


def names_in(text: str) -> Iterator[str]:
    """Names that a text gives away and that are not also words."""
    if "@" in text:
        for match in MAIL.finditer(text):
            local = match.group(0).partition("@")[0]
            if not EXAMPLE_MAIL.search(match.group(0)) and local not in OFFICES:
                yield from _distinct(local)
    for words, pattern in PLACES:
        if not any(word in text for word in words):
            continue
        for match in pattern.finditer(text):
            for name in match.groups():
                yield from _distinct(name)


def _distinct(name: str) -> Iterator[str]:
    is_word = name.isdigit() or name.lower() in COMMON_WORDS
    if len(name) >= SHORTEST and is_person(name) and not is_word:
        yield name
