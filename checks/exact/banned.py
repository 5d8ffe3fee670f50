"""LOGIT_BIAS_IGNORED: a token with a bias of −100 or less, or a bad word, was emitted.

vLLM bans a bad word by the token sequences that spell it, with and without a space before it
(`v1/sample/logits_processor`); the same letters inside a longer token are no match.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from checks import findings as f
from checks.exact.channels import channels_of
from checks.findings import Finding, NotJudged
from checks.pair import Pair, Side
from traces.wire.response import Token
from traces.wire.tokens import known_texts

BANNED_AT = -100.0
SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana, Chinese: between their letters no space marks a word's edge."""
LETTER = rf"[^\W{SPACELESS}]"


def check_banned(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Banned ids and bad words among the candidate's tokens; the baseline's own excuse them."""
    request = pair.request or {}
    yield from _banned_ids(pair, request.get("logit_bias") or {})
    words = [word for word in request.get("bad_words") or [] if word.strip()]
    for word in words:
        place = _place(pair.candidate, word)
        if place is None:
            yield NotJudged(f.LOGIT_BIAS_IGNORED, "the candidate's text is unknown")
        elif place >= 0:
            baseline = _place(pair.baseline, word)
            yield Finding(
                f.LOGIT_BIAS_IGNORED,
                f"the bad word {word!r} was emitted",
                token=place if _has_texts(pair.candidate) else None,
                candidate=word,
                baseline_too=baseline is not None and baseline >= 0,
            )


def _banned_ids(pair: Pair, bias: dict[str, Any]) -> Iterator[Finding | NotJudged]:
    banned = {int(token) for token, value in bias.items() if float(value) <= BANNED_AT}
    if not banned:
        return
    if pair.candidate.ids is None:
        yield NotJudged(f.LOGIT_BIAS_IGNORED, "the candidate's token ids are unknown")
        return
    emitted = [(i, token) for i, token in enumerate(pair.candidate.ids) if token in banned]
    for index, token in emitted[:1]:
        yield Finding(
            f.LOGIT_BIAS_IGNORED,
            f"token {token} was emitted at {index}; its bias is {bias[str(token)]}"
            if str(token) in bias
            else f"the banned token {token} was emitted at {index}",
            token=index,
            candidate=str(token),
            baseline_too=token in (pair.baseline.ids or ()),
        )


def _has_texts(side: Side) -> bool:
    return bool(side.tokens) and known_texts(side.tokens) is not None


def _place(side: Side, word: str) -> int | None:
    """Where the word stands: token index, or character of the text where tokens have no text.

    −1 where it does not; `None` where neither tokens nor text are known.
    """
    if _has_texts(side):
        return _spelled_at(side.tokens or (), word)
    if side.message is None:
        return None
    text = "\n".join(channels_of(side.message).values())
    bare = word.strip()
    before = rf"(?<!{LETTER})" if re.match(LETTER, bare[0]) else ""
    after = rf"(?!{LETTER})" if re.match(LETTER, bare[-1]) else ""
    match = re.search(f"{before}{re.escape(bare)}{after}", text)
    return -1 if match is None else match.start()


def _spelled_at(tokens: Sequence[Token], word: str) -> int:
    """The first run of whole tokens that spells the word, with or without a space before it."""
    spellings = {word, " " + word.lstrip()}
    for start in range(len(tokens)):
        text = ""
        for token in tokens[start:]:
            text += token.text or ""
            if text in spellings:
                return start
            if not any(spelling.startswith(text) for spelling in spellings):
                break
    return -1
