"""The paper server as a launched vLLM: started by the gate's own command line.

With ``--num-gpu-blocks-override`` every second answer counts as preempted. Words of PAPER_FAULT:
``torn-when-small`` (the candidate cuts call arguments there), ``dies`` (it ends after so many chat
requests), ``counts-double`` (its counters lie), ``flips-when-verified`` (verification flips a token
in some answers, as a mixture of experts does).
"""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[7]))

from aiohttp import web

from tests.support.paper.model import HashedVocabulary
from tests.support.paper.server import Faults, PaperServer
from tests.support.paper.stream import Stream

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ARGS = sys.argv[1:]
FAULT = os.environ.get("PAPER_FAULT", "")


def flag(name: str) -> str | None:
    return ARGS[ARGS.index(name) + 1] if name in ARGS else None


def torn(stream: Stream, request: dict[str, object]) -> None:
    for call in stream.calls:
        call["arguments"] = call["arguments"][:-1]


def flipped(stream: Stream, request: dict[str, object]) -> None:
    """Another token at place 2, and the best of its own list there."""
    if sum(stream.prompt) % 5 == 0:
        distribution, wanted = stream.distributions[2], stream.ids[2]
        other = min(distribution, key=lambda token: distribution[token])
        distribution[other], distribution[wanted] = distribution[wanted], distribution[other]
        old, new = stream.texts[2], server.vocabulary.pieces[other]
        begin = len(stream.texts[0] + stream.texts[1])
        stream.content = stream.content[:begin] + new + stream.content[begin + len(old) :]
        stream.ids[2], stream.texts[2] = other, new


drafter = json.loads(flag("--speculative-config") or "{}")
small = flag("--num-gpu-blocks-override") is not None
faults = Faults(drafts=drafter.get("num_speculative_tokens", 0))
faults.accepts = drafter.get("rejection_sample_method") != "synthetic"
if drafter and small and FAULT == "torn-when-small":
    faults.spoil = torn
if drafter and FAULT == "flips-when-verified":
    faults.spoil = flipped
if drafter and FAULT == "counts-double":
    faults.counted = 2.0
server = PaperServer(HashedVocabulary(), faults, preempts=small)
if flag("--max-model-len"):
    faults.max_model_len = int(flag("--max-model-len") or 0)


@web.middleware
async def mortal(request: web.Request, handler: Handler) -> web.StreamResponse:
    if drafter and FAULT == "dies" and server.chats >= 20:
        print("RuntimeError: engine core died of a drafter", flush=True)
        os._exit(7)
    return await handler(request)


app = server.application()
app.middlewares.append(mortal)
print("INFO non-default args:", {"model": flag("--model")}, flush=True)
web.run_app(app, host="127.0.0.1", port=int(flag("--port") or 0), print=None)
