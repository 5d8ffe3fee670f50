"""Whether a prompt already holds the answer it asks for: then its source was not what was sent."""

from collections.abc import Mapping

from traces.readers.chat.thread import Thread
from traces.session.message import Message


def holds_answer(thread: Thread, output: Message, messages: Mapping[str, Message]) -> bool:
    """Whether `output`, or a result of its calls, is in what the prompt of `thread` added last.

    Models do repeat themselves: the response before this one, which the thread has as its last
    turn, may read the same.
    """
    calls = {call.id for call in output.tool_calls}
    asked: frozenset[str] = frozenset()
    results: set[str | None] = set()
    for place in range(len(thread.mids) - 1, -1, -1):
        message = messages[thread.mids[place]]
        if message.role == "tool":
            results.add(message.tool_call_id)
        if message.role == "assistant":
            if place >= thread.kept and _says_the_same(message, output):
                return True
            asked = frozenset(call.id for call in message.tool_calls)
            break
    return not calls.isdisjoint(results - asked)


def _says_the_same(message: Message, output: Message) -> bool:
    if not (output.content or output.tool_calls):
        return False
    return message.text.strip() == output.text.strip() and [
        (call.id, call.name, call.arguments_json) for call in message.tool_calls
    ] == [(call.id, call.name, call.arguments_json) for call in output.tool_calls]
