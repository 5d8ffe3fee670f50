"""Arguments that the model did not write as JSON, delivered otherwise at the same tokens.

Where a model writes what no parser can read, some of vLLM's parsers draw the end of the arguments
by the deltas they happen to get, with a drafter and without one: hermes gives ``{"a": b"}`` or
``{"a": b"}}``. That is the parser's fault on both paths where this run shows it:

* the baseline's own repeat delivered the same tokens otherwise, too; or
* the server's parser, run on the tokens as each path sent them, makes of them just what each client
  got, so that nothing but the cut of the deltas made the difference.

Where neither is shown, other arguments at equal tokens stay an error, as they are where either side
is JSON.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from checks.calls.arguments import UNPARSED
from checks.calls.calls import same_calls
from checks.findings import ARGS_DIFFER, Finding
from checks.vllm.cutter import Cutter
from traces.journal.arm import Arm
from traces.journal.exchange import Evidence, Exchange

BY_CHUNKS = (
    "; the model wrote no JSON, and which end its parser draws hangs on the chunks, on both paths"
)


def with_parser_faults(
    findings: Iterable[Finding], captures: Evidence, arm: Arm, cutter: Cutter | str
) -> Iterator[Finding]:
    """The findings of a session in an arm; those that the baseline's parser explains marked so."""
    for finding in findings:
        turn = (finding.session or "", finding.turn or "")
        excused = (
            finding.code == ARGS_DIFFER
            and finding.detail.get(UNPARSED) is True
            and _hangs_on_chunks(
                captures.of("candidate", arm.name)[turn],
                captures.of("baseline", arm.name)[turn],
                captures.of("baseline", arm.repeat_name).get(turn),
                cutter,
            )
        )
        yield (
            replace(finding, baseline_too=True, message=finding.message + BY_CHUNKS)
            if excused
            else finding
        )


def _hangs_on_chunks(
    candidate: Exchange, baseline: Exchange, repeat: Exchange | None, cutter: Cutter | str
) -> bool:
    own = baseline.response
    if (
        repeat is not None
        and repeat.response.token_ids == own.token_ids
        and same_calls(own.tool_calls, repeat.response.tool_calls) is False
    ):
        return True
    return not isinstance(cutter, str) and cutter.delivers(candidate) and cutter.delivers(baseline)
