"""Which pairs of servers are the two paths of a run, and what the others are called."""

from dataclasses import replace

import pytest

from checks.servers.drafting_state import (
    Kind,
    State,
    drafting_state,
    idle_notes,
    judge_states,
    same_server,
)
from checks.servers.unseen import judge_shown, unseen
from traces.journal.observables import Observables
from traces.journal.path_facts import PathFacts

SHOWN = Observables(
    token_ids=True,
    alternatives=5,
    prompt_token_ids=True,
    usage=True,
    cached_tokens=True,
    speculation=True,
    fingerprint=True,
    prompt_logprobs=True,
    drafted=0,
    processed_logprobs=True,
)
PLAIN = PathFacts(
    path="baseline",
    url="http://b",
    speculation_metrics=False,
    started_at=100.0,
    counting_since=105.123456,
    observables=replace(SHOWN, speculation=False, drafted=None),
)
DRAFTS = PathFacts(
    path="candidate",
    url="http://c",
    speculation_metrics=True,
    drafts_counted=9.0,
    started_at=200.0,
    counting_since=205.123456,
    observables=replace(SHOWN, drafted=5),
)
IDLE = replace(DRAFTS, drafts_counted=0.0, observables=SHOWN)
UNSEEN = PathFacts("candidate", "http://c", observables=PLAIN.observables)
LAUNCHED = ("python", "-m", "vllm", "--model", "m")


def as_path(facts: PathFacts, path: str) -> PathFacts:
    return replace(facts, path=path, url=f"http://{path[0]}")


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (DRAFTS, "drafts"),
        (replace(DRAFTS, observables=None), "drafts"),  # the counters say so
        (replace(DRAFTS, speculation_metrics=None, drafts_counted=None), "drafts"),  # the answer
        (IDLE, "idle"),
        (replace(IDLE, speculation_metrics=None, drafts_counted=None), "idle"),  # metrics of none
        (replace(UNSEEN, command=(*LAUNCHED, "--speculative_config={}")), "idle"),
        (replace(UNSEEN, command=LAUNCHED), "none"),
        (PLAIN, "none"),
        (UNSEEN, "unseen"),
        (PathFacts("candidate", "http://c"), "unseen"),
    ],
)
def test_what_a_server_shows_of_its_drafter(facts: PathFacts, state: State) -> None:
    assert drafting_state(facts) == state


@pytest.mark.parametrize("candidate", [DRAFTS, IDLE, UNSEEN])
@pytest.mark.parametrize("baseline", [PLAIN, as_path(UNSEEN, "baseline")])
def test_a_plain_baseline_and_a_drafting_candidate_are_two_paths(
    baseline: PathFacts, candidate: PathFacts
) -> None:
    assert judge_states({"baseline": [baseline], "candidate": [candidate]}, "gate") is None


def words(baseline: PathFacts | None, candidate: PathFacts | None, kind: Kind = "gate") -> str:
    servers = {
        "baseline": [baseline] if baseline else [],
        "candidate": [candidate] if candidate else [],
    }
    mismatch = judge_states(servers, kind)
    if mismatch is None:
        return ""
    assert mismatch.fix
    return mismatch.message


@pytest.mark.parametrize("idle", [False, True])
def test_swapped_paths_two_candidates_and_two_baselines_say_so(idle: bool) -> None:
    drafts = IDLE if idle else DRAFTS
    baseline = as_path(drafts, "baseline")
    other = replace(baseline, started_at=300.0)
    assert words(baseline, as_path(PLAIN, "candidate")).startswith(
        "the baseline drafts and the candidate does not: are the paths swapped?"
    )
    assert words(other, drafts).startswith("both paths draft: these are two candidates")
    second = replace(as_path(PLAIN, "candidate"), started_at=300.0)
    assert words(PLAIN, second).startswith("neither path has a drafter: these are two baselines")


def test_one_path_is_reason_enough() -> None:
    """Of paths that are launched one after the other, the first is judged alone."""
    assert words(as_path(DRAFTS, "baseline"), None).startswith("the baseline drafts: are the paths")
    assert words(as_path(DRAFTS, "baseline"), UNSEEN).startswith("the baseline drafts: are the")
    assert words(None, as_path(PLAIN, "candidate")).startswith("the candidate has no drafter")
    assert words(None, DRAFTS) == words(PLAIN, None) == ""


