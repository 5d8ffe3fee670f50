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
    outputs: Sequence[Response], draft_tokens: int, seed: int
) -> ControlResult:
    """Put the first long enough output between the toy's markers and cut it every way.

    `draft_tokens` is k: random deltas have 1 to k + 1 tokens.
    """
    found = (_pieces(response) for response in outputs)
    pieces = next((texts for texts in found if len(texts) >= FEWEST_TOKENS), None)
    if pieces is None:
        few = f"no output has {FEWEST_TOKENS} tokens with a text of their own"
        return ControlResult(KIND, codes.SPLIT_VARIANT, "no_data", (), few)
    marked = (OPEN, *pieces[:MOST_TOKENS], CLOSE)

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


def _pieces(response: Response) -> tuple[str, ...]:
    """Token texts, markers of the toy's own format left out."""
    texts = [text or "" for text in texts_of(response.tokens or ())]
    return tuple(text for text in texts if text and OPEN not in text and CLOSE not in text)
