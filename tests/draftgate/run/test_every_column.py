"""Every documented column of the store has a value in some real run: none is a promise.

Five gates over paper servers fill the store: a sound pair with every kind of arm, twice, so that
there is something to compare with; a pair with most faults at once; one that drafts by n-gram; one
that the gate launches.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import draftgate.run.gate
from checks.acceptance.drafting import Drafting
from checks.vllm.ngram import ngram_proposer
from draftgate.config.config import ArmSection, Config
from draftgate.config.file import parse_config
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from reports.store.store import Store
from tests.support.columns import NOT_ON_PAPER, documented, filled
from tests.support.paper.gate import LENIENT, STAND_IN, K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import TOOL, write_sessions
from tests.support.paper.stream import Stream
from traces.importing.importer import import_files
from traces.journal.drafter_configs import DrafterConfigs
from traces.session.file import write_sessions as write_canonical

Request = dict[str, Any]

ARMS = (
    ArmSection(name="c8", concurrency=8, share=0.5),
    ArmSection(name="dated", perturb=["date_line"], share=0.5),
)


def recorded(folder: Path) -> None:
    """Sessions with tags, a sub-agent and a `tool_choice`; the last turn of each is too long."""
    raw = folder / "raw.jsonl"
    with raw.open("w", encoding="utf-8") as out:
        for number in range(24):
            messages: list[dict[str, Any]] = [{"role": "system", "content": "You code."}]
            for turn in range(5):
                ask = f"Task {number}.{turn}: " + "look around " * (4000 if turn == 4 else 1)
                messages.append({"role": "user", "content": ask})
                messages.append({"role": "assistant", "content": f"Done {number}.{turn}."})
            row = {"id": f"s{number}", "messages": messages, "tools": [TOOL]}
            out.write(json.dumps(row) + "\n")
    (file,) = import_files([raw])
    agents = {0: "main", 1: "main", 2: "a sub-agent"}
    sessions = [
        replace(
            session,
            tags={"team": "a" if place % 2 else "b"},
            turns=tuple(
                replace(turn, thread=agents[place % 3], tool_choice="auto")
                for turn in session.turns
            ),
        )
        for place, session in enumerate(file.sessions)
    ]
    write_canonical(sessions, folder / "sessions.jsonl")
    raw.unlink()


def spoil(stream: Stream, request: Request) -> None:
    """Another fault for every seventh prompt."""
    match sum(stream.prompt) % 7:
        case 0:  # a token that both distributions find unlikely, committed all the same
            distribution = stream.distributions[2]
            stream.ids[2], stream.texts[2] = (
                min(distribution, key=lambda token: distribution[token]),
                "q",
            )
            for call in stream.calls:
                call["arguments"] = '{"path": "elsewhere"}'
        case 1:
            for call in stream.calls:
                call["arguments"] = call["arguments"][:-1]
        case 2:  # the steps of the drafter do not add up
            stream.drafted, stream.accepted = stream.drafted[1:], stream.accepted[1:]
        case 3:
            stream.shows_ids = stream.shows_logprobs = False


def hangs(request: Request) -> float:
    """One prompt is not answered in time."""
    return 6.0 if "Task 3.1" in str(request["messages"][-1]["content"]) else 0.0


def sound(folder: Path) -> Iterator[GateOutcome]:
    with paper_paths() as servers:
        config = paper_config(folder, servers).model_copy(update={"arms": ARMS})
        for _ in range(2):
            yield run_gate(config, SilentReporter())


def faulty(folder: Path) -> GateOutcome:
    candidate = Faults(drafts=K, spoil=spoil, hangs=hangs, max_model_len=4096)
    baseline = Faults(version="0.31.2", max_model_len=4096)
    with paper_paths(candidate, baseline) as servers:
        config = paper_config(folder, servers, rate_margin=1e-4)
        update = {"timeout_s": 3.0, "reasoning_parser": "qwen3"}
        run = config.run.model_copy(update=update)
        return run_gate(config.model_copy(update={"run": run}), SilentReporter())


def looks_up(stream: Stream, request: Request) -> None:
    """Drafts are what vLLM's own search finds; a step without a match stands in no array."""
    propose = ngram_proposer(Drafting("ngram", K, 2, 3))
    assert propose is not None
    stream.steps, stream.drafted, stream.accepted = [1], [], []
    while (at := sum(stream.steps)) < len(stream.ids):
        draft = list(propose([*stream.prompt, *stream.ids[:at]]))
        real = stream.ids[at : at + len(draft)]
        same = [mine == chosen for mine, chosen in zip(draft, real, strict=False)]
        right = (*same, False).index(False)
        if draft:
            stream.drafted.append(len(draft))
            stream.accepted.append(right)
        stream.steps.append(min(right + 1, len(stream.ids) - at))


