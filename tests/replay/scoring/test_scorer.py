"""Scores are read as vLLM writes them, kept, and never invented."""

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from replay.facts.sampler import read_samples
from replay.launch.port import free_port
from replay.scoring.score_answer import EntryScanner
from replay.scoring.score_file import read_scores
from replay.scoring.scorer import ScorerPlan, score_all
from tests.support.scripted.server import Answer, Script, ScriptedServer, Seen, scripted
from traces.errors import InputError, ServerError
from traces.journal.score import Score, ScoreRequest

REQUEST = ScoreRequest(prompt=(5, 6, 7), continuation=(8, 9))


def entry(*pairs: tuple[int, float]) -> dict[str, Any]:
    """One position: (id, logprob) pairs, the token that stands there first."""
    return {
        str(token): {"logprob": logprob, "rank": rank, "decoded_token": "}},"}
        for rank, (token, logprob) in enumerate(pairs, 1)
    }


def completion(entries: list[Any] | None) -> Answer:
    body = {"choices": [{"index": 0, "text": "x", "prompt_logprobs": entries}], "usage": {}}
    return Answer(writes=[json.dumps(body).encode()], content_type="application/json")


GOOD = completion(
    [None, entry((6, -9.0)), entry((7, -9.0)), entry((8, -0.25)), entry((9, -3.5), (4, -0.5))]
)


def refusal(message: str, status: int = 400) -> Answer:
    body = {"error": {"message": message, "type": "BadRequestError", "code": status}}
    return Answer(writes=[json.dumps(body).encode()], status=status)


def score(
    file: Path, script: Script, *requests: ScoreRequest, timeout_s: float = 10.0
) -> tuple[dict[str, Score], ScriptedServer]:
    async def run() -> tuple[dict[str, Score], ScriptedServer]:
        async with scripted(script) as server:
            plan = ScorerPlan(server.url, "m", timeout_s=timeout_s)
            return await score_all(plan, requests, file), server

    return asyncio.run(run())


def test_each_continuation_token_gets_its_own_and_the_best_logprob(tmp_path: Path) -> None:
    scores, server = score(tmp_path / "s.zst", lambda seen: GOOD, REQUEST)
    assert scores == {
        REQUEST.digest: Score("scored", (-0.25, -3.5), (-0.25, -0.5), (8, 4)),
    }
    assert scores[REQUEST.digest].regrets == (0.0, 3.0)
    sent = server.seen[0]
    assert sent.route == "/v1/completions"
    assert sent.body["prompt"] == [5, 6, 7, 8, 9]
    assert (sent.body["prompt_logprobs"], sent.body["max_tokens"]) == (1, 1)
    assert (sent.body["temperature"], sent.body["stream"]) == (0.0, False)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (refusal("Out of range float values are not JSON compliant: nan"), "non_finite"),
        (refusal("Out of range float values are not JSON compliant", 500), "non_finite"),
        (refusal("This model's maximum context length is 4 tokens."), "too_long"),
        (refusal("something else"), "refused"),
        (completion(None), "unsupported"),
        (completion([None, entry((6, -1.0))]), "unsupported"),
        (completion([None, *[entry((1, -1.0))] * 4]), "unsupported"),
        (Answer(writes=[b"[]"]), "unsupported"),
        (Answer(writes=[b"<html>"]), "unsupported"),
        (Answer(drop="before"), "no_answer"),
        (Answer(writes=[b'{"choices"'], drop="after", gap_s=0.02), "no_answer"),
        (Answer(hang_s=30), "no_answer"),
    ],
)
def test_what_is_no_score_says_why_and_holds_no_numbers(
    tmp_path: Path, answer: Answer, outcome: str
) -> None:
    scores, _ = score(tmp_path / "s.zst", lambda seen: answer, REQUEST, timeout_s=3)
    (found,) = scores.values()
    assert found.outcome == outcome
    assert found.error
    assert found.logprobs == found.top_logprobs == found.top_ids == ()


def test_scores_are_kept_and_only_missing_answers_are_asked_for_again(tmp_path: Path) -> None:
    file = tmp_path / "s.zst"
    other = ScoreRequest((5, 6, 7), (8, 10))

    def script(seen: Seen) -> Answer:
        return GOOD if seen.body["prompt"][-1] == 9 else Answer(drop="before")

    first, _ = score(file, script, REQUEST, other)
    assert first[other.digest].outcome == "no_answer"
    second, server = score(file, script, REQUEST, other)
    assert [seen.body["prompt"][-1] for seen in server.seen] == [10]
    assert second[REQUEST.digest] == first[REQUEST.digest]


def test_equal_requests_are_sent_once_and_an_empty_one_not_at_all(tmp_path: Path) -> None:
    empty = ScoreRequest((5,), ())
    scores, server = score(tmp_path / "s.zst", lambda seen: GOOD, REQUEST, REQUEST, empty)
    assert len(server.seen) == 1
    assert scores[empty.digest] == Score("scored")


def test_the_digest_tells_where_the_prompt_ends() -> None:
    assert ScoreRequest((1, 2), (3,)).digest != ScoreRequest((1,), (2, 3)).digest
    assert ScoreRequest((1, 23), (4,)).digest != ScoreRequest((12, 3), (4,)).digest


def test_a_dead_server_ends_the_scoring_and_keeps_what_is_scored(tmp_path: Path) -> None:
    def dead() -> None:
        raise ServerError("path baseline: the server ended")

    async def run() -> None:
        plan = ScorerPlan(f"http://127.0.0.1:{free_port()}", "m")
        await score_all(plan, [REQUEST], tmp_path / "s.zst", check_alive=dead)

    with pytest.raises(ServerError, match="the server ended"):
        asyncio.run(run())


