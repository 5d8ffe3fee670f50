"""Arms with other prompts over paper servers: what they cost the drafter, and nothing besides."""

from pathlib import Path
from typing import Any

import pytest

from draftgate.config.config import ArmSection, Config
from draftgate.config.file import parse_config
from draftgate.progress import SilentReporter
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.offline import judge_journals
from draftgate.run.outcome import GateOutcome
from reports.sql.query import answer
from reports.store.store import Store
from tests.support.paper.gate import K, paper_config, paper_paths, rows
from tests.support.paper.model import HashedVocabulary
from tests.support.paper.server import Faults
from tests.support.paper.stream import Stream
from traces.errors import ConfigError
from traces.journal.journal import JournalReader
from traces.session.perturbation import DATE_LINE

DATED = {"name": "dated", "perturb": ["date_line"], "share": 0.5}
SYSTEM_AS_USER = {"name": "by-user", "perturb": ["system_as_user", "tools_reversed"], "share": 0.5}


def forgets_dated_prompts(stream: Stream, request: dict[str, Any]) -> None:
    """The drafter gets nothing right where the system prompt begins with a date."""
    if not str(request["messages"][0]["content"]).startswith(DATE_LINE):
        return
    tokens = len(stream.ids)
    stream.steps = [1] * tokens
    stream.drafted, stream.accepted = [K] * (tokens - 1), [0] * (tokens - 1)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    folder = tmp_path_factory.mktemp("perturbed")
    faults = Faults(drafts=K, spoil=forgets_dated_prompts)
    with paper_paths(faults, words=HashedVocabulary()) as servers:
        arms = (ArmSection(**DATED), ArmSection(**SYSTEM_AS_USER))
        config = paper_config(folder, servers).model_copy(update={"arms": arms})
        return run_gate(config, SilentReporter())


def test_a_drafter_that_does_not_know_the_template_fails_nothing_and_is_reported(
    outcome: GateOutcome,
) -> None:
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    assert outcome.codes == {}
    (run,) = rows(outcome, "select notes from runs")
    notes = [note for note in run["notes"] if "acceptance length" in note]
    assert notes[0].startswith("arm dated (date_line): acceptance length 1.00, ")


def test_the_loss_is_stored_by_slice(outcome: GateOutcome) -> None:
    """Nothing accepted is an acceptance length of 1, wherever it was before."""
    found = {
        (row["arm"], row["dimension"], row["slice"]): row
        for row in rows(outcome, "from v_template_shift")
    }
    dated = found["dated", "all", "all"]
    assert dated["changes"] == "date_line"
    assert dated["changed_length"] == 1.0
    assert dated["difference"] == pytest.approx(1 - dated["main_length"])
    assert dated["accepted_share"] == 0.0
    assert dated["change"] == "lower"
    assert found["dated", "boundary", "prose"]["change"] == "lower"
    assert found["by-user", "all", "all"]["changes"] == "system_as_user, tools_reversed"
    assert found["by-user", "all", "all"]["change"] != "lower"
    (sums,) = rows(
        outcome,
        "select 1 + sum(accepted) / count(*) as length from steps join (select distinct "
        "session from captures where arm = 'dated') using (session) "
        "where arm = 'main' and path = 'candidate' and first_token is not null",
    )
    assert dated["main_length"] == pytest.approx(sums["length"])


def test_a_named_question_and_the_report_show_it(outcome: GateOutcome) -> None:
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        rows = answer(store, "template_shift").rows.to_pylist()
    assert [(row["arm"], row["slice"]) for row in rows[:1]] == [("by-user", "all")]
    assert ("dated", "all", "lower") in {(r["arm"], r["slice"], r["change"]) for r in rows}
    assert outcome.report is not None
    assert "With other prompts" in outcome.report.read_text()


def test_the_candidate_alone_replays_the_other_prompts(outcome: GateOutcome) -> None:
    folder = RunFolder(outcome.folder)
    assert not folder.journal("baseline", "dated").exists()
    requests = [c.request for c in JournalReader(folder.journal("candidate", "dated"))]
    assert len(requests) == 48
    assert all(r["messages"][0]["content"].startswith(DATE_LINE) for r in requests)
    main = [c.request for c in JournalReader(folder.journal("candidate", "main"))]
    assert not any(DATE_LINE in str(r["messages"]) for r in main)
    found = {row["arm"]: row for row in rows(outcome, "from arms")}
    assert found["dated"]["perturb"] == ["date_line"]
    assert (found["dated"]["turns"], found["dated"]["repeated"]) == (48, False)
    assert found["main"]["perturb"] == []
    pairs = rows(outcome, "select distinct comparison from pairs order by 1")
    assert [row["comparison"] for row in pairs] == ["aa", "candidate"]


def test_the_speed_of_other_prompts_is_no_point_of_the_curve(outcome: GateOutcome) -> None:
    assert rows(outcome, "from v_speedup_by_concurrency") == []


def test_journals_with_other_prompts_are_judged_offline(
    outcome: GateOutcome, tmp_path: Path
) -> None:
    """Only the configuration tells that an arm's prompts were changed."""
    folder = RunFolder(outcome.folder)
    files = [folder.journal(path, "main") for path in ("candidate", "baseline")]
    file = tmp_path / "draftgate.toml"
    file.write_text(
        '[baseline]\nurls = ["http://a"]\n[candidate]\nurls = ["http://b"]\n'
        '[run]\ntool_parser = "hermes"\n'
        '[[arms]]\nname = "dated"\nperturb = ["date_line"]\n'
    )
    for config in (None, file):
        assert judge_journals(files, config).codes == {}


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        ({"name": "a", "perturb": ["dateline"]}, "there is no change 'dateline'; known: date_line"),
        ({"name": "a", "perturb": ["persona"], "small_kv": True}, "make two arms"),
    ],
)
def test_an_arm_that_cannot_be(arm: dict[str, Any], message: str) -> None:
    paths = {"baseline": {"urls": ["http://a"]}, "candidate": {"urls": ["http://b"]}}
    with pytest.raises(ConfigError, match=message):
        parse_config({**paths, "arms": [arm]}, "test")


def test_the_ready_made_ones_change_one_thing_each() -> None:
    from draftgate.run.arms import further_arms

    paths = {"baseline": {"urls": ["http://a"]}, "candidate": {"urls": ["http://b"]}}
    config: Config = parse_config({**paths, "run": {"arms": "all"}}, "test")
    changed = {arm.name: arm.perturb for arm in further_arms(config) if arm.perturb}
    assert changed == {"date-line": ("date_line",), "system-as-user": ("system_as_user",)}
