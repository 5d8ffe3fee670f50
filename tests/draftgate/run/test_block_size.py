"""The KV block size of a server that does not say is read off its cached lengths."""

import pytest

from checks.run.setup import seen_block_size
from traces.journal.exchange import Evidence, Exchange
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
    assert seen_block_size(Evidence({("baseline", "main"): found})) == size
