"""What the recorded output of a turn mainly is, in one word."""

from typing import Literal

from traces.session.message import Message
from traces.session.session import Session
from traces.session.turn import Turn

TurnLabel = Literal["diff", "shell", "tool", "code", "prose", "empty", "prompt-only"]


def label_of(session: Session, turn: Turn) -> TurnLabel:
    """``diff`` and ``shell`` by the payload of a call, ``tool`` for any other call, then text."""
    output = session.output(turn)
    if output is None:
        return "prompt-only"
    if turn.diffs:
        return "diff"
    if turn.shells:
        return "shell"
    if output.tool_calls:
        return "tool"
    return _text_label(output)


def _text_label(output: Message) -> TurnLabel:
    text = output.text
    if not text.strip():
        return "empty"
    return "code" if "```" in text else "prose"


def tool_of(session: Session, turn: Turn) -> str:
    """Name of the first tool the turn called; ``-`` for none."""
    output = session.output(turn)
    return output.tool_calls[0].name if output and output.tool_calls else "-"
