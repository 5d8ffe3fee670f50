"""What `draftgate parsers` prints and writes: lines, case files, the matrix."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from checks.case_writing import case_json, case_of_cut
from checks.excerpt import printable
from checks.split_samples import TOOLS
from checks.vllm_cuts import judge_cuts
from checks.vllm_parsers import vllm_version
from draftgate.parser_check import CheckedParser, CheckedText, Settings
from reports.parser_matrix import render_matrix


def lines_of(checked: Sequence[CheckedParser]) -> Iterator[str]:
    """For people: every failing cut as text, cut, and both results."""
    for parser in checked:
        reason = f" ({parser.reason})" if parser.reason else ""
        yield printable(f"{parser.status:9} {parser.kind} {parser.name}{reason}")
        for fault in parser.parser_faults:
            yield printable(f"    streaming is not the whole parse: {fault}")
        for text in parser.texts:
            for finding in text.judgement.findings():
                yield printable(f"    {text.name}: {finding.message}")
                yield printable(f"      text:        {text.text!r}")
                yield printable(f"      cut:         {finding.detail['cut']}")
                yield printable(f"      one by one:  {finding.baseline}")
                yield printable(f"      so cut:      {finding.candidate}")


def write_cases(
    checked: Sequence[CheckedParser], folder: Path, tokenizer: str
) -> Mapping[str, Path]:
    """A case file per failing parser, of its first failing text, by ``kind/name``."""
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, Path] = {}
    for parser in checked:
        failing = [text for text in parser.texts if not text.judgement.invariant]
        failing.sort(key=lambda text: (text.judgement.single_only, len(text.text)))
        for text in failing[:1]:
            file = folder / f"{parser.kind}-{parser.name.replace(' ', '')}.case.json"
            if _write_case(parser, text, tokenizer, file):
                written[f"{parser.kind}/{parser.name}"] = file
    return written


def _write_case(parser: CheckedParser, text: CheckedText, tokenizer: str, file: Path) -> bool:
    finding = next(text.judgement.findings())
    context = {
        "tool_parser": parser.tool,
        "reasoning_parser": parser.reasoning,
        "tokenizer": tokenizer,
        "cuts": [finding.detail["cut"]],
    }
    scenario = {
        "request": {"tools": TOOLS} if parser.tool else {},
        "candidate": {"raw_text": text.text},
        "context": {name: value for name, value in context.items() if value is not None},
    }
    case = case_of_cut(finding, scenario, judge_cuts, lambda value: value)
    if case is None:
        return False
    _write(file, json.dumps(case_json(case), ensure_ascii=False, indent=1) + "\n")
    return True


def write_matrix(
    checked: Sequence[CheckedParser],
    file: Path,
    settings: Settings,
    cases: Mapping[str, Path],
) -> None:
    """The matrix beside its case files."""
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
    _write(file, page)


def _write(file: Path, text: str) -> None:
    """Whole or not at all, so that a run that is ended early leaves what it has."""
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)
