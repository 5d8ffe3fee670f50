"""The labeler on everything that models answered in the recordings of every format."""

from collections import Counter

from tests.support.sessions.at_hand import ROOT, recordings
from traces.boundaries import Labeller, Span, label, label_arguments
from traces.importing.importer import import_files

SAMPLES = ROOT / "traces" / "samples"


def test_every_recorded_answer_is_covered() -> None:
    mix: Counter[str] = Counter()
    formats = set()
    for file in import_files([*recordings("*/**/*"), SAMPLES]):
        for session in file.sessions:
            formats.add(file.format)
            for turn in session.turns:
                answer = session.output(turn)
                if answer is None:
                    continue
                found = [(answer.text, label(answer.text))] if answer.text else []
                for call in answer.tool_calls:
                    arguments = call.arguments_json
                    found.append((arguments, label_arguments(call.name, arguments)))
                for text, spans in found:
                    assert "".join(text[s.start : s.end] for s in spans) == text
                    mix.update({span.label: span.end - span.start for span in spans})
    assert len(formats) > 10
    assert {"prose", "code", "shell.command", "tool.key", "tool.string", "diff.add"} <= set(mix)
    assert mix["tool.string"] < mix["code"]  # what strings hold is found


def test_recorded_answers_stream_to_the_same_labels() -> None:
    def kinds(spans: list[Span]) -> list[tuple[str, str | None]]:
        return [(s.label, s.language) for s in spans for _ in range(s.start, s.end)]

    seen = 0
    for file in import_files([*recordings("mini-swe-agent/*"), SAMPLES]):
        for session in file.sessions:
            for turn in session.turns:
                answer = session.output(turn)
                if answer is None or not answer.text:
                    continue
                labeller, spans, text = Labeller("plain"), [], answer.text
                for at in range(0, len(text), 7):
                    spans += labeller.feed(text[at : at + 7])
                spans += labeller.close()
                assert kinds(spans) == kinds(label(text))
                seen += 1
    assert seen > 20
