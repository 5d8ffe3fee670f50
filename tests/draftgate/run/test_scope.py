"""The scope of a gate run over paper servers: stored sums that the captures give again."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from reports.formats.json_ import as_object
from reports.formats.markdown import render_markdown
from reports.formats.terminal import print_details, print_summary
from reports.sql.query import answer
from reports.store.store import Store
from reports.store.summary import read_summary
from tests.support.paper.gate import K, paper_config, paper_paths, rows
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions
from tests.support.paper.stream import Stream, parse


def near_tie(stream: Stream, request: dict[str, object]) -> None:
    """The second best piece in place of the best, where both are all but as likely, in the text
    too: what another kernel's rounding does."""
    if stream.calls:
        return
    for place, listed in enumerate(stream.distributions[:-1]):
        best, second = list(listed)[:2]
        if listed[best] - listed[second] < 0.3 and stream.ids[place] == best:
            stream.ids[place], stream.texts[place] = second, SECOND[second]
            swapped = {second: listed[best], best: listed[second]}
            stream.distributions[place] = {**swapped, **dict(list(listed.items())[2:])}
            stream.content = parse("".join(stream.texts[:-1]))[0]
            return


SECOND: dict[int, str] = {}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    folder = tmp_path_factory.mktemp("scope")
    write_sessions(folder / "sessions.jsonl", 12, 4)
    with paper_paths(Faults(drafts=K, spoil=near_tie)) as servers:
        SECOND.update(servers[0].vocabulary.pieces)
        return run_gate(paper_config(folder, servers, min_turns=4), SilentReporter())


def of(outcome: GateOutcome, dimension: str) -> dict[str, int]:
    found = rows(outcome, f"from scope where dimension = '{dimension}'")
    return {row["slice"]: row["tokens"] for row in found}


def test_every_dimension_holds_the_tokens_that_were_captured(outcome: GateOutcome) -> None:
    captured = rows(
        outcome,
        "select coalesce(label, 'unknown') as label, count(*) as n from tokens "
        "where path = 'candidate' and arm = 'main' group by all",
    )
    labels = {row["label"]: row["n"] for row in captured}
    assert of(outcome, "boundary") == labels
    total = sum(labels.values())
    assert of(outcome, "decoding") == {"greedy": total}
    assert of(outcome, "context") == {"0-8k": total}
    assert of(outcome, "grammar") == {"free": total}
    assert sum(of(outcome, "text").values()) == total > 0
    shares = rows(outcome, "select dimension, sum(share) as whole from scope group by all")
    assert all(row["whole"] == pytest.approx(1) for row in shares)


def test_text_behind_near_ties_is_compared_with_its_own_tokens(outcome: GateOutcome) -> None:
    forked = rows(
        outcome,
        "select count(*) as n, sum(tokens)::bigint as tokens from pairs "
        "where comparison = 'candidate' and fork_index is not null",
    )[0]
    assert forked["n"] > 2
    assert of(outcome, "text")["joined"] == forked["tokens"]
    assert "unseen" not in of(outcome, "text")
    assert outcome.codes == {}


def test_every_report_says_it(outcome: GateOutcome) -> None:
    said = outcome.verdict.scope
    assert said.endswith("0% of that text no check saw")
    assert outcome.as_json()["scope"] == said
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        summary = read_summary(store, outcome.run)
        assert answer(store, "scope").rows.num_rows == len(summary["scope"]) > 4
    assert summary.run["scope"] == said
    assert said in render_markdown(summary)
    written = json.loads(json.dumps(as_object(summary)))
    assert written["run"]["scope"] == said
    assert {row["dimension"] for row in written["sections"]["scope"]} == {
        "decoding",
        "context",
        "boundary",
        "grammar",
        "text",
    }
    console = Console(width=1000)
    with console.capture() as shown:
        print_summary(summary, console)
    assert f"scope: {said[:40]}" in shown.get()
    with console.capture() as shown:
        print_details(summary, console)
    assert said in shown.get()
    assert outcome.report is not None
    page = outcome.report.read_text(encoding="utf-8")
    assert "What the run looked at: " in page
    assert 'id="scope"' in page


def test_text_that_no_check_saw_is_counted(tmp_path: Path) -> None:
    """A candidate that sends no texts with its tokens: behind a fork nothing is left to compare."""

    def mute(stream: Stream, request: dict[str, object]) -> None:
        near_tie(stream, request)
        stream.shows_logprobs = False

    write_sessions(tmp_path / "sessions.jsonl", 4, 4)
    with paper_paths(Faults(drafts=K, spoil=mute)) as servers:
        SECOND.update(servers[0].vocabulary.pieces)
        config = paper_config(tmp_path, servers)
        config = config.model_copy(
            update={"run": config.run.model_copy(update={"allow_missing": True})}
        )
        outcome = run_gate(config, SilentReporter())
    text = of(outcome, "text")
    assert text["unseen"] > 0
    assert outcome.verdict.scope.endswith("100% of that text no check saw")


def test_regret_by_place_covers_the_tokens_up_to_each_fork(outcome: GateOutcome) -> None:
    """Every token has one boundary and one place in its step; forks are counted where they are."""
    found = rows(
        outcome,
        "select dimension, sum(tokens)::bigint as tokens, sum(forks)::bigint as forks "
        "from regret_slices group by all order by dimension",
    )
    by = {row["dimension"]: (row["tokens"], row["forks"]) for row in found}
    (wanted,) = rows(
        outcome,
        "select sum(coalesce(fork_index + 1, tokens))::bigint as tokens, "
        "count(fork_index) as forks from pairs where comparison = 'candidate'",
    )
    assert by["boundary"] == by["step"] == (wanted["tokens"], wanted["forks"])
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        places = answer(store, "regret_by_place").rows.to_pylist()
    assert {row["slice"] for row in places} >= {"prefill", "accepted", "recovered", "bonus"}
    assert outcome.report is not None
    assert 'id="places"' in outcome.report.read_text(encoding="utf-8")
