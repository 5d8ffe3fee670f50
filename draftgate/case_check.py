"""Judge case files for `draftgate check`: find them, judge them, say what was found."""

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checks.cases.judge import (
    NO_VLLM,
    ScenarioJudgement,
    SplitJudge,
    judge_case,
    unknown_codes,
)
from checks.excerpt import printable
from checks.findings import ERROR
from traces.cases.case import Case, read_case
from traces.counted import counted
from traces.errors import DraftgateError, InputError
from traces.user_paths import matching

SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """One case file and the judgement of each of its scenarios."""

    file: Path
    case: Case
    scenarios: tuple[ScenarioJudgement, ...]

    def as_json(self) -> dict[str, Any]:
        """``{"file", "kind", "scenarios": [{"name", "verdict", "codes", "findings", …}]}``."""
        scenarios = [_scenario_json(scenario) for scenario in self.scenarios]
        return {"file": str(self.file), "kind": self.case.kind, "scenarios": scenarios}

    def lines(self) -> Iterator[str]:
        """What a person reads."""
        yield printable(f"{self.file} ({self.case.kind})")
        for scenario in self.scenarios:
            codes = " ".join(scenario.judgement.codes)
            yield printable(f"  {scenario.judgement.verdict:4}  {scenario.name}  {codes}").rstrip()
            for finding in scenario.judgement.findings:
                mark = "" if finding.severity == ERROR else f" [{finding.severity}]"
                too = " (the baseline shows it too)" if finding.baseline_too else ""
                yield printable(f"        {finding.code}{mark}: {finding.message}{too}")
            for missing in scenario.judgement.not_judged:
                if missing.reason == NO_VLLM:
                    yield f"        {missing.code}: not judged: {missing.reason}"
            if scenario.as_expected is False:
                yield printable(f"        the file expects: {_expected(scenario)}")


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """All files of one call; those that could not be read stand in `errors`."""

    cases: tuple[CheckedCase, ...]
    errors: tuple[DraftgateError, ...]

    @property
    def unjudged(self) -> int:
        """Scenarios with cuts that nothing judged, because vLLM is not installed."""
        return sum(
            any(one.reason == NO_VLLM for one in scenario.judgement.not_judged)
            for case in self.cases
            for scenario in case.scenarios
        )

    @property
    def exit_code(self) -> int:
        """2 where a file could not be judged, 1 where a scenario fails, 3 where vLLM was missing to
        judge one, else 0."""
        failed = any(s.judgement.codes for case in self.cases for s in case.scenarios)
        if self.errors or failed:
            return 2 if self.errors else 1
        return 3 if self.unjudged else 0

    def as_json(self) -> dict[str, Any]:
        """``{"cases": […]}``, and ``errors`` where a file could not be judged."""
        result: dict[str, Any] = {"cases": [case.as_json() for case in self.cases]}
        if self.errors:
            result["errors"] = [{"error": str(e), "fix": e.fix} for e in self.errors]
        return result

    def summary(self) -> str:
        """One line of counts."""
        verdicts = [s.judgement.verdict for case in self.cases for s in case.scenarios]
        text = (
            f"{counted(len(self.cases), 'case')}, {counted(len(verdicts), 'scenario')}: "
            f"{verdicts.count('fail')} fail, {verdicts.count('pass')} pass"
        )
        if not self.unjudged:
            return text
        return f"{text}; the cuts of {counted(self.unjudged, 'scenario')} not judged without vLLM"


def check_cases(files: Sequence[Path]) -> CaseCheck:
    """Judge every case file; one that cannot be read does not hide the others."""
    cases: list[CheckedCase] = []
    errors: list[DraftgateError] = []
    for file in files:
        try:
            case = read_case(file)
            codes = unknown_codes(case)
            if codes:
                raise InputError(
                    f"{file}: expects unknown codes: {', '.join(codes)}",
                    "`draftgate docs findings` lists every code",
                )
            judged = judge_case(case, str(file), split_judge(case))
            cases.append(CheckedCase(file, case, tuple(judged)))
        except DraftgateError as error:
            errors.append(error)
    return CaseCheck(tuple(cases), tuple(errors))


def case_files(names: Sequence[Path]) -> list[Path]:
    """The files named, also by globs, and the ``*.json`` of folders. Raises `InputError` for an
    empty folder."""
    files: list[Path] = []
    for name in (path for given in names for path in matching(given)):
        found = sorted(name.glob(f"*{SUFFIX}")) if name.is_dir() else [name]
        if not found:
            raise InputError(f"{name}: the folder holds no *{SUFFIX}", "name a folder of cases")
        files += found
    return files


def split_judge(case: Case) -> SplitJudge | None:
    """vLLM's own parsers as a judge of cuts, where vLLM is installed and the case has cuts."""
    needed = any(scenario.context.partitions for scenario in case.scenarios)
    if not needed or importlib.util.find_spec("vllm") is None:
        return None
    from checks.vllm.cuts import judge_cuts

    return judge_cuts


def _scenario_json(scenario: ScenarioJudgement) -> dict[str, Any]:
    judgement = scenario.judgement
    result: dict[str, Any] = {
        "name": scenario.name,
        "verdict": judgement.verdict,
        "codes": judgement.codes,
        "findings": [finding.as_json() for finding in judgement.findings],
        "not_judged": [{"code": n.code, "reason": n.reason} for n in judgement.not_judged],
    }
    if scenario.expected is not None:
        if scenario.expected.codes is not None:
            result["expected"] = sorted(scenario.expected.codes)
        result["expected_verdict"] = scenario.expected.verdict
        result["as_expected"] = scenario.as_expected
    return result


def _expected(scenario: ScenarioJudgement) -> str:
    """The verdict and the codes that the file states."""
    expected = scenario.expected
    assert expected is not None
    codes = expected.codes
    if codes is None:
        return expected.verdict
    return f"{expected.verdict}, {' '.join(codes) or 'no code'}"
