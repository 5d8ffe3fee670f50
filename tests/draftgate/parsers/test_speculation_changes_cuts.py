"""On a real server: speculation puts several tokens into one delta, and the parse does not change.

The n-gram drafter proposes what the prompt already holds; the grammar lets the model write nothing
but the call, so that the stream holds one whatever the weights have learned.
"""

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.launch.command import ServerSpec
from replay.launch.server import Server
from replay.sending.arm import ArmPlan, run_arm
from replay.sending.job import Job
from replay.sending.request import gate_request
from traces.journal.journal import JournalReader
from traces.wire.reassembly import response_of
from traces.wire.response import Response

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed"),
]

ARGUMENTS = {"path": "src/reader/part_one.py", "lines": 12}
CALL = f'<tool_call>\n{{"name": "read_file", "arguments": {json.dumps(ARGUMENTS)}}}\n</tool_call>'
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
        },
    },
}
DRAFTS = 4


@pytest.fixture(scope="module")
def target(root: Path) -> Path:
    folder = root / "models" / "weights" / "target"
    if not (folder / "config.json").is_file():
        pytest.skip("the embedded model is not in models/weights")
    return folder


@pytest.fixture(scope="module")
def responses(target: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Response]]:
    folder = tmp_path_factory.mktemp("cuts")
    spec = ServerSpec(
        "candidate",
        str(target),
        flags=(
            "--enforce-eager",
            "--max-model-len",
            "2048",
            "--enable-auto-tool-choice",
            "--tool-call-parser",
            "hermes",
        ),
        speculative_config={
            "method": "ngram",
            "num_speculative_tokens": DRAFTS,
            "prompt_lookup_max": 4,
            "prompt_lookup_min": 1,
        },
        env={"VLLM_CPU_KVCACHE_SPACE": "1"},
    )
    chat = {
        "messages": [{"role": "user", "content": f"Say exactly this: {CALL} {CALL}"}],
        "tools": [TOOL],
        "structured_outputs": {"choice": [CALL]},
        "temperature": 0,
    }
    request = gate_request(chat, model=spec.model_name, cache_salt="a", max_tokens=200)
    jobs = [Job("s0", f"t{n}", request) for n in range(3)]
    with Server(spec, folder / "candidate.log") as server:
        server.wait_healthy()
        plan = ArmPlan("r", "candidate", "main", (server.url,), concurrency=1)
        asyncio.run(run_arm(plan, [jobs], folder / "main.zst", check_alive=server.check_alive))
        yield [response_of(capture) for capture in JournalReader(folder / "main.zst")]


def test_deltas_carry_several_tokens(responses: list[Response]) -> None:
    for response in responses:
        assert [call.name for call in response.tool_calls] == ["read_file"]
        assert json.loads(response.tool_calls[0].arguments) == ARGUMENTS
        sizes = [chunk.token_ids for chunk in response.chunks if chunk.token_ids]
        assert sum(sizes) == len(response.token_ids or ())
        assert max(sizes) > 1
        assert response.speculation is not None
        assert sum(response.speculation.accepted or ()) > 0


def test_the_same_ids_one_by_one_parse_the_same(responses: list[Response], target: Path) -> None:
    from checks.splits.cuts import one_by_one
    from checks.vllm.parsers import ParserUnderTest, load_tokenizer

    parser = ParserUnderTest("hermes", None, load_tokenizer(str(target)), [TOOL])
    for response in responses:
        tokens = parser.detokenize(response.token_ids or ())
        sent, at = [], 0
        for chunk in response.chunks:
            at += chunk.token_ids or 0
            sent.append(at)
        as_sent = tuple(sorted({place for place in sent if 0 < place < len(tokens.ids)}))
        assert len(as_sent) < len(tokens.ids) - 1
        one = parser.streamed(tokens, one_by_one(len(tokens.ids)))
        assert parser.streamed(tokens, as_sent).same(one)
        assert [name for name, _ in one.calls] == ["read_file"]
        assert json.loads(one.calls[0][1]) == ARGUMENTS
