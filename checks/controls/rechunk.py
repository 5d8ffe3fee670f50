"""Control: a run's own output read by a cut-sensitive parser; `SPLIT_VARIANT` must fire.

The parser is a toy, so the control needs neither vLLM nor a parser that happens to be broken. It
has one known fault: what follows its marker in the same delta is lost.

    "<tool_call>" | "{"     fine: one token per delta, as a server without speculation sends
    "<tool_call>{"          the brace is gone: two tokens of one verify step in one delta

The same class of fault as vLLM's deepseek_v3 parser had (start and end marker in one delta).
"""

from collections.abc import Sequence

from checks import findings as codes
from checks.bounds import ControlResult, fired
from checks.splits.cuts import Cut, deltas
from checks.splits.judge import judge_splits
from checks.splits.parse_result import ParseResult
from traces.wire.response import Response
from traces.wire.tokens import texts_of

KIND = "re-chunked through a cut-sensitive parser"
OPEN, CLOSE = "<tool_call>", "</tool_call>"
FEWEST_TOKENS, MOST_TOKENS, CUTS = 4, 200, 50


def judge_rechunk_control(
    pieces: Sequence[str] | None, draft_tokens: int, seed: int
) -> ControlResult:
    """Put an output, as `pieces_of` gives it, between the toy's markers and cut it every way.

    `draft_tokens` is k: random deltas have 1 to k + 1 tokens.
    """
    if pieces is None:
        few = f"no output has {FEWEST_TOKENS} tokens with a text of their own"
        return ControlResult(KIND, codes.SPLIT_VARIANT, "no_data", (), few)
    marked = (OPEN, *pieces, CLOSE)

    def stream(cut: Cut) -> ParseResult:
        return toy_parse(marked, cut)

    judged = judge_splits(marked, stream, None, largest=draft_tokens + 1, count=CUTS, seed=seed)
    codes_fired = fired(judged.findings())
    tried, failed = sum(judged.tried.values()), sum(judged.failed.values())
    return ControlResult(
        KIND,
        codes.SPLIT_VARIANT,
        "caught" if codes.SPLIT_VARIANT in codes_fired else "missed",
        codes_fired,
        f"{failed} of {tried} cuts change the result",
    )


def pieces_of(response: Response) -> tuple[str, ...] | None:
    """The first token texts of an output, markers of the toy's own format left out; `None` where
    they are too few."""
    texts = [text or "" for text in texts_of(response.tokens or ())]
    kept = [text for text in texts if text and OPEN not in text and CLOSE not in text]
    return tuple(kept[:MOST_TOKENS]) if len(kept) >= FEWEST_TOKENS else None


def toy_parse(pieces: Sequence[str], cut: Cut) -> ParseResult:
    """Parse an output that arrives in the deltas of `cut`."""
    content, calls, inside = "", [""], False
    for start, end in deltas(len(pieces), cut):
        delta = "".join(pieces[start:end])
        if not inside and OPEN in delta:
            content += delta.partition(OPEN)[0]
            inside = True
        elif inside and CLOSE in delta:
            calls[-1] += delta.partition(CLOSE)[0]
            calls.append("")
            inside = False
        elif inside:
            calls[-1] += delta
        else:
            content += delta
    return ParseResult(content, calls=tuple(("toy", text) for text in calls[:-1]))
