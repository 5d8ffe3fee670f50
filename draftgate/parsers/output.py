"""What `draftgate parsers` prints and writes: lines, case files, the matrix."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from checks.cases.writing import case_json
from checks.excerpt import printable
from checks.splits.samples import TOOLS
from checks.vllm.cases import case_of_variant
from checks.vllm.names import vllm_version
from draftgate.parsers.check import CheckedParser, Settings
from reports.formats.parser_matrix import render_matrix
from traces.output import write_whole, writing
from traces.redaction.redaction import Redactor


def lines_of(checked: Sequence[CheckedParser]) -> Iterator[str]:
    """For people: every failing cut as text, cut, and both results."""
    for parser in checked:
        reason = f" ({parser.reason})" if parser.reason else ""
        yield printable(f"{parser.status:9} {parser.kind} {parser.name}{reason}")
        for fault in parser.parser_faults:
            yield printable(f"    the parser's own fault, whatever the cut: {fault}")
        for note in parser.notes:
            yield printable(f"    {note}")
        for text in parser.texts:
            for finding in text.judgement.findings():
                yield printable(f"    {text.name}: {finding.message}")
                yield printable(f"      text:        {text.text!r}")
                yield printable(f"      cut:         {finding.detail['cut']}")
                yield printable(f"      one by one:  {finding.baseline}")
                yield printable(f"      so cut:      {finding.candidate}")


def write_cases(
    checked: Sequence[CheckedParser], folder: Path, tokenizer: str, settings: Settings
) -> Mapping[str, Path]:
    """A case file per failing parser, of its first failing text, by ``kind/name``.

    Secrets are replaced: outputs of journals hold what users recorded.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, Path] = {}
    for parser in checked:
        failing = [text for text in parser.texts if not text.judgement.invariant]
        failing.sort(key=lambda text: (text.judgement.minor, len(text.text)))
        for text in failing[:1]:
            case = case_of_variant(
                next(text.judgement.findings()),
                text.text,
                {"tools": TOOLS if parser.tool else []} if text.request is None else text.request,
                (parser.tool, parser.reasoning),
                (tokenizer,),
                settings.largest,
                settings.seed,
                Redactor(),
            )
            if case is not None:
                file = folder / f"{parser.kind}-{parser.name.replace(' ', '')}.case.json"
                write_whole(file, json.dumps(case_json(case), ensure_ascii=False, indent=1) + "\n")
                written[f"{parser.kind}/{parser.name}"] = file
    return written


def write_matrix(
    checked: Sequence[CheckedParser],
    file: Path,
    settings: Settings,
    cases: Mapping[str, Path],
) -> None:
    """The matrix beside its case files."""
    with writing(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
    links = {name: os.path.relpath(case, file.parent) for name, case in cases.items()}
    page = render_matrix(
        [parser.as_json() for parser in checked],
        version=vllm_version(),
        day=datetime.now(UTC).date(),
        largest=settings.largest,
        count=settings.count,
        cases=links,
    )
    write_whole(file, page)
