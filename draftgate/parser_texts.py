"""Which parsers to try on which texts: the names given, and the files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from checks.split_samples import TOOLS, reasoning_samples_for, samples_for
from checks.vllm_cuts import tokenizer_named
from draftgate.parser_check import CheckedParser, Settings, check_all, check_parser
from traces.case import read_case
from traces.errors import ConfigError, InputError
from traces.journal import JournalReader
from traces.reassembly import response_of

JOURNAL = ".jsonl.zst"

Text = tuple[str, str | Sequence[int]]
"""(where it is from, the text or its token ids)."""


def parsers_to_check(
    files: Sequence[Path],
    tool: str | None,
    reasoning: str | None,
    tokenizer: str,
    settings: Settings,
) -> Iterator[CheckedParser]:
    """Raises `ConfigError` for files without a parser, `InputError` for what cannot be read."""
    loaded = tokenizer_named(tokenizer)
    if not tool and not reasoning:
        if files:
            raise ConfigError(
                "files are given, but no parser to read them with",
                "name --tool-parser, --reasoning-parser or both",
            )
        yield from check_all(loaded, settings)
        return
    tools: list[dict[str, Any]] = list(TOOLS)
    if files:
        texts: list[Text] = []
        for file in files:
            found, offered = texts_of(file)
            texts += found
            tools += [t for t in offered if t not in tools]
    else:
        texts = list(_samples(tool, reasoning))
    yield check_parser(loaded, settings, tool, reasoning, texts, tools if tool else ())


def _samples(tool: str | None, reasoning: str | None) -> Iterator[Text]:
    try:
        if tool and not reasoning:
            yield from samples_for(tool)
        elif reasoning and not tool:
            yield from reasoning_samples_for(reasoning)
        elif tool and reasoning:
            thought = reasoning_samples_for(reasoning)[0][1].removesuffix("Done.")
            yield from ((name, thought + text) for name, text in samples_for(tool))
    except KeyError as error:
        raise InputError(
            f"there are no built-in samples for the parser {error.args[0]!r}",
            "give it texts, case files or journals; `--tool-parser` names are vLLM's",
        ) from error


def texts_of(file: Path) -> tuple[list[Text], list[dict[str, Any]]]:
    """The outputs a file holds, and the tools of its requests."""
    if file.name.endswith(JOURNAL):
        return _of_journal(file)
    if file.suffix == ".json":
        return _of_case(file)
    try:
        return [(file.name, file.read_text(encoding="utf-8"))], []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not a readable text ({error})", "name a UTF-8 text") from error


def _of_journal(file: Path) -> tuple[list[Text], list[dict[str, Any]]]:
    texts: list[Text] = []
    tools: list[dict[str, Any]] = []
    for capture in JournalReader(file):
        ids = response_of(capture).token_ids
        if ids:
            texts.append((f"{capture.key.session}/{capture.key.turn}", ids))
            tools += [t for t in capture.request.get("tools") or [] if t not in tools]
    if not texts:
        raise InputError(f"{file}: no capture holds token ids", "replay with `return_token_ids`")
    return texts, tools


def _of_case(file: Path) -> tuple[list[Text], list[dict[str, Any]]]:
    texts: list[Text] = []
    tools: list[dict[str, Any]] = []
    for scenario in read_case(file).scenarios:
        raw = scenario.candidate.raw_text if scenario.candidate else None
        if raw:
            texts.append((f"{file.name}/{scenario.name}", raw))
            tools += [t for t in (scenario.request or {}).get("tools") or [] if t not in tools]
    if not texts:
        raise InputError(f"{file}: no scenario has a raw_text", "name a case with an output")
    return texts, tools
