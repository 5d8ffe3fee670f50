"""Token texts without the secrets that are spread over them."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

Redact = Callable[[str], str]


def redacted_texts(texts: Sequence[str], redact: Redact) -> list[str]:
    """One text per token, which join to the redacted text of the whole output.

    Every character of the answer is one of the redacted text, given to the token that stood there;
    a placeholder goes to the token in which the secret began.
    """
    raw = "".join(texts)
    clean = redact(raw)
    if clean == raw:
        return list(texts)
    owner = [token for token, text in enumerate(texts) for _ in text]
    result = [""] * len(texts)
    matcher = SequenceMatcher(None, raw, clean, autojunk=False)
    for kind, begin, _, new_begin, new_end in matcher.get_opcodes():
        if kind == "equal":
            for place, character in enumerate(clean[new_begin:new_end], begin):
                result[owner[place]] += character
        else:
            result[owner[min(begin, len(owner) - 1)]] += clean[new_begin:new_end]
    return result
