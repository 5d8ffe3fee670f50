"""What a reader does next, by the verdict and what led to it: every report says it.

fail   Leave the drafter off for this traffic.
       Show the first fault again, offline: draftgate check cases/0000-ARGS_DIFFER-….case.json
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.findings import (
    ACCEPTANCE,
    BEHAVIOR,
    CODES,
    CONTENT,
    CONTROL_NOT_CAUGHT,
    DRAFTER_CONFIG_LOST,
    NO_DRAFTS,
    PATHS_DIFFER,
    REGRET_RATE,
    SAMPLED_SHIFT,
    TOKENS,
    TOOL_CALLS,
    TRANSPORT,
)
from reports.formats.headline import payoff
from reports.store.summary import Row, Summary, whole_speed

MOST_STEPS = 5


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and the command that does it; `None` where there is none."""

    text: str
    command: str | None = None


INVALID_STEPS = {
    PATHS_DIFFER: "Start both servers with the same model, vLLM and flags, except for "
    "`--speculative-config`; what differs now is listed under Setup.",
    CONTROL_NOT_CAUGHT: "A fault planted in this run's own answers was missed, so a real one could "
    "be missed too. Replay more sessions; if it stays so, report it with the run's journals.",
    NO_DRAFTS: "Check that the candidate runs with `--speculative-config`, and that the prompts "
    "fit in the drafter's context length.",
}

CODE_STEPS = {
    REGRET_RATE: "Compare dtype, KV-cache dtype and attention backend of the two servers: the "
    "candidate rounds differently too often.",
    SAMPLED_SHIFT: "Look at sampling in the candidate: temperature, top-p and rejection sampling.",
    DRAFTER_CONFIG_LOST: "Upgrade vLLM or convert the draft checkpoint: a flag of its config "
    "is lost.",
}
FAMILY_STEPS = {
    TRANSPORT: "Read the candidate's server log at the time of the turn.",
    CONTENT: "Look at the parsers: the text changed on its way from the tokens to the client "
    "(`draftgate parsers` tests vLLM's own).",
    TOOL_CALLS: "Look at the tool parser first (`draftgate parsers` tests vLLM's own), then at the "
    "tokens of the call.",
    TOKENS: "Look where the wrong tokens are. Everywhere: weights, dtype or template. In one kind "
    "of text: parser or grammar. On some re-runs only: KV cache or mixed batches.",
    ACCEPTANCE: "Check the draft checkpoint and its config: output is right, and drafts are lost.",
    BEHAVIOR: "Read the turns whose calls break with the drafter alone, one by one.",
}


def next_steps(summary: Summary) -> list[Step]:
    """At most `MOST_STEPS` steps, the first thing first."""
    steps = {
        "pass": _passed,
        "aa-pass": _equal,
        "fail": _failed,
        "inconclusive": _undecided,
        "invalid": _invalid,
    }[summary.run["verdict"]]
    return list(steps(summary))[:MOST_STEPS]


def _passed(summary: Summary) -> Iterator[Step]:
    row = whole_speed(summary)
    state = "undecided" if row is None else payoff(row)
    if state == "slower":
        yield Step(
            "Nothing breaks, but output gets slower: leave the drafter off at this load, or gate "
            "it with fewer draft tokens."
        )
    elif state == "faster":
        yield Step("Enable the drafter for this model, these flags and this traffic.")
    else:
        yield Step(
            "Nothing breaks. Whether the drafter pays is not decided: replay more sessions, or "
            "other loads too.",
            "draftgate gate --arms all",
        )
    yield Step(
        "See where acceptance is low, and at which load the drafter pays.",
        f"draftgate advise {summary.id}",
    )
    yield Step(
        'Compare later runs with this one: `[reference] run = "last"` in the configuration makes a '
        "loss of acceptance an error."
    )


def _equal(summary: Summary) -> Iterator[Step]:
    yield Step('Gate the candidate: take `kind = "aa"` out of the configuration.')


def _failed(summary: Summary) -> Iterator[Step]:
    yield Step("Leave the drafter off for this traffic.")
    if summary.codes:
        code = Counter(summary.codes).most_common(1)[0][0]
        yield Step("Read what the most frequent finding means.", f"draftgate docs {code}")
    case = next((f["case_file"] for f in summary.pressing if f["case_file"]), None)
    if case:
        yield Step("Show the first fault again, offline.", f"draftgate check {case}")
    yield from map(Step, dict.fromkeys(map(_hint, summary.codes)))
    if not summary.codes:
        yield Step("Read the bound that failed, under Why.")


def _hint(code: str) -> str:
    if code in CODE_STEPS:
        return CODE_STEPS[code]
    family = CODES[code].family if code in CODES else ""
    return FAMILY_STEPS.get(family, f"Read the finding {code} below.")


def _undecided(summary: Summary) -> Iterator[Step]:
    limits = _limits(summary)
    grow = f"raise {' and '.join(limits)}" if limits else "name more files in `[run] sessions`"
    yield Step(f"Replay more: {grow}.")
    for bound in summary["bounds"]:
        if bound["state"] == "inconclusive" and bound["needed"]:
            yield Step(f"`{bound['name']}` needs {bound['needed']}.")
    bare = [c["kind"] for c in summary["controls"] if c["state"] == "no_data"]
    if bare:
        yield Step(f"No turn was there to plant this fault in: {', '.join(bare)}.")


def _limits(summary: Summary) -> list[str]:
    """Limits of the configuration that kept turns out: ``["`max_turns` (now 40)"]``."""
    config = json.loads(summary.run["config"] or "{}").get("run", {})
    (replayed,) = summary["replayed"]
    return [
        f"`{key}` (now {config[key]})"
        for key, counted in (("max_sessions", "sessions"), ("max_turns", "turns"))
        if config.get(key) is not None and replayed[counted] >= config[key]
    ]


def _invalid(summary: Summary) -> Iterator[Step]:
    heads = [str(reason).split(":")[0].split(" x ")[0] for reason in summary.run["reasons"]]
    known = [INVALID_STEPS[head] for head in dict.fromkeys(heads) if head in INVALID_STEPS]
    yield from map(Step, known)
    differing = _differing(summary["differences"])
    if differing:
        yield Step(f"These differ and may not: {', '.join(differing)}.")
    if not known:
        yield Step("Fix what the first reason names.")
    yield Step("Check servers and sessions, then run the gate again.", "draftgate doctor")


def _differing(differences: Sequence[Row]) -> list[str]:
    return [str(row["field"]) for row in differences if not row["allowed"]]