TOKENS = st.text(alphabet='{}",:[]\\0a\n€', max_size=6)


@given(st.lists(TOKENS, min_size=1, max_size=6), st.lists(st.integers(1, 40)), st.booleans())
def test_entries_are_found_however_the_body_is_cut(
    texts: list[str], cuts: list[int], spaced: bool
) -> None:
    entries = [
        {
            "17": {"logprob": -0.5, "rank": 1, "decoded_token": text},
            "3": {"decoded_token": '{"5": {"x": 1}}', "logprob": -1e-07, "rank": None},
        }
        for text in texts
    ]
    body = {"choices": [{"text": '{"9": {"a": 1}}', "prompt_logprobs": [None, *entries]}]}
    data = json.dumps(body, indent=1 if spaced else None).encode()
    scanner = EntryScanner(keep=2)
    for cut in cuts:
        scanner.feed(data[:cut])
        data = data[cut:]
    scanner.feed(data)
    assert scanner.count == len(entries)
    assert [json.loads(entry) for entry in scanner.last] == entries[-2:]


def test_wide_lists_are_kept_whole_and_apart_from_narrow_ones(tmp_path: Path) -> None:
    file = tmp_path / "s.zst"

    async def run(width: int) -> tuple[Score, ScriptedServer]:
        async with scripted(lambda seen: GOOD) as server:
            plan = ScorerPlan(server.url, "m", width=width)
            return (await score_all(plan, [REQUEST], file))[REQUEST.digest], server

    narrow, _ = asyncio.run(run(1))
    assert narrow.listed == ()
    wide, server = asyncio.run(run(20))
    assert server.seen[0].body["prompt_logprobs"] == 20
    assert wide.listed == ({8: -0.25}, {9: -3.5, 4: -0.5})
    again, server = asyncio.run(run(20))
    assert (again, server.seen) == (wide, [])


def test_a_score_of_nan_is_non_finite_and_no_number(tmp_path: Path) -> None:
    body = b'{"choices":[{"prompt_logprobs":[null,' + b'{"6":{"logprob":NaN}},' * 4
    answer = Answer(writes=[body[:-1] + b"]}]}"])
    scores, _ = score(tmp_path / "s.zst", lambda seen: answer, REQUEST)
    assert scores[REQUEST.digest].outcome == "non_finite"


def test_regret_is_the_gap_to_the_best_token_and_never_negative() -> None:
    found = Score("scored", (-1.0, -2.0), (-0.5, -2.0000001), (1, 2))
    assert math.isclose(found.regrets[0], 0.5)
    assert found.regrets[1] == 0.0


RECORD: dict[str, Any] = {
    "digest": "9f",
    "outcome": "scored",
    "shape": "prefill",
    "width": 1,
    "logprobs": [-0.5, -1.0],
    "top_logprobs": [-0.5, -0.25],
    "top_ids": [8, 4],
    "error": None,
    "listed": [],
}


def score_file(file: Path, *records: Any) -> list[int]:
    """Where each record begins (bytes)."""
    frames = [zstandard.compress(json.dumps(record).encode() + b"\n") for record in records]
    file.write_bytes(b"".join(frames))
    return [sum(map(len, frames[:place])) for place in range(len(frames))]


def test_a_score_on_file_is_read_back(tmp_path: Path) -> None:
    score_file(tmp_path / "s.zst", RECORD)
    assert read_scores(tmp_path / "s.zst") == {
        "9f": Score("scored", (-0.5, -1.0), (-0.5, -0.25), (8, 4))
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"logprobs": 5},
        {"logprobs": [None, None]},
        {"logprobs": [-0.5]},
        {"top_logprobs": ["x", 1]},
        {"top_ids": [1.5, 2]},
        {"digest": 7},
        {"outcome": "good"},
        {"shape": "round"},
        {"width": "1"},
        {"listed": [[[1]]]},
        {"error": 5},
    ],
    ids=repr,
)
def test_a_score_of_another_type_is_named_with_file_and_byte(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    file = tmp_path / "s.zst"
    _, second = score_file(file, RECORD, RECORD | wrong)
    with pytest.raises(InputError, match=f"{file}, byte {second}: not a score") as caught:
        read_scores(file)
    assert "asks the baseline again" in caught.value.fix


@pytest.mark.parametrize("record", [[1, 2], 5, None, {}])
def test_a_line_that_is_no_score_is_named(tmp_path: Path, record: Any) -> None:
    score_file(tmp_path / "s.zst", record)
    with pytest.raises(InputError, match="byte 0: not a score"):
        read_scores(tmp_path / "s.zst")


def test_a_score_file_of_garbage_is_said(tmp_path: Path) -> None:
    (tmp_path / "s.zst").write_bytes(b"garbage" * 1000)
    with pytest.raises(InputError, match="byte 0: this is no zstd frame"):
        read_scores(tmp_path / "s.zst")


def test_a_reading_of_the_metrics_of_another_type_is_named(tmp_path: Path) -> None:
    file = tmp_path / "candidate-main-samples.zst"
    reading = {"path": "candidate", "arm": "main", "url": "u", "at": 1.0}
    score_file(file, reading, reading | {"running": "many"})
    with pytest.raises(InputError, match="not a reading of the server's metrics"):
        read_samples(file)