def test_what_shows_it_is_said() -> None:
    assert "baseline http://b: its counters show 9 drafts" in words(
        as_path(DRAFTS, "baseline"), None
    )
    only_answers = replace(as_path(DRAFTS, "baseline"), drafts_counted=None)
    assert "its answers show 5 drafts" in words(only_answers, None)
    assert "a drafter is configured" in words(as_path(IDLE, "baseline"), None)
    assert "no counters of speculation" in words(None, as_path(PLAIN, "candidate"))
    launched = replace(UNSEEN, command=LAUNCHED)
    assert "started without --speculative-config" in words(None, launched)


def test_one_server_under_two_names_is_one_server() -> None:
    for facts in (DRAFTS, PLAIN):
        pair = as_path(facts, "baseline"), as_path(facts, "candidate")
        assert same_server(*pair)
        assert words(*pair).startswith("both URLs are one server (http://b)")


def test_servers_that_start_in_the_same_instant_are_not_one() -> None:
    """A clock of a hundredth of a second cannot tell them apart, their counters' can."""
    one, other = as_path(DRAFTS, "baseline"), replace(DRAFTS, counting_since=205.123457)
    assert not same_server(one, replace(other, started_at=one.started_at))
    assert not same_server(replace(one, started_at=None), replace(DRAFTS, started_at=None))
    twins = replace(PLAIN, started_at=DRAFTS.started_at, counting_since=None)
    assert words(twins, replace(DRAFTS, counting_since=None)) == ""


def test_any_server_of_a_path_counts() -> None:
    servers = {"baseline": [PLAIN, as_path(DRAFTS, "baseline")], "candidate": [DRAFTS]}
    mismatch = judge_states(servers, "gate")
    assert mismatch is not None
    assert mismatch.message.startswith("both URLs are one server")
    servers = {"baseline": [PLAIN], "candidate": [DRAFTS, as_path(PLAIN, "candidate")]}
    mismatch = judge_states(servers, "gate")
    assert mismatch is not None


def test_equal_paths_are_what_an_aa_run_compares() -> None:
    for facts in (PLAIN, DRAFTS, IDLE, UNSEEN):
        assert words(as_path(facts, "baseline"), as_path(facts, "candidate"), "aa") == ""
    assert "only one of these drafts" in words(PLAIN, DRAFTS, "aa")
    assert "only one of these drafts" in words(as_path(IDLE, "baseline"), PLAIN, "aa")


def test_a_drafter_that_has_done_nothing_yet_is_a_note() -> None:
    assert idle_notes({"baseline": [PLAIN], "candidate": [DRAFTS]}, "gate") == []
    (note,) = idle_notes({"baseline": [PLAIN], "candidate": [IDLE]}, "gate")
    assert note.startswith("candidate http://c: a drafter is configured, and drafted nothing")
    assert idle_notes({"baseline": [IDLE], "candidate": [IDLE]}, "aa") == []


def test_servers_that_show_everything_stop_nothing() -> None:
    assert judge_shown({"baseline": [PLAIN], "candidate": [DRAFTS]}) is None
    lockstep = replace(PLAIN, observables=replace(SHOWN, speculation=False, prompt_logprobs=False))
    assert judge_shown({"baseline": [lockstep], "candidate": [DRAFTS]}) is None


def test_raw_logprobs_stop_nothing_since_sampled_turns_want_them() -> None:
    raw = replace(PLAIN, observables=replace(SHOWN, speculation=False, processed_logprobs=False))
    assert judge_shown({"baseline": [raw], "candidate": [DRAFTS]}) is None
    assert any(line.startswith("processed logprobs: ") for line in unseen(raw))


def test_all_that_is_missing_is_one_message_with_the_flags() -> None:
    baseline = replace(PLAIN, observables=replace(SHOWN, cached_tokens=False))
    lacking = replace(SHOWN, cached_tokens=False, speculation=False)
    missing = judge_shown(
        {"baseline": [baseline], "candidate": [replace(DRAFTS, observables=lacking)]}
    )
    assert missing is not None
    assert missing.message == (
        "baseline http://b does not show cached tokens (no prefix-cache check); "
        "candidate http://c does not show cached tokens (no prefix-cache check); "
        "candidate http://c does not show per-step speculation metrics (no acceptance by boundary)"
    )
    assert missing.fix == (
        "start the baseline with --enable-prompt-tokens-details; "
        "start the candidate with --enable-prompt-tokens-details "
        "--per-request-spec-decode-metrics=detailed; "
        "or go on without them: --allow-missing (`run.allow_missing`)"
    )


def test_a_baseline_that_shows_nothing_of_a_drafter_is_not_taken_on_trust() -> None:
    missing = judge_shown({"baseline": [as_path(UNSEEN, "baseline")]})
    assert missing is not None
    assert "counters on /metrics (whether it drafts is not known)" in missing.message
