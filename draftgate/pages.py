"""The pages of `docs/`, as they are installed with draftgate.

page("findings")           the whole page
page("ARGS_NOT_JSON")      the entry of one finding code
page("guides/ci")
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from traces.errors import InputError

_PACKAGE = Path(str(files("draftgate")))
CODE = re.compile(r"^### `([A-Z0-9_]+)`$", re.MULTILINE)
FINDINGS = "findings"


@dataclass(frozen=True, slots=True)
class Page:
    """A page, or a part of one: its name, its first heading, its file and its Markdown."""

    name: str
    title: str
    file: Path
    text: str


def folder() -> Path:
    """Where the pages lie: in the installed package, or in a checkout."""
    installed = _PACKAGE / "docs"
    return installed if installed.is_dir() else _PACKAGE.parent / "docs"


def pages() -> Iterator[Page]:
    """Every page, by name: ``advice``, ``arms``, … ``guides/ci``."""
    home = folder()
    named = {file.relative_to(home).with_suffix("").as_posix(): file for file in home.rglob("*.md")}
    for name, file in sorted(named.items()):
        text = file.read_text(encoding="utf-8")
        yield Page(name, text.partition("\n")[0].lstrip("# "), file, text)


def page(topic: str) -> Page:
    """The page of that name, with or without ``docs/`` and ``.md``; of a finding code, its entry.

    Raises InputError with the nearest names where there is none.
    """
    name = topic.removeprefix("docs/").removesuffix(".md")
    known = {one.name: one for one in pages()}
    if name in known:
        return known[name]
    codes = CODE.findall(known[FINDINGS].text) if FINDINGS in known else []
    if name.upper() in codes:
        return _entry(known[FINDINGS], name.upper())
    near = difflib.get_close_matches(name, [*known, *codes], n=3, cutoff=0.6)
    lists = "`draftgate docs` lists all pages, `draftgate docs findings` all finding codes"
    fix = f"did you mean {', '.join(near)}? {lists}" if near else lists
    raise InputError(f"there is no page or finding code {topic!r}", fix)


def _entry(whole: Page, code: str) -> Page:
    """The part of the findings page that begins with the heading of a code."""
    _, _, rest = whole.text.partition(f"### `{code}`\n")
    text = re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()
    return Page(code, code, whole.file, f"### `{code}`\n\n{text}\n")
