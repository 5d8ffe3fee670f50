"""Multi-token prediction: the draft layer lies in the target's own checkpoint.

`mtp_run/` holds six turns of three sessions of a gate (`python -m evidence.live.mtp`, vLLM 0.32).
"""

import json
from pathlib import Path

import pytest

from checks.acceptance.counters import judge_speculation
from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.align import align
from checks.acceptance.steps import Steps
from draftgate.config.config import Config
from draftgate.config.file import parse_config
from draftgate.run.folder import add_journal
from draftgate.run.offline import judge_journals
from draftgate.run.paths import server_spec
from replay.launch.command import server_command
from replay.launch.drafter import DrafterConfigs, read_drafter
from traces.journal.exchange import Evidence, Exchange

RUN = Path(__file__).parent / "mtp_run"
JOURNALS = [RUN / f"{path}-main-0.jsonl.zst" for path in ("candidate", "baseline")]
MTP = {"method": "mtp", "num_speculative_tokens": 1}


@pytest.fixture(scope="module")
def config() -> Config:
    run = {"run": {"tool_parser": "hermes"}, "server": {"model": "mimo"}}
    return parse_config({**run, "candidate": {"speculative_config": MTP}}, "test")


@pytest.fixture(scope="module")
def candidate() -> list[Exchange]:
    evidence = Evidence()
    for journal in JOURNALS:
        add_journal(evidence, journal)
    return list(evidence.of("candidate").values())


def test_the_server_is_configured_and_no_draft_model_is_looked_for(config: Config) -> None:
    spec = server_spec(config, "candidate")
    command = server_command(spec, port=1)
    assert json.loads(command[command.index("--speculative-config") + 1]) == MTP
    assert read_drafter(spec) == DrafterConfigs()


def test_every_token_has_its_step(config: Config, candidate: list[Exchange]) -> None:
    drafting = Drafting.from_config(config.candidate.speculative_config)
    assert drafting.every_step
    drafted = accepted = 0
    for exchange in candidate:
        response = exchange.response
        steps = align(response, drafting)
        assert isinstance(steps, Steps), steps
        assert response.usage is not None
        assert steps.committed.sum() == response.usage.completion
        assert set(steps.drafted[1:].tolist()) == {1}  # all but the prefill
        assert not list(judge_speculation(response.speculation))
        drafted += int(steps.drafted.sum())
        accepted += int(steps.accepted.sum())
    assert len(candidate) == 6
    assert 0 < accepted < drafted


def test_the_journals_alone_show_nothing_wrong(candidate: list[Exchange], tmp_path: Path) -> None:
    file = tmp_path / "draftgate.toml"
    file.write_text(
        '[run]\ntool_parser = "hermes"\n[baseline]\nurls = ["http://a"]\n'
        '[candidate]\nurls = ["http://b"]\n'
        'speculative_config = { method = "mtp", num_speculative_tokens = 1 }\n'
    )
    outcome = judge_journals(JOURNALS, file)
    assert outcome.codes == {}
    assert outcome.verdict.verdict == "inconclusive"  # six turns certify nothing
    assert outcome.counts["turns_equal"] == len(candidate)
    assert outcome.counts["unaligned_turns"] == 0
