"""What one answer of a server may hold at most. All that reads an answer keeps to this table.

A server that passes a limit is broken or hostile, and must never cost the run: on a turn the
passing is a finding of that turn, elsewhere an error that names the server and the limit. Each is
several times what vLLM sends in the largest runs: 128k tokens of output with 20 alternatives each
are some 80 MB, a prompt of 1M token ids 8 MB in one event.
"""

EVENT_BYTES = 16 << 20
"""Of one event of a stream."""

TURN_BYTES = 128 << 20
"""Of one streamed answer, after decompression."""

TURN_CHARACTERS = 8 << 20
"""Of the text in one answer: content, reasoning and call arguments together."""

TURN_CALLS = 256
"""Tool calls in one answer."""

BODY_BYTES = 16 << 20
"""Of an answer that is read as a whole: a list of models, metrics, a tokenized prompt."""

ERROR_CHARACTERS = 2000
"""Of a server's error message; the rest is counted, not kept."""

SCORE_BYTES = 512 << 20
"""Of one scoring answer, which is read as it comes in and never held."""

SCORE_ENTRY_BYTES = 256 << 10
"""Of the entry of one position in a scoring answer."""

NESTING = 200
"""Depth of arrays and objects in JSON. Readers written in Python end near 1000, orjson's writer at
254."""

DIGITS = 4300
"""Of an integer in JSON: Python's own limit, since reading one takes quadratic time."""

STEPS_SLACK = 1024
"""So many engine steps, and tokens in them, may be reported beyond the completion's tokens: a
trimmed last step, and the padded prefill."""

STEP_DRAFTED = 255
"""Tokens drafted in one engine step; their positions are kept in 8 bits."""

SHOWN_EVENTS = 20
"""So many broken events of one stream are described; all are counted."""


class PastLimit(ValueError):
    """An answer passes a limit; the message says which."""


def mebibytes(count: int) -> str:
    """A limit in words: ``16 MiB``, ``256 KiB``."""
    return f"{count >> 20} MiB" if count >> 20 else f"{count >> 10} KiB"
