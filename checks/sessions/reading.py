"""A capture, read closely: token texts and labels, engine steps, drafted positions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.align import align
from checks.acceptance.drafts.recomputed import Propose
from checks.acceptance.positions import DraftPositions, join
from checks.acceptance.steps import Steps, Unaligned
from checks.findings import Finding
from checks.request import is_greedy
from checks.sessions.evidence import RunFacts
from checks.vllm.ngram import ngram_proposer
from traces.boundaries import (
    TokenLabels,
    known_family,
    label,
    opens_in_reasoning,
    token_labels,
    token_starts,
)
from traces.boundaries.label import LABELS
from traces.journal.exchange import Evidence, Exchange, TurnId


@dataclass(frozen=True, slots=True)
class Reading:
    """`texts[i]` is the text of output token i and `labels` gives each token one label; both are
    `None` where the wire did not carry token texts. `steps` is `None` where no steps are expected
    (the baseline), `Unaligned` where they do not reconcile with the tokens.
    """

    exchange: Exchange
    texts: tuple[str, ...] | None
    labels: TokenLabels | None
    steps: Steps | Unaligned | None
    positions: DraftPositions | None

    @property
    def raw(self) -> str | None:
        """The output with its markers, as the model wrote it."""
        return None if self.texts is None else "".join(self.texts)


def read_exchange(
    exchange: Exchange,
    family: str,
    drafting: Drafting | None,
    template: str | None,
    propose: Propose | None = None,
) -> Reading:
    """Label and align one exchange.

    `family` is the tool parser its markup is written for, ``plain`` where there is none;
    `drafting` is `None` on a path without a drafter; `propose` recomputes n-gram drafts.
    """
    response = exchange.response
    texts = response.token_texts
    labels = None if texts is None else _labels(texts, family, exchange)
    sampled = not is_greedy(exchange.request)
    steps = None if drafting is None else align(response, drafting, propose, sampled=sampled)
    positions = None
    if isinstance(steps, Steps) and labels is not None and response.usage is not None:
        usage = response.usage
        positions = join(
            steps,
            labels,
            usage.prompt or 0,
            template=template,
            cached=None if usage.cached is None else usage.cached > 0,
        )
    return Reading(exchange, texts, labels, steps, positions)


def readings_of(evidence: Evidence, arm: str, facts: RunFacts) -> dict[TurnId, Reading]:
    """The candidate's captures of an arm, read closely."""
    templates, propose = facts.templates, ngram_proposer(facts.drafting)
    return {
        turn: read_exchange(exchange, facts.family, facts.drafting, templates.get(turn[0]), propose)
        for turn, exchange in evidence.of("candidate", arm).items()
    }


def at_boundaries(
    findings: Iterable[Finding], readings: Mapping[TurnId, Reading]
) -> tuple[Finding, ...]:
    """Findings of an arm, those about one token with what is being written there."""
    return tuple(_at_boundary(finding, readings) for finding in findings)


def _at_boundary(finding: Finding, readings: Mapping[TurnId, Reading]) -> Finding:
    reading = readings.get((finding.session or "", finding.turn or ""))
    labels, place = None if reading is None else reading.labels, finding.token
    if finding.boundary is None and labels is not None and place in range(len(labels)):
        return replace(finding, boundary=LABELS[labels.labels[place]])
    return finding


def _labels(texts: tuple[str, ...], family: str, exchange: Exchange) -> TokenLabels | None:
    raw = "".join(texts)
    thinking = opens_in_reasoning(raw, exchange.response.reasoning)
    tools = exchange.request.get("tools") or ()
    spans = label(raw, known_family(family), tools, thinking=thinking)
    return token_labels(spans, token_starts(texts)) if spans or not texts else None
