"""How many cuts a second the split-invariance test tries: hermes, one core, a 180-token output.

    python benchmarks/parser_cuts.py

Prints parses per second of CPU time for two-way cuts, random deltas of 1 … 4 tokens, and one token
per delta, beside the rates of the first trial. CPU time, so that a busy machine measures the same.
"""

import json
import time
from collections.abc import Iterable
from itertools import islice

from checks.cuts import Cut, one_by_one, random_cuts, two_way
from checks.split_samples import TOOLS
from checks.tool_markup import FORMATS, CallToWrite
from checks.vllm_cuts import tokenizer_named
from checks.vllm_detokenizer import TokenText
from checks.vllm_parsers import ParserUnderTest

TOKENS = 180
FIRST_TRIAL = {"two-way": 14_690, "random 1-4": 649, "one by one": 272}


def output(parser: ParserUnderTest) -> TokenText:
    """A hermes output of exactly `TOKENS` tokens: one long call."""
    body = "def f(x):\n    return {'a': x + 1}\n" * 40
    form = FORMATS["hermes"]
    for size in range(1, len(body)):
        call = CallToWrite("write_file", {"path": "b.py", "content": body[:size]})
        tokens = parser.tokenise("Writing it.\n\n" + form.write([call]))
        if len(tokens.ids) >= TOKENS:
            return tokens
    raise AssertionError("the body is too short")


def rate(parser: ParserUnderTest, tokens: TokenText, cuts: Iterable[Cut]) -> float:
    """Parses per second of CPU time."""
    cuts = list(cuts)
    start = time.process_time()
    for cut in cuts:
        parser.streamed(tokens, cut)
    return len(cuts) / (time.process_time() - start)


def main() -> None:
    """Print one JSON object."""
    parser = ParserUnderTest("hermes", None, tokenizer_named("built-in"), TOOLS)
    tokens = output(parser)
    size = len(tokens.ids)
    rate(parser, tokens, islice(two_way(size), 50))
    rates = {
        "two-way": rate(parser, tokens, [cut for _ in range(10) for cut in two_way(size)]),
        "random 1-4": rate(parser, tokens, random_cuts(size, 4, 300, 0)),
        "one by one": rate(parser, tokens, [one_by_one(size)] * 100),
    }
    print(
        json.dumps(
            {
                "tokens": size,
                "per_second": {name: round(value) for name, value in rates.items()},
                "first_trial": FIRST_TRIAL,
            }
        )
    )


if __name__ == "__main__":
    main()
