"""Control: a run's own output read by a cut-sensitive parser; `SPLIT_VARIANT` must fire.

The parser is bundled (`checks.controls.toy_parser`), so the control needs neither vLLM nor a
parser that happens to be broken.
"""

from collections.abc import Sequence

from checks import findings as codes
from checks.bounds import ControlResult, fired
from checks.controls.toy_parser import CLOSE, OPEN, toy_parse
from checks.splits.cuts import Cut
from checks.splits.judge import judge_splits
from checks.splits.parse_result import ParseResult
from traces.wire.response import Response
from traces.wire.tokens import texts_of

KIND = "re-chunked through a cut-sensitive parser"
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
