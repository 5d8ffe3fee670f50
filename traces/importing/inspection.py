"""What is in recorded files: formats, turns, tools, tokens, context lengths."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from traces.bands import BANDS, band_of
from traces.collection import collector_paused
from traces.importing.importer import ImportedFile
from traces.session.session import Session
from traces.session.turn_label import label_of
from traces.session.turn_size import TokenCounter, TurnSizer, estimated_tokens


@dataclass(slots=True)
class FileFacts:
    """Facts of one file. Token counts are `estimated` unless a tokenizer was given.

    `prompt_tokens` sums what a replay would send; `unique_tokens` counts each message once, which
    is about what a prefix cache leaves to compute.
    """

    file: ImportedFile
    estimated: bool
    versions: Counter[str] = field(default_factory=Counter)
    templates: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    fidelity: Counter[str] = field(default_factory=Counter)
    reasoning: Counter[str] = field(default_factory=Counter)
    not_replayable: Counter[str] = field(default_factory=Counter)
    bands: Counter[str] = field(default_factory=Counter)
    tool_schemas: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    output_tokens: int = 0
    unique_tokens: int = 0
    longest_prompt: int = 0

    def add(self, session: Session, sizer: TurnSizer) -> None:
        """Count one session."""
        source = session.source
        version = " ".join(filter(None, (source.tool, source.tool_version)))
        self.versions[version or source.format_version or "unknown"] += 1
        self.templates[session.system.name] += 1
        self.tags.update(f"{key}={value}" for key, value in session.tags.items())
        self.tool_schemas.update(t.provenance for t in session.toolsets.values())
        for turn, prompt, output in sizer.sizes(session):
            self.labels[label_of(session, turn)] += 1
            self.fidelity[turn.fidelity] += 1
            self.reasoning[turn.reasoning] += 1
            if turn.model:
                self.models[turn.model] += 1
            answer = session.output(turn)
            self.tools.update(call.name for call in (answer.tool_calls if answer else ()))
            self.output_tokens += output
            if turn.skip_reason:
                self.not_replayable[turn.skip_reason] += 1
                continue
            self.bands[band_of(prompt)] += 1
            self.prompt_tokens += prompt
            self.longest_prompt = max(self.longest_prompt, prompt)
        self.unique_tokens += sizer.total

    def as_json(self) -> dict[str, Any]:
        """The file's entry in ``draftgate inspect --json``."""
        named = {
            name: dict(getattr(self, name).most_common())
            for name in (
                "versions",
                "templates",
                "models",
                "tools",
                "labels",
                "fidelity",
                "reasoning",
                "not_replayable",
                "tool_schemas",
                "tags",
            )
        }
        tokens = {
            "estimated": self.estimated,
            "prompt": self.prompt_tokens,
            "output": self.output_tokens,
            "unique": self.unique_tokens,
            "longest_prompt": self.longest_prompt,
        }
        context = {band: self.bands[band] for band in BANDS if self.bands[band]}
        scores = self.file.scores
        return {
            **self.file.as_json(),
            "scores": scores,
            **named,
            "tokens": tokens,
            "context": context,
        }


@collector_paused()
def inspect_file(file: ImportedFile, count: TokenCounter | None = None) -> FileFacts:
    """Read a file to its end and count what is in it; one session is in memory at a time."""
    facts = FileFacts(file, estimated=count is None)
    sizer = TurnSizer(count or estimated_tokens)
    for session in file.sessions:
        facts.add(session, sizer)
    return facts
