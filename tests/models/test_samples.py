"""The committed sample sessions are what the generator writes, and as many as the gate needs."""

from collections import Counter

from models import samples
from traces.importing.importer import import_files


def test_committed_samples_are_what_the_generator_writes():
    made = dict(samples.files())
    committed = {p.name: p.read_text(encoding="utf-8") for p in samples.FOLDER.iterdir()}
    assert committed.keys() == made.keys()
    for name, text in made.items():
        assert committed[name] == text, f"{name}: run `python -m models.samples`"


def test_samples_are_small_enough_to_ship():
    assert sum(p.stat().st_size for p in samples.FOLDER.iterdir()) <= 3_000_000


def test_importers_find_enough_sessions_turns_and_calls():
    formats: Counter[str] = Counter()
    sessions = turns = offered = calling = 0
    for file in import_files([str(p) for p in sorted(samples.FOLDER.iterdir())]):
        assert file.format is not None
        formats[str(file.format)] += 1
        for session in file.sessions:
            sessions += 1
            for turn in session.turns:
                turns += turn.replayable
                toolset = session.toolsets.get(turn.toolset or "")
                offered += toolset is not None and bool(toolset.tools)
                output = session.output(turn)
                calling += output is not None and bool(output.tool_calls)
    assert len(formats) == 3
    assert sessions >= 24
    assert turns >= 240
    assert offered >= 240
    assert calling >= 200


def test_samples_are_held_out():
    """No training seed can start as the seeds of the samples do."""
    from models import drafting, target

    phases = [*target.PHASES, *drafting.PHASES]
    seeds = [f"{seed}-{p.name}" for seed in ("train", "drafter") for p in phases]
    assert not any(seed.startswith(samples.SEED) for seed in [*seeds, "tokenizer"])
