"""Real vLLM servers, exchanged or taken for each other: what they show of themselves is enough."""

from pathlib import Path
from typing import Any

import pytest

from checks.servers.drafting_state import drafting_state, same_server
from checks.servers.unseen import judge_shown
from draftgate.config.config import Config
from draftgate.config.file import read_config
from draftgate.preflight.servers import ask_attached
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from traces.errors import InvalidRun

pytest.importorskip("vllm", reason="vLLM is not installed")
pytestmark = [pytest.mark.vllm, pytest.mark.slow]

Urls = dict[str, str]


@pytest.fixture(autouse=True)
def _from_the_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)


def attached(root: Path, folder: Path, baseline: str, candidate: str, **run: Any) -> Config:
    overrides = {
        "baseline": {"urls": [baseline]},
        "candidate": {"urls": [candidate]},
        "run": {"output": str(folder), "db": str(folder / "store.duckdb"), "max_turns": 2, **run},
    }
    return read_config(root / "gate.toml", overrides)


def test_each_server_shows_what_it_is(root: Path, tmp_path: Path, vllm_urls: Urls) -> None:
    servers = ask_attached(attached(root, tmp_path, **vllm_urls))
    (baseline,), (candidate,) = servers["baseline"], servers["candidate"]
    assert (drafting_state(baseline), drafting_state(candidate)) == ("none", "drafts")
    assert candidate.drafts_counted
    for facts in (baseline, candidate):
        assert None not in (facts.started_at, facts.counting_since)
        assert facts.observables is not None
        assert facts.observables.processed_logprobs is True
    assert not same_server(baseline, candidate)
    assert judge_shown(servers) is None


@pytest.mark.parametrize(
    ("baseline", "candidate", "words"),
    [
        ("candidate", "baseline", "the baseline drafts and the candidate does not: are the paths"),
        ("candidate", "candidate", "both URLs are one server"),
        ("baseline", "baseline", "both URLs are one server"),
    ],
    ids=["swapped", "the candidate twice", "the baseline twice"],
)
def test_paths_that_are_none_are_invalid_at_once(
    root: Path, tmp_path: Path, vllm_urls: Urls, baseline: str, candidate: str, words: str
) -> None:
    """One server is named in two ways, so that only its process tells."""
    other = vllm_urls[candidate].replace("127.0.0.1", "localhost")
    with pytest.raises(InvalidRun, match=words):
        run_gate(attached(root, tmp_path, vllm_urls[baseline], other), SilentReporter())
    assert not (tmp_path / "runs").exists()
