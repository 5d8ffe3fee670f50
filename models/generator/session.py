"""One session: a seeded story of user, assistant and tool messages.

Shape of a session (OpenAI chat messages):

    {"id": "api-00017", "style": "api", "tools": [...], "observed": false, "messages": [
      {"role": "system", "content": "Coding API. Use tools."},
      {"role": "user", "content": "Please read src/a.py"},
      {"role": "assistant", "content": "...", "tool_calls": [{"id": ..., "function": {...}}]},
      {"role": "tool", "tool_call_id": ..., "content": "..."}], "determined": [2]}

`determined` lists indices of assistant messages whose calls follow from the text before them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from models.generator import prose
from models.generator.lexicon import Lexicon
from models.generator.styles import STYLES, Call, Style
from models.generator.tools import observed

Json = dict[str, Any]


@dataclass(slots=True)
class Session:
    """A session under construction; `record()` is the finished form."""

    lex: Lexicon
    style: Style
    thinks: bool
    messages: list[Json] = field(default_factory=list)
    determined: list[int] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def reply(self, text: str, about: str) -> None:
        self.messages.append(self._assistant(text, about))

    def act(
        self, text: str, about: str, results: list[tuple[Call, str]], *, determined: bool
    ) -> None:
        """One assistant message with one or more calls, and the answers of the tools."""
        message = self._assistant(text, about)
        message["tool_calls"] = []
        answers = []
        for (name, arguments), result in results:
            key = f"call_{self.lex.hexid(12)}"
            self.calls.append((name, arguments))
            function = {"name": name, "arguments": arguments}
            message["tool_calls"].append({"id": key, "type": "function", "function": function})
            answers.append({"role": "tool", "tool_call_id": key, "content": result})
        if determined:
            self.determined.append(len(self.messages))
        self.messages += [message, *answers]

    def _assistant(self, text: str, about: str) -> Json:
        message: Json = {"role": "assistant", "content": text}
        if self.thinks and self.lex.chance(0.7):
            message["reasoning_content"] = prose.thought(self.lex, about)
        return message

    def record(self, key: str, as_observed: bool, with_system: bool) -> Json:
        """The finished session; `as_observed` gives the schemas an importer would make up."""
        shift = 0
        messages = list(self.messages)
        if with_system:
            messages.insert(0, {"role": "system", "content": self.style.system(self.thinks)})
            shift = 1
        definitions = observed(self.calls) if as_observed else self._offered()
        return {
            "id": key,
            "style": self.style.name,
            "observed": as_observed,
            "tools": definitions,
            "messages": messages,
            "determined": [i + shift for i in self.determined],
        }

    def _offered(self) -> list[Json]:
        """The used tools and a few others, in the order of the agent."""
        used = {name for name, _ in self.calls}
        return [
            d
            for d in self.style.definitions
            if d["function"]["name"] in used or self.lex.chance(0.35)
        ]


Story = Callable[[Session], None]


def session(
    seed: str,
    stories: tuple[Story, ...],
    parts: int,
    style: type[Style] | None = None,
    bare: bool | None = None,
    offers: bool = True,
) -> Json:
    """`parts` stories, one after the other, written in one agent's manner.

    `bare` sessions are as recordings without schemas (and, for the editor agent, without a system
    prompt) come back from an importer; by default half of the agents that record so. Without
    `offers`, sessions that are not bare list no tools, which keeps early training rows short.
    """
    lex = Lexicon(random.Random(seed))
    manner = style or lex.rng.choice(STYLES)
    made = Session(lex, manner(lex), thinks=lex.chance(0.35))
    for _ in range(parts):
        lex.rng.choice(stories)(made)
    if bare is None:
        bare = manner.name in ("editor", "issue") and lex.chance(0.5)
    with_system = not (bare and manner.name == "editor")
    record = made.record(f"{manner.name}-{seed}", bare, with_system)
    return record if offers or bare else record | {"tools": []}
