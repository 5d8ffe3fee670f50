"""The scenarios of vendored case files, each with a name for its test."""

from collections.abc import Sequence
from pathlib import Path

from draftgate.case_check import case_files
from draftgate.pytest_plugin.naming import slug, unique
from traces.cases.case import CaseScenario, read_case


def scenarios(cases: Sequence[str]) -> list[tuple[str, CaseScenario]]:
    """(name, scenario) of every scenario: ``tool-step3-seen``.

    Raises InputError for a folder without case files and for a file that is none.
    """
    found = [
        (file.name.split(".")[0], scenario)
        for file in case_files([Path(case) for case in cases])
        for scenario in read_case(file).scenarios
    ]
    names = unique([f"{slug(file)}-{slug(scenario.name)}" for file, scenario in found])
    return list(zip(names, (scenario for _, scenario in found), strict=True))
