"""Markdown, JUnit, JSON, GitHub and terminal: the same numbers, and deaf to hostile text."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as xml

import jsonschema
import pytest
import xmlschema
from rich.console import Console

from reports.formats.github import render_github
from reports.formats.html import render_html
from reports.formats.json_ import as_object, render_json, report_schema
from reports.formats.junit import TURN_FAMILIES, render_junit
from reports.formats.markdown import MOST_LINES, code, render_markdown
from reports.formats.terminal import print_details, print_summary
from reports.number import interval, number
from reports.store.store import Store
from reports.store.summary import Summary, read_summary
from tests.support.synthetic_run import synthetic_run

HOSTILE = '`|</pre><img src=x> @team [a](javascript:b)\x1b[2J\u202e%0A::error::x\n## big\n"&]]>'


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with Store.in_memory() as store:
        store.load(synthetic_run("good", sessions=12, tokens=200))
        store.load(synthetic_run("bad", tokens=200, verdict="fail", text=HOSTILE, day=1))
        store.load(synthetic_run("open", verdict="inconclusive", day=2))
        store.load(synthetic_run("large", sessions=60, turns=6, tokens=20, verdict="fail", day=3))
        yield store


def terminal(summary: Summary, width: int = 200, *, full: bool = False) -> str:
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=width))
    if full:
        print_details(summary, Console(file=out, width=width))
    return out.getvalue()


def test_the_same_numbers_stand_in_every_report(store: Store) -> None:
    summary = read_summary(store, "good")
    (whole,) = summary["acceptance"]
    speed = next(r for r in summary["speedup"] if r["context_band"] is None)
    bound = summary["bounds"][0]
    texts = {
        "html": re.sub(r"<[^>]+>", "", render_html(store, summary)),
        "markdown": render_markdown(summary),
        "terminal": terminal(summary, full=True),
        "junit": render_junit(store, summary),
        "github": render_github(summary).replace("%25", "%"),
    }
    for name, text in texts.items():
        assert number(whole["acceptance_length"]) in text, name
        assert interval(whole["low"], whole["high"]) in text, name
        assert interval(bound["low"], bound["high"], bound["unit"]) in text, name
        assert number(bound["value"], bound["unit"]) in text, name
        assert number(speed["tpot_speedup"], "×") in text, name
        assert number(speed["token_speedup"], "×") in text, name
        assert interval(speed["token_low"], speed["token_high"], "×") in text, name
    sections = json.loads(render_json(summary))["sections"]
    assert sections["acceptance"][0]["acceptance_length"] == whole["acceptance_length"]
    assert sections["bounds"][0]["high"] == bound["high"]


def test_every_report_shows_what_exact_and_rebuilt_prompts_show_alone(store: Store) -> None:
    summary = read_summary(store, "good")
    said = "regret_rate inconclusive"
    for text in (render_markdown(summary), terminal(summary, full=True)):
        assert f"Exact and rebuilt prompts alone: {said}" in text
    for text in (render_junit(store, summary), render_github(summary)):
        assert "exact and rebuilt prompts alone" in text
        assert said in text
    assert "regret of exact and rebuilt prompts alone" in render_html(store, summary)
    assert [b["turns"] for b in as_object(summary)["sections"]["faithful"]] == ["faithful"]
    assert {b["turns"] for b in summary["bounds"]} == {"all"}
    assert store.rows("select bounds_open from v_verdict where run = 'good'") == [
        {"bounds_open": 0}
    ]


@pytest.mark.parametrize("run", ["good", "bad", "open", "large"])
def test_the_verdict_and_the_codes_stand_in_every_report(store: Store, run: str) -> None:
    summary = read_summary(store, run)
    verdict = summary.run["verdict"]
    junit = render_junit(store, summary)
    texts = [
        render_html(store, summary).lower(),
        render_markdown(summary),
        terminal(summary).lower(),
        render_github(summary),
        render_json(summary),
        *([junit] if verdict != "pass" else []),
    ]
    for text in texts:
        assert verdict in text
    for code_name in summary.codes:
        assert all(code_name.lower() in text.lower() for text in texts)


def test_markdown_fits_a_comment_and_recorded_text_stays_in_code_spans(store: Store) -> None:
    for run in ("good", "bad", "large"):
        text = render_markdown(read_summary(store, run))
        assert len(text.splitlines()) <= MOST_LINES
    text = render_markdown(read_summary(store, "bad"))
    assert "\n## big" not in text
    assert "\x1b" not in text
    outside = re.sub(r"(`+) ?.*? ?\1(?!`)", "", text)
    for piece in ("@team", "<img", "](", "::error"):
        assert piece not in outside


@pytest.mark.parametrize("text", ["`", "``", "a`b", "|", "", "\n", "`` ` ```"])
def test_a_code_span_cannot_be_left(text: str) -> None:
    span = code(text)
    fence = re.match("`+", span)
    assert fence
    assert span.endswith(fence[0])
    inside = span[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inside)
    assert "|" not in inside
    assert "\n" not in inside


@pytest.mark.parametrize("run", ["good", "bad", "open", "large"])
def test_junit_follows_the_common_schema(store: Store, run: str) -> None:
    """Jenkins' own XSD (see its head), and counts that add up."""
    schema = xmlschema.XMLSchema(Path(__file__).with_name("junit-10.xsd"))
    text = render_junit(store, read_summary(store, run))
    schema.validate(text)
    root = xml.fromstring(text.encode())
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.attrib[key]) == sum(c.find(tag) is not None for c in cases)
        for case in cases:
            assert len(case.findall("failure") + case.findall("error")) <= 1
        names = [(c.attrib["classname"], c.attrib["name"]) for c in cases]
        assert len(names) == len(set(names))


