"""How many cuts a second the split-invariance test tries: hermes, one core, a 180-token output.

    python benchmarks/parser_cuts.py

Prints parses per second of CPU time for two-way cuts, random deltas of 1 … 4 tokens, and one token
per delta, beside the rates of the first trial; and the same of a bare loop around vLLM's parser,
which no adapter can beat. The best of some rounds counts, as other work on the machine only slows.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from checks.splits.cuts import Cut, deltas, one_by_one, random_cuts, two_way
from checks.splits.markup import FORMATS, CallToWrite
from checks.splits.samples import TOOLS
from checks.vllm.cuts import tokenizer_named
from checks.vllm.detokenizer import TokenText
from checks.vllm.parsers import ParserUnderTest

TOKENS = 180
ROUNDS = 60
FIRST_TRIAL = {"two-way": 14_690, "random 1-4": 649, "one by one": 272}


def output(parser: ParserUnderTest) -> TokenText:
    """A hermes output of exactly `TOKENS` tokens: one long call."""
    body = "def f(x):\n    return {'a': x + 1}\n" * 40
    form = FORMATS["hermes"]
    for size in range(1, len(body)):
        call = CallToWrite("write_file", {"path": "b.py", "content": body[:size]})
        tokens = parser.tokenize("Writing it.\n\n" + form.write([call]))
        if len(tokens.ids) >= TOKENS:
            return tokens
    raise AssertionError("the body is too short")


def bare(parser: ParserUnderTest, tokens: TokenText, cut: Cut) -> None:
    """The same deltas through the same parser, and nothing done with what it says."""
    text, ids, offsets = tokens.text, tokens.id_list, tokens.offsets
    fresh = parser.parser(parser.tokenizer, parser.request.tools)
    for start, end in deltas(len(ids), cut):
        fresh.parse_delta(
            text[offsets[start] : offsets[end]],
            ids[start:end],
            parser.request,
            [],
            finished=end == len(ids),
        )


def rates(runs: Mapping[str, tuple[Callable[[Cut], object], Sequence[Cut]]]) -> dict[str, int]:
    """Runs per second of CPU time in the best round; rounds take turns, so that a busy moment of
    the machine does not fall on one of them alone."""
    best = dict.fromkeys(runs, 0.0)
    for _ in range(ROUNDS):
        for name, (run, cuts) in runs.items():
            start = time.process_time()
            for cut in cuts:
                run(cut)
            best[name] = max(best[name], len(cuts) / (time.process_time() - start))
    return {name: round(value) for name, value in best.items()}


def main() -> None:
    """Print one JSON object."""
    parser = ParserUnderTest("hermes", None, tokenizer_named("built-in"), TOOLS)
    tokens = output(parser)
    size = len(tokens.ids)
    cuts = {
        "two-way": list(two_way(size)) * 5,
        "random 1-4": list(random_cuts(size, 4, 60, 0)),
        "one by one": [one_by_one(size)] * 25,
    }
    per_second = rates(
        {name: (partial(parser.streamed, tokens), some) for name, some in cuts.items()}
    )
    least = rates({name: (partial(bare, parser, tokens), some) for name, some in cuts.items()})
    found = {
        "tokens": size,
        "per_second": per_second,
        "bare_loop": least,
        "first_trial": FIRST_TRIAL,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
