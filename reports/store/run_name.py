"""What to say where a run id is not in the store."""

import difflib
from collections.abc import Sequence

from traces.errors import StoreError


def unknown_run(path: str, run: str, known: Sequence[str], matches: Sequence[str]) -> StoreError:
    """The error for `run`, which names none or several of the `known` ids (newest first)."""
    if len(matches) > 1:
        return StoreError(
            f"{path}: {run!r} begins {len(matches)} run ids", f"one of {', '.join(matches[:5])}"
        )
    if not known:
        return StoreError(f"{path}: holds no runs", "run `draftgate gate` first")
    near = difflib.get_close_matches(run, known, 3, 0.4) or list(known[:3])
    return StoreError(f"{path}: there is no run {run!r}", f"did you mean {' or '.join(near)}?")
