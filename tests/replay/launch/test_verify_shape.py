"""The server in verify shape drafts as the candidate's does and accepts nothing."""

import json

import pytest

from replay.launch.command import ServerSpec, server_command
from replay.launch.verify_shape import in_verify_shape
from traces.errors import ConfigError

EAGLE = {"method": "eagle3", "model": "d", "num_speculative_tokens": 3}


def test_every_draft_is_rejected_and_nothing_else_changes() -> None:
    spec = ServerSpec("candidate", "m", flags=("--dtype", "bfloat16"), speculative_config=EAGLE)
    in_shape, plain = server_command(in_verify_shape(spec), 8000), server_command(spec, 8000)
    place = in_shape.index("--speculative-config") + 1
    assert json.loads(in_shape[place]) == {
        **EAGLE,
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_rates": [0.0, 0.0, 0.0],
    }
    assert in_shape[:place] + in_shape[place + 1 :] == plain[:place] + plain[place + 1 :]
    assert spec.speculative_config == EAGLE


def test_without_a_number_of_drafts_it_says_what_to_set() -> None:
    spec = ServerSpec("candidate", "m", speculative_config={"method": "mtp"})
    with pytest.raises(ConfigError, match="number of draft tokens") as caught:
        in_verify_shape(spec)
    assert "num_speculative_tokens" in caught.value.fix
