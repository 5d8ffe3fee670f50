"""Which parsers to try on which texts: the names given, and the files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from checks.split_samples import TOOLS, reasoning_samples_for, samples_for
from checks.vllm_cuts import tokenizer_named
from checks.vllm_names import reasoning_parser_names, refuse_unknown, tool_parser_names
from draftgate.gate.served_output import ended_by_token
from draftgate.parser_check import CheckedParser, Settings, check_all, check_parser, written
from draftgate.parser_input import ParserInput
from traces.case import read_case
from traces.errors import ConfigError, InputError
from traces.journal import JournalReader
from traces.reassembly import response_of

JOURNAL = ".jsonl.zst"


def parsers_to_check(
    files: Sequence[Path],
    tool: str | None,
    reasoning: str | None,
    tokenizer: str,
    settings: Settings,
) -> Iterator[CheckedParser]:
    """Raises `ConfigError` for files without a parser, `InputError` for what cannot be read, for
    an unknown parser, and for a tokenizer that the named parser refuses."""
    refuse_unknown("tool parser", tool, tool_parser_names())
    refuse_unknown("reasoning parser", reasoning, reasoning_parser_names())
    loaded = tokenizer_named(tokenizer)
    if not tool and not reasoning:
        if files:
            raise ConfigError(
                "files are given, but no parser to read them with",
                "name --tool-parser, --reasoning-parser or both",
            )
        yield from check_all(loaded, settings)
        return
    inputs = [i for file in files for i in inputs_of(file)] if files else _samples(tool, reasoning)
    checked = check_parser(loaded, settings, tool, reasoning, inputs, TOOLS if tool else ())
    if checked.reason:
        raise InputError(
            f"tokenizer {tokenizer!r} does not serve the parser {checked.name}: {checked.reason}",
            "name the tokenizer of a model this parser is made for (--tokenizer)",
        )
    yield checked


def _samples(tool: str | None, reasoning: str | None) -> list[ParserInput]:
    try:
        if tool and reasoning:
            thought = reasoning_samples_for(reasoning)[0][1].removesuffix("Done.")
            return written([(name, thought + text) for name, text in samples_for(tool)])
        return written(samples_for(tool) if tool else reasoning_samples_for(reasoning or ""))
    except KeyError as error:
        raise InputError(
            f"there are no built-in samples for the parser {error.args[0]!r}",
            "give it texts, case files or journals",
        ) from error


def inputs_of(file: Path) -> list[ParserInput]:
    """The outputs a file holds."""
    if file.name.endswith(JOURNAL):
        return _of_journal(file)
    if file.suffix == ".json":
        return _of_case(file)
    try:
        return [ParserInput(file.name, file.read_text(encoding="utf-8"))]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not a readable text ({error})", "name a UTF-8 text") from error


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
