"""The steps of one response, by the best there is: draft ids, reported or recomputed, or counts."""

from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.recomputed import Propose, recompute
from checks.acceptance.drafts.reported import place
from checks.acceptance.steps import Steps, Unaligned, reconcile, step_facts
from traces.wire.response import Response


def align(
    response: Response,
    drafting: Drafting,
    propose: Propose | None = None,
    *,
    sampled: bool = False,
) -> Steps | Unaligned:
    """Steps reconciled to the token, or the reason why they are not.

    Draft ids that the server reports give the steps with their places. With `propose`
    (`checks.vllm.ngram.ngram_proposer`) n-gram drafts are recomputed, which does the same. Both
    need token ids on the wire; otherwise the counts must leave one reading. `sampled` tells that
    the temperature is above 0.
    """
    facts = step_facts(response)
    if isinstance(facts, Unaligned):
        return facts
    prompt, output, shown = response.prompt_token_ids, response.token_ids, response.speculation
    if output is not None and shown is not None and shown.draft_ids is not None:
        return place(facts, shown.draft_ids, shown.first or (), output, sampled=sampled)
    if propose is None or prompt is None or output is None:
        return reconcile(facts, drafting)
    return recompute(facts, drafting, prompt, output, propose, sampled=sampled)
