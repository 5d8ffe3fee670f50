"""The command lines of launched servers."""

import json
from dataclasses import replace

import pytest

from replay.launch.command import ServerSpec, server_command
from replay.launch.cpus import cpu_shares
from traces.errors import ConfigError
from traces.journal.vllm_flags import parse_flags, without_secrets

SPEC = ServerSpec("baseline", "models/target", flags=("--max-model-len", "16384"))
DRAFTER = {"method": "eagle3", "model": "models/drafter", "num_speculative_tokens": 3}


def test_both_paths_get_the_same_flags_but_the_drafter_s() -> None:
    baseline = parse_flags(server_command(SPEC, 8000))
    candidate = parse_flags(server_command(replace(SPEC, speculative_config=DRAFTER), 8001))
    only = {name: candidate[name] for name in candidate.keys() - baseline.keys()}
    assert only.keys() == {"--speculative-config", "--per-request-spec-decode-metrics"}
    assert json.loads(only["--speculative-config"][0]) == DRAFTER
    assert only["--per-request-spec-decode-metrics"] == ("detailed",)
    assert {n for n in baseline if baseline[n] != candidate[n]} == {"--port"}


def test_what_the_gate_observes_is_switched_on() -> None:
    flags = parse_flags(server_command(SPEC, 8000))
    assert flags["--enable-per-request-metrics"] == ()
    assert flags["--enable-prompt-tokens-details"] == ()
    assert flags["--logprobs-mode"] == ("processed_logprobs",)
    assert flags["--max-num-batched-tokens"] == ("2048",)
    assert flags["--served-model-name"] == ("models/target",)
    assert flags["--host"] == ("127.0.0.1",)


def test_the_user_s_own_flags_win_over_defaults() -> None:
    mine = replace(SPEC, flags=("--max_num_batched_tokens=512", "--logprobs-mode", "raw_logprobs"))
    command = server_command(mine, 8000)
    flags = parse_flags(command)
    assert flags["--max-num-batched-tokens"] == ("512",)
    assert flags["--logprobs-mode"] == ("raw_logprobs",)
    assert sum("batched" in argument for argument in command) == 1


@pytest.mark.parametrize("flag", ["--model", "--host", "--served_model_name"])
def test_flags_that_have_a_key_of_their_own_are_refused(flag: str) -> None:
    with pytest.raises(ConfigError, match="is set by draftgate"):
        server_command(replace(SPEC, flags=(flag, "x")), 8000)


def test_keys_are_masked_where_a_command_is_shown() -> None:
    shown = without_secrets(["--api-key", "k1", "k2", "--hf_token=t", "--port", "1"])
    assert shown == ("--api-key", "***", "***", "--hf_token=***", "--port", "1")


@pytest.mark.parametrize(
    ("cores", "servers", "shares"),
    [
        ({0, 1}, 1, [None]),
        ({0, 1}, 2, [(0,), (1,)]),
        ({2, 3, 5, 7, 8}, 2, [(2, 3), (5, 7)]),
        ({4}, 2, [(4,), (4,)]),
    ],
)
def test_servers_at_the_same_time_get_equal_shares_of_the_cores(
    monkeypatch: pytest.MonkeyPatch,
    cores: set[int],
    servers: int,
    shares: list[tuple[int, ...] | None],
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: cores)
    assert cpu_shares(servers) == shares
