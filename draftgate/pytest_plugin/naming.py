"""Short readable names of turns, which stand in test ids.

    claude-code-03-t0004-read_file        chat-ops-s2-t0001-prose

File, session (where a file holds several), turn, and what the answer is: the tool it calls, or its
kind. Only letters, digits, ``.``, ``_`` and ``-`` are kept, so that recorded text cannot act.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from draftgate.run.plan import PlannedSession
from traces.session.turn_label import label_of, tool_of

LONGEST = 28


def slug(text: str) -> str:
    """`text` as a part of a name."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-")[:LONGEST] or "x"


def unique(names: Sequence[str]) -> list[str]:
    """The same names; one that came before gets a number."""
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name}~{seen[name]}")
    return result


def turn_names(sessions: Sequence[PlannedSession]) -> Iterator[str]:
    """A name for each job of each session, in order."""
    files = Counter(planned.session.source.file for planned in sessions)
    place: Counter[str] = Counter()
    for planned in sessions:
        session, file = planned.session, planned.session.source.file
        place[file] += 1
        stem = slug(PurePath(file).name.split(".")[0])
        origin = stem if files[file] == 1 else f"{stem}-s{place[file]}"
        for job in planned.jobs:
            turn = session.turn(job.turn)
            tool = tool_of(session, turn)
            what = label_of(session, turn) if tool == "-" else tool
            yield f"{origin}-{slug(job.turn)}-{slug(what)}"