def test_the_schema_refuses_what_is_no_junit() -> None:
    schema = xmlschema.XMLSchema(Path(__file__).with_name("junit-10.xsd"))
    assert not schema.is_valid('<testsuites><testsuite name="a" tests="1"/></testsuites>')


def test_junit_has_a_case_per_turn_and_family_and_names_the_case_file(store: Store) -> None:
    root = xml.fromstring(render_junit(store, read_summary(store, "large")).encode())
    turns = root.find("testsuite[@name='turns']")
    assert turns is not None
    assert turns.attrib["tests"] == str(60 * 6 * len(TURN_FAMILIES) + 60)
    assert turns.attrib["skipped"] == "60"
    (failure,) = turns.iter("failure")
    assert failure.attrib["type"] == "GREEDY_DIVERGENCE"
    assert "cases/session-00-t001.case.json" in (failure.text or "")


def test_an_undecided_bound_is_a_failure_of_its_own_type(store: Store) -> None:
    root = xml.fromstring(render_junit(store, read_summary(store, "open")).encode())
    (failure,) = [f for s in root if s.attrib["name"] == "bounds" for f in s.iter("failure")]
    assert failure.attrib["type"] == "inconclusive"
    assert failure.text == "8,000 more tokens"


def test_github_annotations_are_one_line_each(store: Store) -> None:
    lines = render_github(read_summary(store, "bad")).splitlines()
    assert lines[0].startswith(
        "::error title=draftgate%3A fail::not safe: GREEDY_DIVERGENCE x 1%0A"
    )
    assert len(lines) == 3
    assert lines[1].startswith("::notice title=draftgate%3A numbers::acceptance length ")
    assert lines[2].startswith("::error title=draftgate GREEDY_DIVERGENCE,file=cases/")
    assert all(line.startswith("::") for line in lines)
    assert "%250A" in lines[0]
    assert "\x1b" not in "".join(lines)


