"""Is an output fit to be cut? Only one that parses without any cut of speculation's making.

Un-cut means one token per delta, and not streamed at all. What fails both ways was written wrongly
by the model, and so was markup that is shown whole and makes no call either way; what else fails
one way only is the parser's fault, on every server. How much of a broken call a parser hands on may
well depend on the cut, and no client can use it.
"""

from checks.formats.json_values import is_json
from checks.formats.markers import leaked
from checks.splits.parse_result import ParseResult

FIT, MODEL, PARSER = "fit", "model", "parser"


def fitness(streamed: ParseResult, whole: ParseResult) -> str:
    """``fit``, or who is to blame: ``model`` or ``parser``."""
    streams = is_sound(streamed, whole)
    if is_sound(whole, streamed):
        return FIT if streams else PARSER
    return PARSER if streams and (streamed.calls or whole.calls) else MODEL


def is_sound(result: ParseResult, other: ParseResult) -> bool:
    """No error, arguments that are JSON, and no markup shown that the other parse took away."""
    if result.error is not None:
        return False
    if not all(is_json(arguments) for _, arguments in result.calls):
        return False
    return not leaked(result.content, other.content)
