"""Lockstep scores what teacher forcing scores, in fewer prefills where the paths agree."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.scoring.scorer import ScorerPlan, score_all
from replay.scoring.scorer_plan import Method
from tests.support.scripted.server import Answer, Script, ScriptedServer, Seen, scripted, sse
from tests.support.scripted.toy_model import END, VOCABULARY, answer, greedy, logprobs
from traces.journal.score import Score, ScoreRequest

PROMPT = (3, 1, 4, 1, 5)


def score(
    script: Script, request: ScoreRequest, method: Method, file: Path
) -> tuple[Score, ScriptedServer]:
    async def run() -> tuple[Score, ScriptedServer]:
        async with scripted(script) as server:
            plan = ScorerPlan(server.url, "m", method=method, timeout_s=5)
            return (await score_all(plan, [request], file))[request.digest], server

    return asyncio.run(run())


def both(request: ScoreRequest, tmp_path: Path) -> tuple[Score, Score, int]:
    """Teacher forcing's score, lockstep's, and how many requests lockstep sent."""
    forced, _ = score(answer, request, "teacher-forcing", tmp_path / "f.zst")
    walked, server = score(answer, request, "lockstep", tmp_path / "l.zst")
    return forced, walked, len(server.seen)


def assert_same(forced: Score, walked: Score) -> None:
    assert (forced.outcome, walked.outcome) == ("scored", "scored")
    assert (forced.shape, walked.shape) == ("prefill", "decode")
    assert walked.logprobs == pytest.approx(forced.logprobs, abs=1e-12)
    assert walked.top_logprobs == pytest.approx(forced.top_logprobs, abs=1e-12)
    assert walked.top_ids == forced.top_ids


def test_an_equal_continuation_takes_one_request(tmp_path: Path) -> None:
    forced, walked, requests = both(ScoreRequest(PROMPT, tuple(greedy(PROMPT, 12))), tmp_path)
    assert_same(forced, walked)
    assert requests == 1
    assert set(walked.regrets) == {0.0}


def test_a_fork_among_the_top_tokens_takes_one_request_more(tmp_path: Path) -> None:
    start = greedy(PROMPT, 4)
    second = logprob_order([*PROMPT, *start])[1]
    rest = greedy([*PROMPT, *start, second], 5)
    forced, walked, requests = both(ScoreRequest(PROMPT, (*start, second, *rest)), tmp_path)
    assert_same(forced, walked)
    assert requests == 2
    assert [regret > 0 for regret in walked.regrets].index(True) == 4


def test_a_fork_to_an_unlikely_token_is_looked_up_by_its_id(tmp_path: Path) -> None:
    start = greedy(PROMPT, 4)
    last = logprob_order([*PROMPT, *start])[-1]
    forced, walked, requests = both(ScoreRequest(PROMPT, (*start, last)), tmp_path)
    assert_same(forced, walked)
    assert requests == 2


@pytest.mark.parametrize("end", [b"\r\n", b"\r", b"\n"])
def test_any_event_stream_is_read(tmp_path: Path, end: bytes) -> None:
    """Comments between the events, any line ends, and reads that end anywhere."""

    def otherwise(seen: Seen) -> Answer:
        whole = b"".join(b": keep-alive\n\n" + write for write in answer(seen).writes)
        whole = whole.replace(b"\n", end)
        return Answer(writes=[whole[at : at + 37] for at in range(0, len(whole), 37)])

    request = ScoreRequest(PROMPT, tuple(greedy(PROMPT, 6)))
    forced, _ = score(answer, request, "teacher-forcing", tmp_path / "f.zst")
    walked, _ = score(otherwise, request, "lockstep", tmp_path / "l.zst")
    assert_same(forced, walked)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=8))
def test_both_scorers_agree_on_any_continuation(
    tmp_path_factory: pytest.TempPathFactory, tokens: list[int]
) -> None:
    request = ScoreRequest(PROMPT, tuple(tokens))
    forced, walked, _ = both(request, tmp_path_factory.mktemp("scores"))
    assert_same(forced, walked)


def test_the_end_token_is_a_token_like_any_other(tmp_path: Path) -> None:
    forced, walked, _ = both(ScoreRequest(PROMPT, (*greedy(PROMPT, 2), END)), tmp_path)
    assert_same(forced, walked)


@pytest.mark.parametrize(
    ("broken", "outcome"),
    [
        (Answer(drop="before"), "no_answer"),
        (Answer(writes=[b"data: {"], drop="after", gap_s=0.02), "no_answer"),
        (Answer(hang_s=30), "no_answer"),
        (Answer(status=400, writes=[b"maximum context length is 5"]), "too_long"),
        (Answer(status=404, writes=[b"no such route"]), "refused"),
        (Answer(writes=sse({"choices": [{"text": "x"}]})), "refused"),
        (Answer(writes=sse({"error": {"message": "engine died"}})), "refused"),
        (
            Answer(
                writes=sse(
                    {
                        "choices": [
                            {
                                "token_ids": [1],
                                "logprobs": {"top_logprobs": [{"token_id:1": None}]},
                            }
                        ]
                    }
                )
            ),
            "non_finite",
        ),
        (Answer(writes=[b"data: [DONE]\n\n"]), "refused"),
        (Answer(writes=[b'data: {"choices": []}\n\ndata: {"cho']), "refused"),
    ],
)
def test_what_is_no_score_says_why(tmp_path: Path, broken: Answer, outcome: str) -> None:
    request = ScoreRequest(PROMPT, (1, 2, 3))
    found, _ = score(lambda seen: broken, request, "lockstep", tmp_path / "l.zst")
    assert found.outcome == outcome
    assert found.error
    assert found.logprobs == ()


def test_scores_of_the_two_methods_are_never_taken_for_each_other(tmp_path: Path) -> None:
    request = ScoreRequest(PROMPT, tuple(greedy(PROMPT, 3)))
    file = tmp_path / "one.zst"
    assert score(answer, request, "teacher-forcing", file)[0].shape == "prefill"
    found, server = score(answer, request, "lockstep", file)
    assert found.shape == "decode"
    assert len(server.seen) == 1
    again, server = score(answer, request, "lockstep", file)
    assert again == found
    assert server.seen == []


def logprob_order(prefix: list[int]) -> list[int]:
    """Token ids, most likely first."""
    scores = logprobs(prefix)
    return sorted(range(VOCABULARY), key=lambda v: -scores[v])