def test_json_follows_its_published_schema(store: Store) -> None:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for run in ("good", "bad", "open", "large"):
        document = json.loads(render_json(read_summary(store, run)))
        jsonschema.validate(document, schema)
    broken = as_object(read_summary(store, "good"))
    broken["run"]["verdict"] = "maybe"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_the_published_schema_is_the_one_that_is_shipped(root: Path) -> None:
    published = (root / "docs" / "formats" / "report.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == report_schema()


def test_the_terminal_gets_no_control_characters(store: Store) -> None:
    text = terminal(read_summary(store, "bad"), 100)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    assert "\\x1b[2J" in text


def test_wrapped_reasons_of_the_terminal_hang_below_their_first_word(store: Store) -> None:
    summary = read_summary(store, "good")
    long = "word " * 30
    run = {**summary.run, "reasons": [long], "scope": long, "notes": [long]}
    lines = terminal(Summary(run, summary.sections), 60).splitlines()
    begins = [line[: len(line) - len(line.lstrip(" •Note:"))] for line in lines if "word" in line]
    assert begins == [*["  "] * 2, "  • ", *["    "] * 2, "Note: ", *["      "] * 2]


BOUNDARIES = 15
"""So many kinds of text the boundary labeler knows in one run of coding agents."""


@pytest.mark.parametrize("run", ["good", "bad", "open", "large"])
def test_the_terminal_summary_fits_one_screen(store: Store, run: str) -> None:
    """About 40 lines of 100 columns, with the two paths `gate` prints below it."""
    summary = read_summary(store, run)
    row = summary["boundaries"][0]
    long = "CODE x 1: " + "word " * 100
    sections = {
        **summary.sections,
        "boundaries": [{**row, "boundary": f"kind.{i}"} for i in range(BOUNDARIES)],
    }
    noted = {**summary.run, "reasons": [long] * 9, "notes": [long] * 9}
    lines = terminal(Summary(noted, sections), 100).splitlines()
    assert len(lines) + 2 <= 43
    assert max(map(len, lines)) <= 100
    assert sum("kind." in line for line in lines) == BOUNDARIES
    assert any("and 6 more reasons" in line for line in lines)


def test_the_details_count_flaws_of_both_paths_and_list_only_the_others(store: Store) -> None:
    summary = read_summary(store, "bad")
    lone = next(f for f in summary["findings"] if f["severity"] == "error")
    shared = {**lone, "severity": "warning", "baseline_too": True, "message": "a shared flaw"}
    mixed = Summary(summary.run, {**summary.sections, "findings": [lone, shared, shared]})
    text = terminal(mixed, full=True)
    assert f"not count against it: {lone['code']} x 2" in text
    assert "a shared flaw" not in text
    assert "Findings (1)" in text
    for other in (render_markdown(mixed), render_github(mixed)):
        assert "a shared flaw" not in other


def test_the_details_name_bounds_that_do_not_apply(store: Store) -> None:
    text = terminal(read_summary(store, "good"), 80, full=True)
    assert re.search(r"do not apply: \w+", text)
    assert "not_applicable" not in text


def test_the_terminal_sums_up_further_arms(store: Store) -> None:
    """Their open and broken bounds are listed among the details; those that pass are one line."""
    summary = read_summary(store, "good")
    lone = summary["bounds"][0]
    of_arms = [
        {**lone, "name": f"{name}[{arm}]", "state": state}
        for name, arm, state in (
            ("hard", "c16", "pass"),
            ("rate", "c16", "not_applicable"),
            ("hard", "cold", "pass"),
            ("rate", "cold", "inconclusive"),
        )
    ]
    sections = {**summary.sections, "bounds": [*summary["bounds"], *of_arms]}
    assert "Further arms: c16 pass, cold inconclusive" in terminal(Summary(summary.run, sections))
    text = terminal(Summary(summary.run, sections), 80, full=True)
    assert "rate[cold]" in text
    assert "hard[c16]" not in text
    assert "rate[c16]" not in text


def test_numbers_that_are_absent_say_so() -> None:
    assert number(None) == number(None, "share") == interval(None, None) == "n/a"
    assert number(0.0) == "0"
    assert number(0.123, "share") == "12.3%"
    assert interval(0.1, 0.2, "share") == "10.0% … 20.0%"
    assert number(0.8149, "×") == "0.81×"
    assert interval(0.741, 1.0, "×") == "0.74 … 1.00"
    assert interval(3.737, 4.0) == "3.737 … 4.000"
    assert interval(None, 0.02, "share") == "at most 2.0%"
    assert interval(0.5, None) == "at least 0.500"
    assert number(0.0, "share of turns") == "0% of turns"
    assert number(12345) == number(12345.0) == "12,345"
    assert number(-0.02, "share of turns") == "-2.0% of turns"
    assert number(2e-5, "share of tokens") == "0.002% of tokens"
    assert number(1.2e-5, "per token") == "1.2e-05 per token"


def test_a_run_of_an_unknown_id_is_named(store: Store, tmp_path: Path) -> None:
    from traces.errors import StoreError

    with pytest.raises(StoreError, match="no run 'goud'") as caught:
        read_summary(store, "goud")
    assert "good" in caught.value.fix


def test_the_comment_folds_the_places_that_cost_more(store: Store) -> None:
    summary = read_summary(store, "good")
    place = {
        "dimension": "event",
        "slice": "after a rejection",
        "mean_regret": 0.061,
        "noise_mean_regret": 0.012,
        "tokens": 812,
        "forks": 3,
        "change": "higher",
    }
    alike = {**place, "slice": "bonus", "change": "alike"}
    text = render_markdown(Summary(summary.run, {**summary.sections, "regrets": [place, alike]}))
    assert "<summary>Places where tokens cost more than the baseline's own: 1</summary>" in text
    assert "- event `after a rejection`: 0.061 nat, the baseline 0.012 nat; 812 tokens, " in text
    assert "`bonus`" not in text
    assert text.endswith("</details>\n")
    assert "<details>" not in render_markdown(summary)
