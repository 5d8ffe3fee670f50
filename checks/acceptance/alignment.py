"""The engine steps of a response, by the surest way its drafter allows."""

from checks.acceptance.drafting import Drafting
from checks.acceptance.ngram_steps import Propose, recompute
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

    With `propose` (`checks.vllm.ngram.ngram_proposer`) and token ids on the wire, the drafts are
    recomputed, which places the steps that drafted nothing and gives the draft ids. Otherwise the
    counts must leave one reading. `sampled` tells that the temperature is above 0.
    """
    facts = step_facts(response)
    if isinstance(facts, Unaligned):
        return facts
    prompt, output = response.prompt_token_ids, response.token_ids
    if propose is None or prompt is None or output is None:
        return reconcile(facts, drafting)
    return recompute(facts, drafting, prompt, output, propose, sampled=sampled)
