"""A vLLM command line, read as vLLM's own parser reads it."""

from collections.abc import Sequence

SECRET_FLAGS = frozenset({"--api-key", "--hf-token"})


def parse_flags(arguments: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Flag -> its values; ``--a_b c``, ``--a-b c`` and ``--a-b=c`` are the same."""
    flags: dict[str, tuple[str, ...]] = {}
    name = ""
    for argument in arguments:
        if argument.startswith("--"):
            name, equals, value = argument.partition("=")
            name = "--" + name[2:].replace("_", "-")
            flags[name] = (value,) if equals else ()
        elif name:
            flags[name] = (*flags[name], argument)
    return flags


def without_secrets(arguments: Sequence[str]) -> tuple[str, ...]:
    """The command line with ``***`` in place of keys and tokens."""
    shown: list[str] = []
    secret = False
    for argument in arguments:
        if argument.startswith("--"):
            name, equals, _ = argument.partition("=")
            secret = "--" + name[2:].replace("_", "-") in SECRET_FLAGS
            shown.append(f"{name}=***" if secret and equals else argument)
        else:
            shown.append("***" if secret else argument)
    return tuple(shown)


def logprobs_mode(command: Sequence[str] | None) -> str | None:
    """What log probabilities a server with this command line reports (vLLM's default: raw ones);
    `None` where its command line is not known."""
    if command is None:
        return None
    return next(iter(parse_flags(command).get("--logprobs-mode", ())), "raw_logprobs")
