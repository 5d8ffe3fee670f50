"""Control: a run's own call, written for a parser of vLLM that is known to depend on the cut.

It goes the whole way of the run's outputs (tokenizer, detokenizer, vLLM's parser, cuts), so it
shows that way to be awake. `step3` of vLLM 0.32 loses the arguments of a call whose last two
markers arrive together (vllm-project/vllm#55082); a later vLLM may have fixed it.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from checks import findings as f
from checks.bounds import ControlResult, fired
from checks.splits.judge import SplitJudgement, judge_splits
from checks.splits.markup import FORMATS, CallToWrite
from checks.vllm.cuts import BUILT_IN, tokenizer_named
from checks.vllm.names import vllm_version
from checks.vllm.parsers import ParserUnderTest, Tools

PARSER, FAULTY_IN = "step3", "0.32."
KIND = f"a call through vLLM's cut-sensitive {PARSER}"
CUTS, MOST_CALLS, LONGEST = 20, 5, 4000


def judge_vllm_control(
    calls: Iterable[CallToWrite], tools: Tools, largest: int, seed: int
) -> ControlResult:
    """One of the first few `calls` (with arguments, and not longer than `LONGEST`) must flag."""
    tried = failed = 0
    for judged in islice(_judged(calls, tools, largest, seed), MOST_CALLS):
        tried += sum(judged.tried.values())
        failed += sum(judged.failed.values())
        codes = fired(judged.findings())
        if f.SPLIT_VARIANT in codes:
            detail = f"{failed} of {tried} cuts change the result"
            return ControlResult(KIND, f.SPLIT_VARIANT, "caught", codes, detail)
    if not tried:
        detail = "no output of the run holds a call that can be written for it"
        return ControlResult(KIND, f.SPLIT_VARIANT, "not_applicable", (), detail)
    detail = f"none of {tried} cuts changes the result under vLLM {vllm_version()}"
    state: Any = "missed" if vllm_version().startswith(FAULTY_IN) else "not_applicable"
    return ControlResult(KIND, f.SPLIT_VARIANT, state, (), detail)


def _judged(
    calls: Iterable[CallToWrite], tools: Tools, largest: int, seed: int
) -> Iterator[SplitJudgement]:
    """The calls that the parser gives back un-cut, cut every way."""
    parser = ParserUnderTest(PARSER, None, tokenizer_named(BUILT_IN), tools)
    for call in calls:
        text = FORMATS[PARSER].write([call])
        if not call.arguments or len(text) > LONGEST:
            continue
        tokens = parser.tokenize(text)
        whole = parser.whole(tokens)
        if [name for name, _ in whole.calls] == [call.name]:
            yield judge_splits(
                tokens.pieces,
                partial(parser.streamed, tokens),
                whole,
                largest=largest,
                count=CUTS,
                seed=seed,
                short=0,
                tries=0,
            )
