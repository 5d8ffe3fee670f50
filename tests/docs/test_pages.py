"""Pages say what is: links lead somewhere, commands and options exist, every verb is documented."""

import re
import shlex
from pathlib import Path

import click
import pytest

from draftgate.cli import VERBS, group
from draftgate.commands.reference import reference

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"```(?:console|bash|shell|sh|yaml)\n(.*?)```", re.S)
PROMPT = re.compile(r"^\s*(?:\$ |- run: )?")


def pages(root: Path) -> list[Path]:
    """Every page of the project itself."""
    names = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "models").glob("*.md")]
    return sorted(names)


def test_links_lead_to_files(root: Path) -> None:
    dead = [
        f"{page.relative_to(root)}: {target}"
        for page in pages(root)
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target
        and not target.startswith("#")
        and not (page.parent / target.split("#")[0]).exists()
    ]
    assert dead == []


def test_every_page_can_be_reached_from_the_first(root: Path) -> None:
    found: set[Path] = set()
    ahead = [root / "README.md"]
    while ahead:
        page = ahead.pop()
        found.add(page)
        targets = LINK.findall(page.read_text(encoding="utf-8"))
        local = {(page.parent / t.split("#")[0]).resolve() for t in targets if "://" not in t}
        ahead += [p for p in local - found if p.suffix == ".md" and p.is_file()]
    assert sorted(set((root / "docs").rglob("*.md")) - found) == []


def test_the_command_page_is_current(root: Path) -> None:
    page = (root / "docs" / "commands.md").read_text(encoding="utf-8")
    assert page.strip() == reference().strip()


def commands_shown(root: Path) -> list[tuple[str, list[str]]]:
    """(page, words after ``draftgate``) of every command line in a page."""
    found = []
    for page in pages(root):
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                line = PROMPT.sub("", line).split(" #")[0].strip()
                if line.startswith("draftgate "):
                    found.append((page.name, shlex.split(line)[1:]))
    return found


def test_pages_show_only_commands_and_options_that_exist(root: Path) -> None:
    shown = commands_shown(root)
    assert shown
    for page, words in shown:
        if words[0].startswith("-"):
            continue
        assert words[0] in VERBS, f"{page}: draftgate {words[0]}"
        command = group.get_command(click.Context(group), words[0])
        assert command is not None
        known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
        for word in words[1:]:
            option = word.split("=")[0]
            if option.startswith("-") and option not in ("-", "-h", "--help"):
                assert option in known, f"{page}: draftgate {words[0]} {option}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_does(verb: str) -> None:
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    assert command.help
    silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert silent == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_json(verb: str) -> None:
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    assert any("--json" in p.opts for p in command.params)
