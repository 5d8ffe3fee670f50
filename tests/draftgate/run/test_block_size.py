"""The KV block size of a server that does not say is read off its cached lengths."""

import pytest

from checks.acceptance.drafting import Drafting
from checks.policy import Policy
from checks.run.floor import RunMeasures, measure_session, run_floor
from checks.run.read import read_session
from checks.sessions.evidence import Answers, RunFacts, ServerFacts, sessions_of
from traces.journal.exchange import Evidence, Exchange
from traces.journal.served_parsers import ServedParsers
from traces.wire.capture import CaptureKey
from traces.wire.reassembly import response_of_chunks


def exchange(turn: str, cached: int | None) -> Exchange:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    usage = {"prompt_tokens": 900, "completion_tokens": 1, **details}
    response = response_of_chunks([{"choices": [], "usage": usage}], done=True)
    key = CaptureKey("r", "baseline", "main", "s", turn)
    return Exchange(key, {}, response, 0.0, "done", 1.0, 1, None)


@pytest.mark.parametrize(
    ("cached", "size"),
    [
        ([128, 384, 0, 256], 128),
        ([16, 48, 160], 16),
        ([0, 0], None),
        ([None], None),
        ([], None),
    ],
)
def test_it_is_what_divides_every_cached_length(cached: list[int | None], size: int | None) -> None:
    found = {("s", f"t{i}"): exchange(f"t{i}", n) for i, n in enumerate(cached)}
    evidence = Evidence({("baseline", "main"): found})
    assert block_size(evidence, None) == size
    assert block_size(evidence, 32) == 32


def block_size(evidence: Evidence, said: int | None) -> int | None:
    facts = RunFacts(
        run="r",
        policy=Policy(),
        seed=0,
        concurrency=1,
        servers={},
        server=ServerFacts(block_size=said),
        drafting=Drafting(),
        served={"candidate": ServedParsers()},
    )
    read = [read_session(one, facts) for one in sessions_of(evidence, Answers(), facts)]
    measures = RunMeasures({one.session: measure_session(one, facts) for one in read})
    return run_floor(measures, facts).known.server.block_size
