"""Which parsers to try on which texts: the names given, and the files."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from checks.splits.samples import TOOLS, reasoning_samples_for, samples_for
from checks.vllm.cuts import tokenizer_named
from checks.vllm.names import reasoning_parser_names, refuse_unknown, tool_parser_names
from draftgate.parsers.check import CheckedParser, Settings, check_all, check_parser, written
from draftgate.parsers.files import inputs_of
from draftgate.parsers.input import ParserInput
from traces.errors import ConfigError, InputError


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
    inputs, notes = _outputs(files, tool, reasoning, settings)
    checked = check_parser(loaded, settings, tool, reasoning, inputs, TOOLS if tool else ())
    if checked.reason:
        raise InputError(
            f"tokenizer {tokenizer!r} does not serve the parser {checked.name}: {checked.reason}",
            "name the tokenizer of a model this parser is made for (--tokenizer)",
        )
    yield replace(checked, notes=(*checked.notes, *notes))


def _outputs(
    files: Sequence[Path], tool: str | None, reasoning: str | None, settings: Settings
) -> tuple[list[ParserInput], list[str]]:
    """What will be cut, drawn by the seed where there is more of it, and notes on the rest."""
    if not files:
        return _samples(tool, reasoning), []
    inputs: list[ParserInput] = []
    notes: list[str] = []
    for file in files:
        found, said = inputs_of(file, tool, reasoning)
        inputs += found
        notes += said
    left = len(inputs) - settings.outputs
    if left <= 0:
        return inputs, notes
    drawn = sorted(random.Random(settings.seed).sample(range(len(inputs)), settings.outputs))
    note = f"{left} further outputs were not drawn (--outputs)"
    return [inputs[i] for i in drawn], [*notes, note]


def _samples(tool: str | None, reasoning: str | None) -> list[ParserInput]:
    try:
        if tool and reasoning:
            thought = reasoning_samples_for(reasoning)[0][1].removesuffix("Done.")
            return written([(name, thought + text) for name, text in samples_for(tool)])
        return written(samples_for(tool) if tool else reasoning_samples_for(reasoning or ""))
    except KeyError as error:
        raise InputError(
            f"there are no built-in samples for the parser {error.args[0]!r}",
            "give it texts, case files, journals or recorded sessions",
        ) from error
