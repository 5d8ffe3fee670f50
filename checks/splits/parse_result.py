"""What a parser made of an output: content, reasoning and calls; and whether two are the same."""

from dataclasses import dataclass, replace
from typing import Any

from checks.calls.calls import same_arguments


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The client's view of one parse. `calls` are (name, argument text); a failed parse has only
    `error`. `spaced`: white space in `content` counts, for it is no text but a value, written out.
    """

    content: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    error: str | None = None
    spaced: bool = False

    def same(self, other: "ParseResult") -> bool:
        """Equal text, trailing white space aside; equal names and typed arguments, in order."""
        return (
            self.error == other.error
            and self.content.rstrip() == other.content.rstrip()
            and self.reasoning.rstrip() == other.reasoning.rstrip()
            and len(self.calls) == len(other.calls)
            and all(
                own_call[0] == other_call[0] and same_arguments(own_call[1], other_call[1])
                for own_call, other_call in zip(self.calls, other.calls, strict=True)
            )
        )

    def same_but_for_space(self, other: "ParseResult") -> bool:
        """Equal where white space in content and reasoning does not count."""
        return _spaceless(self).same(_spaceless(other))

    def difference(self, other: "ParseResult") -> str:
        """In what this result differs from the reference `other`, in a few words."""
        if self.error != other.error:
            return f"raises {self.error}" if self.error else "raises no error"
        if len(self.calls) < len(other.calls):
            return "calls lost"
        if len(self.calls) > len(other.calls):
            return "calls added"
        for own_call, other_call in zip(self.calls, other.calls, strict=True):
            if own_call[0] != other_call[0]:
                return "another name"
            if not same_arguments(own_call[1], other_call[1]):
                return "other arguments"
        if self.same_but_for_space(other):
            return "other white space"
        if self.reasoning.rstrip() != other.reasoning.rstrip():
            return "other reasoning"
        return "other content"

    def as_json(self) -> dict[str, Any]:
        """For printing and case files."""
        result: dict[str, Any] = {
            "content": self.content,
            "reasoning": self.reasoning,
            "calls": [{"name": name, "arguments": text} for name, text in self.calls],
        }
        return result if self.error is None else {"error": self.error}


def _spaceless(result: ParseResult) -> ParseResult:
    if result.spaced:
        return result
    content, reasoning = ("".join(text.split()) for text in (result.content, result.reasoning))
    return replace(result, content=content, reasoning=reasoning)
