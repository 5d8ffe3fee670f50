"""Whether a rebuilt prompt is as long as the one that was sent, by the recorded count of tokens.

A recording that says how many prompt tokens a response cost is a witness against its own reading: a
compaction that was missed, or messages that were lost, show as a difference of length. The server's
tokenizer is not at hand, so lengths are estimated, and only a difference by more than `FACTOR` says
something. The system prompt and the tools of an agent are often not recorded; they are taken to be
as long throughout a thread as most of its turns allow for.
"""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from traces.session.message import Message, Text
from traces.session.session import Session, SourceWarning
from traces.session.turn import Turn

PROMPT_SIZE_DIFFERS = "prompt_size_differs"

FACTOR = 1.6
"""Text of agents has 2.3 to 5.7 ASCII characters per token of the common tokenizers."""

ASCII_PER_TOKEN = 3.6
OTHERS_PER_TOKEN = 1.3
"""Characters: Chinese, Japanese and Korean have 0.8 to 2 per token."""

PER_MESSAGE = 10
"""Tokens of template around a message, at most."""

PER_ATTACHMENT = 3_000
"""Tokens of an image, at most."""

SLACK = 1_500
"""Tokens that an agent adds to one request without logging them, such as what its editor shows."""

LONGEST_SYSTEM = 60_000
"""Tokens of a system prompt and tool definitions that were not recorded, at most."""


Size = tuple[float, float]
"""Tokens, at least and at most."""

NOTHING = 0, 0.0, 0.0
"""Messages, and their tokens, at least and at most, before the first one."""


Measured = list[tuple[Turn, float, float, int]]
"""Turns whose prompt was counted: what is rebuilt of it, at least and at most, and that count."""


def _measured(session: Session) -> Measured:
    """Every turn with a recorded count; tools are not part of its size. Each message is estimated
    once."""
    messages = session.messages
    sizes: dict[str, Size] = {}
    whole: dict[str, tuple[int, float, float]] = {}
    measured: Measured = []
    for turn in session.turns:
        count, least, most = whole.get(turn.base or "", NOTHING)
        added: Sequence[str] = turn.added
        if turn.keep != count:
            added = session.prefix_ids(turn)
            count, least, most = NOTHING
        for mid in added:
            size = sizes.get(mid)
            if size is None:
                size = sizes[mid] = _message_size(messages[mid])
            least += size[0]
            most += size[1]
        usage, output = turn.usage, turn.output
        if usage is not None and usage.prompt:
            measured.append((turn, least, most, usage.prompt))
        count += len(added)
        if output is not None:
            size = sizes.get(output)
            if size is None:
                size = sizes[output] = _message_size(messages[output])
            count += 1
            least += size[0]
            most += size[1]
        # A response may be sent back with what is not in the log: reasoning.
        hidden = 0 if usage is None else usage.completion or 0
        whole[turn.turn_id] = count, least, most + hidden
    return measured


def _message_size(message: Message) -> Size:
    characters, others, attached = 0, 0.0, 0.0
    for part in message.content:
        if isinstance(part, Text):
            text = part.text
            if text.isascii():
                characters += len(text)
            else:
                others += _tokens(text)
        else:
            attached += PER_ATTACHMENT + (part.size or 0 if part.type == "blob" else 0)
    for call in message.tool_calls:
        text = call.arguments_json
        if text.isascii():
            characters += len(text)
        else:
            others += _tokens(text)
        others += _tokens(call.name)
    seen = characters / ASCII_PER_TOKEN + others
    thought = _tokens(message.reasoning) if message.reasoning else 0.0
    return seen / FACTOR, (seen + thought) * FACTOR + attached + PER_MESSAGE


def _tokens(text: str) -> float:
    if text.isascii():
        return len(text) / ASCII_PER_TOKEN
    others = len(text) - len(text.encode("ascii", "ignore"))
    return (len(text) - others) / ASCII_PER_TOKEN + others / OTHERS_PER_TOKEN


def checked_sizes(session: Session) -> Session:
    """`session` with the turns ``lossy`` whose prompt is not as long as the one that was sent, and
    a warning for each."""
    if not any(turn.usage and turn.usage.prompt for turn in session.turns):
        return session
    measured = _measured(session)
    unseen = _unseen(session, measured)
    warnings: dict[str, SourceWarning] = {}
    for turn, least, most, sent in measured:
        hidden = unseen[turn.thread]
        low, high = least + hidden[0], most + hidden[1]
        if not low - SLACK <= sent <= high + SLACK and turn.fidelity != "lossy":
            row = turn.rows[0] if turn.rows else None
            detail = f"{sent} tokens were sent, {round(low)} to {round(high)} were rebuilt"
            warnings[turn.turn_id] = SourceWarning(code=PROMPT_SIZE_DIFFERS, row=row, detail=detail)
    if not warnings:
        return session
    turns = [
        turn.replaced(fidelity="lossy") if turn.turn_id in warnings else turn
        for turn in session.turns
    ]
    return session.replaced(turns=tuple(turns), warnings=(*session.warnings, *warnings.values()))


def _unseen(session: Session, measured: Measured) -> dict[str, Size]:
    """What of the prompts of each thread is not among their messages: tools, the system prompt."""
    tools: dict[str, Size | None] = {}
    if session.system.provenance == "recorded":
        tools = {name: _toolset_size(session, name) for name in session.toolsets}
    left: dict[str, list[Size]] = defaultdict(list)
    found: dict[str, Size] = {}
    for turn, least, most, sent in measured:
        known = tools.get(turn.toolset or "") if tools else None
        if known is not None:
            found[turn.thread] = known
            continue
        fewest, greatest = sent - most, sent - least
        if fewest < 0:
            fewest = 0.0
        if greatest > LONGEST_SYSTEM:
            greatest = LONGEST_SYSTEM
        left[turn.thread].append((fewest, greatest))
    return {thread: _agreed(sizes) for thread, sizes in left.items()} | found


def _agreed(sizes: list[Size]) -> Size:
    """The stretch in which most of the sizes lie; of several, that of the earlier ones."""
    least, most = 0.0, float(LONGEST_SYSTEM)
    for low, high in sizes:
        if low <= high:
            if low > least:
                least = low
            if high < most:
                most = high
    if least <= most:
        return least, most
    ends: list[tuple[float, float, int]] = []
    for number, (least, most) in enumerate(sizes):
        if least <= most:
            weight = 1 + 2.0 ** -min(number + 2, 40)
            ends += [(least, -weight, number), (most, weight, number)]
    best, inside = 0.0, 0.0
    agreed: Size = (0.0, LONGEST_SYSTEM)
    ends.sort()
    for place, (at, weight, _) in enumerate(ends):
        inside -= weight
        if weight < 0 and inside > best:
            best, agreed = inside, (at, ends[place + 1][0])
    return agreed


def _toolset_size(session: Session, name: str) -> Size | None:
    """Tokens of recorded tools; None where they were not recorded."""
    toolset = session.toolsets[name]
    if toolset.provenance != "recorded":
        return None
    tokens = _tokens(msgspec.json.encode(toolset.tools).decode()) if toolset.tools else 0.0
    return tokens / FACTOR / 2, tokens * FACTOR
