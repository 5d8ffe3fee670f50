"""A fault in every session of a run: one case of a kind, in short.

`python -m evidence.attacks.faults_everywhere` is the long proof: docs/evidence.md has its figures.
"""

from pathlib import Path

import pytest

from evidence.attacks.faults_everywhere import IN_FLIGHT, everywhere, runs_of
from tests.support.live_cases import live_cases

CASES = {case.name: case for case in live_cases()}
SOME = ("args_duplicated: bad", "usage_wrong: bad", "cross_request_leak: bad", "stream_cut: good")


@pytest.mark.parametrize("name", SOME)
def test_a_fault_in_every_session_fails_and_what_both_paths_show_does_not(
    tmp_path: Path, name: str
) -> None:
    for number, run in enumerate(runs_of([CASES[name]])):
        found = everywhere(tmp_path / str(number), *run)
        assert found.wrong == "", found.kind
        if CASES[name].codes and found.paths == "candidate" and found.in_flight == IN_FLIGHT[-1]:
            assert found.verdict == "fail"


def test_every_case_is_run_on_one_path_and_on_both() -> None:
    runs = list(runs_of(list(CASES.values())))
    assert {paths for _, paths, _ in runs} == {"candidate", "both"}
    assert {in_flight for _, paths, in_flight in runs if paths == "candidate"} == set(IN_FLIGHT)
    assert len(runs) == 3 * len(CASES)