def by_lookup(folder: Path) -> GateOutcome:
    drafter = {"method": "ngram", "num_speculative_tokens": K}
    drafter |= {"prompt_lookup_min": 2, "prompt_lookup_max": 3}
    with paper_paths(Faults(drafts=K, spoil=looks_up)) as servers:
        config = paper_config(folder, servers)
        candidate = config.candidate.model_copy(update={"speculative_config": drafter})
        return run_gate(config.model_copy(update={"candidate": candidate}), SilentReporter())


def launched(folder: Path) -> GateOutcome:
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "llama"}')
    run = {"sessions": [str(write_sessions(folder / "few.jsonl", 4, 2))]}
    run |= {"output": str(folder / "out"), "db": str(folder / "store.duckdb")}
    environment = {"PYTHONPATH": str(STAND_IN), "PAPER_FAULT": ""}
    config = parse_config(
        {
            "run": {**run, "tool_parser": "hermes", "order": "together"},
            "server": {
                "model": str(model),
                "served_model_name": "paper",
                "flags": ["--max-model-len", "16384", "--dtype", "bfloat16"],
                "env": environment,
                "start_timeout_s": 60,
            },
            "candidate": {"speculative_config": {"method": "mtp", "num_speculative_tokens": K}},
            "policy": LENIENT,
        },
        "test",
    )
    return run_gate(config, SilentReporter())


def parsed_by_vllm(config: Config) -> DrafterConfigs:
    """What a vLLM that is not there would say of the drafter."""
    return DrafterConfigs(checkpoint={"fc_norm": True}, effective={"fc_norm": True})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns")
    recorded(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draftgate.run.gate, "read_drafter_configs", parsed_by_vllm)
        outcomes = [*sound(folder), faulty(folder), by_lookup(folder), launched(folder)]
    assert [outcome.verdict.verdict for outcome in outcomes[:2]] == ["pass", "pass"]
    assert outcomes[2].verdict.verdict == "invalid"
    assert outcomes[0].store is not None
    return outcomes[0].store


def test_every_documented_column_is_filled_by_some_run(store: Path) -> None:
    assert documented() - filled([store]) == set(NOT_ON_PAPER)


def test_a_divergence_recurs_as_its_finding_says(store: Path) -> None:
    with Store.open(store) as opened:
        rows = opened.rows(
            "select d.recurs, d.label, d.crossing, f.message, f.cause, f.boundary, f.token_index,"
            " d.fork_index from v_divergences d join findings f using (run, session, turn)"
            " where comparison = 'candidate' and f.code = 'GREEDY_DIVERGENCE'"
            " and f.arm is null and d.fork_kind = 'hard'"
        )
    again = [row for row in rows if row["recurs"] is not None]
    assert again
    for row in again:
        assert f"; {row['recurs']}: " in row["message"]
        assert row["cause"]
    assert not [row for row in rows if row["recurs"] is None and "re-runs" in row["message"]]
    here = [row for row in rows if row["token_index"] == row["fork_index"]]
    assert here
    for row in here:
        assert row["boundary"] == row["label"]
        assert row["crossing"].endswith(f">{row['label']}")
