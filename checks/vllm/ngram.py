"""vLLM's own n-gram proposer, as a plain function of token ids.

`vllm/v1/spec_decode/ngram_proposer.py` compiles a search for the longest suffix of the tokens, of
`prompt_lookup_min` to `prompt_lookup_max` ids, that occurred before (its earliest occurrence), and
proposes up to k ids that followed it. vLLM is imported when the first proposer is made.
"""

from collections.abc import Sequence

import numpy as np

from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.recomputed import Propose

UNLIMITED = 1 << 30
"""Stands for a model length that is not known: no draft is cut short by it."""


def ngram_proposer(drafting: Drafting) -> Propose | None:
    """The proposer of this drafter.

    `None` where it is not n-gram, its limits are not known, or vLLM is not installed.
    """
    low, high, k = drafting.lookup_min, drafting.lookup_max, drafting.k
    if drafting.method != "ngram" or low is None or high is None or k is None:
        return None
    try:
        from vllm.v1.spec_decode.ngram_proposer import (
            _find_longest_matched_ngram_and_propose_tokens,
        )
    except ImportError:
        return None

    def propose(tokens: Sequence[int]) -> Sequence[int]:
        found = _find_longest_matched_ngram_and_propose_tokens(
            origin_tokens=np.asarray(tokens, np.int32),
            min_ngram=low,
            max_ngram=high,
            max_model_len=drafting.max_model_len or UNLIMITED,
            k=k,
        )
        drafted: list[int] = found.tolist()
        return drafted

    return propose
