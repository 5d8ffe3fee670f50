"""What a server does not show of its decoding, and what can therefore not be judged.

vLLM before 0.32, and gateways in front of it, leave fields out; what remains is still judged.
"""

from traces.journal.path_facts import PathFacts


def unseen(facts: PathFacts) -> list[str]:
    """One line per missing observable; none where the server was not asked."""
    seen = facts.observables
    if seen is None:
        return []
    missing = {
        "token ids: no token codes": seen.token_ids is False,
        "logprobs with alternatives: no argmax check, no free scoring": (
            seen.alternatives is not None and seen.alternatives < 2
        ),
        "prompt token ids: no scoring, prompts not compared": seen.prompt_token_ids is False,
        "usage: no token accounting": seen.usage is False,
        "prompt logprobs: no teacher forcing (lockstep scores instead)": (
            seen.prompt_logprobs is False
        ),
        "cached tokens: no prefix-cache check": seen.cached_tokens is False,
        "per-step speculation metrics: no acceptance by boundary": (
            facts.path == "candidate" and seen.speculation is False
        ),
    }
    return [
        f"{what} ({facts.path} {facts.url} does not send them)" for what in missing if missing[what]
    ]
