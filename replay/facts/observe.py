"""One small request that asks for everything, to see early what a server shows of its decoding."""

from replay.scoring.scorer_plan import ScorerPlan
from replay.scoring.teacher_forcing import teacher_force
from replay.sending.client import StreamClient
from replay.sending.refusal import error_message
from replay.sending.request import gate_request
from traces.journal.observables import Observables
from traces.journal.score import ScoreRequest
from traces.wire.capture import CaptureKey
from traces.wire.reassembly import response_of
from traces.wire.response import Response

PROBE = {"messages": [{"role": "user", "content": "Count: one two three one two three one two"}]}
PROBE_TOKENS = 8


async def observe(url: str, model: str, *, api_key: str = "", salt: str = "probe") -> Observables:
    """What of the gate's wishes the server fulfils."""
    request = gate_request(PROBE, model=model, cache_salt=salt, max_tokens=PROBE_TOKENS)
    key = CaptureKey(run="", path="", arm="probe", session="", turn="")
    async with StreamClient(url, api_key=api_key) as client:
        capture = await client.send(key, request)
        if capture.status != 200:
            return Observables(refused=error_message(capture) or capture.error)
        response = response_of(capture)
        scored = await _scores(ScorerPlan(url, model), client, response)
    tokens, usage = response.tokens or (), response.usage
    listed = [len(token.top) for token in tokens]
    return Observables(
        token_ids=response.token_ids is not None,
        alternatives=min(listed, default=0),
        prompt_token_ids=response.prompt_token_ids is not None,
        usage=usage is not None and usage.completion is not None,
        cached_tokens=usage is not None and usage.cached is not None,
        speculation=response.speculation is not None,
        fingerprint=response.system_fingerprint is not None,
        prompt_logprobs=scored,
    )


async def _scores(plan: ScorerPlan, client: StreamClient, response: Response) -> bool | None:
    """Whether the server scores given tokens; None where there are no ids to ask with."""
    prompt, answer = response.prompt_token_ids, response.token_ids
    if not prompt or not answer:
        return None
    score = await teacher_force(plan, client, ScoreRequest(prompt, answer[:2]))
    return score.outcome == "scored"
