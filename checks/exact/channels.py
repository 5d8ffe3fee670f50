"""The three channels a client reads: content, reasoning, call arguments."""

from checks.formats import json_values
from checks.formats.json_values import NotJson
from checks.pair import Message

CONTENT, REASONING, ARGUMENTS = "content", "reasoning", "arguments"
CHANNELS = (CONTENT, REASONING, ARGUMENTS)


def channels_of(message: Message) -> dict[str, str]:
    """The text of each channel. Arguments are their strings, so that escapes do not matter."""
    arguments = "\n".join(s for call in message.calls for s in strings_of(call.arguments))
    return {CONTENT: message.content, REASONING: message.reasoning, ARGUMENTS: arguments}


def strings_of(arguments: str) -> list[str]:
    """The strings of an argument object, keys included; text that is no JSON is one string."""
    try:
        return list(json_values.strings(json_values.parse(arguments)))
    except NotJson:
        return [arguments]
