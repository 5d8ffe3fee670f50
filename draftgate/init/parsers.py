"""The parsers and the tokenizer of the candidate's servers: as the user says, else as was seen.

The gate cuts a run's outputs anew with them (docs/findings.md, SPLIT_VARIANT). No route of a server
names its parsers: forced outputs show whose markup it makes calls of, and whether it splits off
reasoning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from draftgate.init.seen import SeenPaths, SeenSessions
from draftgate.init.wanted import Wanted
from replay.facts.probes import MARKUPS, REASONING

SILENT = "the candidate was not asked, or does not say"


@dataclass(frozen=True, slots=True)
class Known:
    """One key of `[run]`: its value, empty where it is not known; the comment on it; and whether it
    is still to be filled in, for without it less is judged."""

    value: str = ""
    comment: str = ""
    missed: bool = False


def known_parsers(wanted: Wanted, paths: SeenPaths, sessions: SeenSessions) -> Mapping[str, Known]:
    """``{"tool_parser": Known("hermes", "seen: the candidate makes …"), …}``.

    Empty where the candidate is launched: its flags name them (`server_flags`).
    """
    if not wanted.candidate_urls:
        return {}
    seen = {
        "tool_parser": _tool_parser(paths, sessions.tool_calls > 0),
        "reasoning_parser": _reasoning_parser(paths),
        "tokenizer": _tokenizer(paths, sessions.tool_calls > 0),
    }
    return {key: Known(said) if (said := getattr(wanted, key)) else seen[key] for key in seen}


def server_flags(wanted: Wanted) -> tuple[str, ...]:
    """The flags that give launched servers what the user names."""
    tool = ("--enable-auto-tool-choice", "--tool-call-parser", wanted.tool_parser)
    reasoning = ("--reasoning-parser", wanted.reasoning_parser)
    tokenizer = ("--tokenizer", wanted.tokenizer)
    return tuple(flag for flags in (tool, reasoning, tokenizer) if flags[-1] for flag in flags)


def _tool_parser(paths: SeenPaths, calls: bool) -> Known:
    found = list(dict.fromkeys(n for s in paths.of("candidate") for n in s.tool_parsers))
    if found:
        seen = f"seen: the candidate makes tool calls of the markup of {', '.join(found)}"
        return Known(found[0], f"{seen}; if its --tool-call-parser is another, write that")
    tried = ", ".join(name for name in MARKUPS if name != REASONING)
    asked = any(server.facts for server in paths.of("candidate"))
    why = f"the candidate makes calls of no markup tried ({tried})" if asked else SILENT
    return Known("", f"not seen: {why}; write its --tool-call-parser", calls)


def _reasoning_parser(paths: SeenPaths) -> Known:
    splits = {server.splits_reasoning for server in paths.of("candidate")}
    if True in splits:
        seen = "seen: the candidate splits reasoning off; by which parser it does not say"
        return Known("", f"{seen}: write its --reasoning-parser", True)
    if False in splits:
        return Known("", "seen: the candidate splits no reasoning off")
    asked = any(server.facts for server in paths.of("candidate"))
    why = "the candidate answers no probe of it" if asked else SILENT
    return Known("", f"not seen: {why}; write its --reasoning-parser, if it has one")


def _tokenizer(paths: SeenPaths, calls: bool) -> Known:
    facts = [server.facts for server in paths.of("candidate") if server.facts]
    root = next((one.models[0].root for one in facts if one.models and one.models[0].root), "")
    if root and Path(root).is_dir():
        return Known(root, "seen: the folder of the model that the candidate serves")
    if root and root.count("/") == 1 and not root.startswith(("/", ".", "~")):
        return Known(root, "seen: the model that the candidate serves; looked up by this name")
    why = f"the candidate serves {root}, which is no folder here" if root else SILENT
    return Known("", f"not seen: {why}; write the folder or the name of its model", calls)
