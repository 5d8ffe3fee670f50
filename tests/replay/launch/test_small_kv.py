"""The small-KV arm gives both paths the same small cache."""

import pytest

from replay.launch.command import ServerSpec
from replay.launch.small_kv import with_small_kv
from traces.errors import ConfigError
from traces.journal.vllm_flags import parse_flags

SPEC = ServerSpec(
    "candidate", "m", flags=("--max-model-len", "16384", "--dtype", "float32", "--enforce-eager")
)


@pytest.mark.parametrize(
    ("longest", "block", "blocks"), [(4096, 128, "35"), (4097, 128, "36"), (100, 16, "10")]
)
def test_room_for_the_longest_turn_and_three_blocks_more(
    longest: int, block: int, blocks: str
) -> None:
    flags = parse_flags(with_small_kv(SPEC, longest, block).flags)
    assert flags == {
        "--dtype": ("float32",),
        "--enforce-eager": (),
        "--max-model-len": (str(longest),),
        "--num-gpu-blocks-override": (blocks,),
    }


@pytest.mark.parametrize("flags", [("--max_model_len=99",), ("--max-model-len", "99"), ()])
def test_any_way_of_giving_the_context_is_replaced(flags: tuple[str, ...]) -> None:
    small = with_small_kv(ServerSpec("c", "m", flags=flags), 50, 10)
    assert small.flags == ("--max-model-len", "50", "--num-gpu-blocks-override", "8")


def test_a_flag_of_the_user_s_that_contradicts_is_refused() -> None:
    with pytest.raises(ConfigError, match="num-gpu-blocks-override"):
        with_small_kv(ServerSpec("c", "m", flags=("--num_gpu_blocks_override=9",)), 50, 10)
