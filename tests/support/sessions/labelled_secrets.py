"""Text of coding traffic, made up and labeled: what of it is secret, and what only looks so.

`labelled_secrets_fixed.jsonl` was written before any rule that it measures was changed; the open
half may grow. A ``§`` in them keeps scanners of repositories from taking a made-up token
for a real one; it is not part of the text.

    python -m tests.support.sessions.labelled_secrets
"""

import json
from dataclasses import dataclass
from pathlib import Path

from traces.redaction.redaction import Redactor

FOLDER = Path(__file__).parent
BREAK = "§"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text and the secrets in it; none: it must stay byte for byte."""

    text: str
    secrets: tuple[str, ...]


def labelled(name: str) -> list[Labelled]:
    """The texts of one half, ``fixed`` or ``open``."""
    found = []
    for line in (
        (FOLDER / f"labelled_secrets_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ):
        row = json.loads(line.replace(BREAK, ""))
        found.append(Labelled(row["text"], tuple(row.get("secrets", ()))))
    return found


@dataclass(frozen=True, slots=True)
class Measured:
    """`missed` are texts in which a secret survived, `harmed` look-alikes that were changed."""

    secrets: int
    look_alikes: int
    missed: list[str]
    harmed: list[str]

    @property
    def recall(self) -> float:
        """Share of the texts with secrets in which none survived."""
        return 1 - len(self.missed) / self.secrets

    @property
    def precision(self) -> float:
        """Share of the texts that were changed rightly."""
        hit = self.secrets - len(self.missed)
        return hit / (hit + len(self.harmed))


def measured(name: str) -> Measured:
    """What the rules do to one half; each text by a redactor of its own."""
    texts = labelled(name)
    secret = [text for text in texts if text.secrets]
    plain = [text for text in texts if not text.secrets]
    missed = [text.text for text in secret if any(s in Redactor()(text.text) for s in text.secrets)]
    harmed = [text.text for text in plain if Redactor()(text.text) != text.text]
    return Measured(len(secret), len(plain), missed, harmed)


if __name__ == "__main__":
    for half in ("fixed", "open"):
        found = measured(half)
        print(
            f"{half}: {found.secrets} secrets, recall {found.recall:.3f}; "
            f"{found.look_alikes} look-alikes, precision {found.precision:.3f}"
        )
        for text in found.missed:
            print("  missed", json.dumps(text))
        for text in found.harmed:
            print("  harmed", json.dumps(text))
