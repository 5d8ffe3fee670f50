"""The outputs that files hold: journals, case files, recorded sessions, plain texts."""

import json
from pathlib import Path

from checks.splits.served import ended_by_token
from draftgate.parsers.input import ParserInput
from draftgate.parsers.recorded_outputs import recorded_outputs
from traces.cases.case import read_case
from traces.errors import InputError
from traces.journal.journal import JournalReader
from traces.wire.reassembly import response_of

JOURNAL = ".jsonl.zst"
RECORDED = (".json", ".jsonl")


def inputs_of(
    file: Path, tool: str | None, reasoning: str | None
) -> tuple[list[ParserInput], list[str]]:
    """The outputs of one file, and notes on those that could not be had. Raises `InputError`."""
    if file.name.endswith(JOURNAL):
        return _of_journal(file), []
    if file.suffix in RECORDED and not _is_case(file):
        inputs, skipped = recorded_outputs(file, tool, reasoning)
        return inputs, [f"{file.name}: {n} turns: {reason}" for reason, n in skipped.items()]
    if file.suffix in RECORDED:
        return _of_case(file), []
    try:
        return [ParserInput(file.name, file.read_text(encoding="utf-8"))], []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not a readable text ({error})", "name a UTF-8 text") from error


def _is_case(file: Path) -> bool:
    """Whether it says that it is a case file; one that is no JSON at all may be meant as one."""
    if file.suffix != ".json":
        return False
    try:
        whole = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return True
    return isinstance(whole, dict) and "case" in whole


def _of_journal(file: Path) -> list[ParserInput]:
    """Outputs that came to their end; how a cut one parses is nobody's fault."""
    inputs = []
    for capture in JournalReader(file):
        response = response_of(capture)
        if response.token_ids and response.finish_reason not in (None, "length"):
            inputs.append(
                ParserInput(
                    f"{capture.key.session}/{capture.key.turn}",
                    ids=response.token_ids,
                    prompt=response.prompt_token_ids or (),
                    stopped=ended_by_token(response),
                    request=capture.request,
                    must_parse=True,
                )
            )
    if not inputs:
        raise InputError(
            f"{file}: no capture that came to its end holds token ids",
            "replay with `return_token_ids`, and with room for whole answers (`max_tokens`)",
        )
    return inputs


def _of_case(file: Path) -> list[ParserInput]:
    inputs = [
        ParserInput(
            f"{file.name}/{scenario.name}", scenario.candidate.raw_text, request=scenario.request
        )
        for scenario in read_case(file).scenarios
        if scenario.candidate is not None and scenario.candidate.raw_text
    ]
    if not inputs:
        raise InputError(f"{file}: no scenario has a raw_text", "name a case with an output")
    return inputs
