"""Reading the answer of a scoring request while it comes in.

    {"choices": [{"prompt_logprobs": [null, {"17": {"logprob": -0.4, "rank": 1, …}}, …]}]}

One entry per prompt position holds the token that stands there and the best ones. Entries are cut
out of the byte stream as they pass, and only the continuation's are kept: an answer over 128k
tokens has 16 MiB, and ten times that with wide lists.
"""

import math
import re
from collections import deque

from replay.sending.refusal import TOO_LONG
from traces.journal.score import Outcome, Score, ScoreRequest
from traces.limits import SCORE_BYTES, SCORE_ENTRY_BYTES, PastLimit, mebibytes
from traces.served_json import decode_served

NON_FINITE = "Out of range float values"
"""Words of Python's json module: vLLM cannot write NaN or infinity, and refuses the request."""

ENTRY = re.compile(
    rb'\{\s*+(?:"\d++"\s*+:\s*+\{(?:[^{}"]++|"(?:[^"\\]++|\\.)*+"){0,32}+\}\s*+,?\s*+)++\}',
    re.DOTALL,
)
"""An object whose keys are token ids and whose values are flat objects. Inside a JSON string its
quotes would be escaped, so no token text can look like one; a partial one does not match. A value
has 7 pieces (names, numbers, a text); the bound keeps a hostile answer from being read again at
each of its braces."""


class EntryScanner:
    """Takes an answer's bytes in any portions; keeps the `last` entries and counts all. Raises
    PastLimit where the answer, or what may be an entry of it, is too long.
    """

    def __init__(self, keep: int) -> None:
        self.count = 0
        self.last: deque[bytes] = deque(maxlen=keep)
        self._rest = b""
        self._bytes = 0

    def feed(self, data: bytes) -> None:
        self._bytes += len(data)
        if self._bytes > SCORE_BYTES:
            raise PastLimit(f"a scoring answer of more than {mebibytes(SCORE_BYTES)}")
        data = self._rest + data
        end = 0
        for match in ENTRY.finditer(data):
            self.count += 1
            self.last.append(match[0])
            end = match.end()
        self._rest = data[end:]
        if len(self._rest) > SCORE_ENTRY_BYTES:
            entry = mebibytes(SCORE_ENTRY_BYTES)
            raise PastLimit(f"a scoring answer holds {entry} without the scores of a token")


def score_of(request: ScoreRequest, scanner: EntryScanner, width: int) -> Score:
    """The score, or why there is none. The first prompt position has no entry (null)."""
    wanted = len(request.prompt) + len(request.continuation) - 1
    if scanner.count != wanted:
        error = f"prompt_logprobs for {scanner.count} of {wanted} positions"
        return Score("unsupported", error=error)
    own, top, top_ids, lists = [], [], [], []
    for token, entry in zip(request.continuation, scanner.last, strict=True):
        try:
            listed = {int(key): value["logprob"] for key, value in decode_served(entry).items()}
            finite = all(value is not None and math.isfinite(value) for value in listed.values())
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            problem = f"prompt_logprobs are not as vLLM writes them: {error!r:.100}"
            return Score("unsupported", error=problem)
        if not finite:
            return Score("non_finite", error="prompt_logprobs hold NaN or infinity")
        if token not in listed:
            return Score("unsupported", error=f"prompt_logprobs lack the token {token} itself")
        best = max(listed, key=listed.__getitem__)
        own.append(listed[token])
        top.append(listed[best])
        top_ids.append(best)
        lists.append(listed)
    kept = tuple(lists) if width > 1 else ()
    return Score("scored", tuple(own), tuple(top), tuple(top_ids), listed=kept)


def refusal_outcome(message: str) -> Outcome:
    """What the server's words mean."""
    if NON_FINITE in message:
        return "non_finite"
    return "too_long" if any(words in message for words in TOO_LONG) else "refused"
