"""The HTML page: complete, self-contained, and deaf to hostile text."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from reports.formats.html import render_html
from reports.schema.records import RunTables
from reports.store.store import Store
from reports.store.summary import read_summary
from tests.support.synthetic_run import synthetic_run

HOSTILE = (
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 191 }}{% raw %}",
    "javascript:alert(1)",
    "</style><style>@import url(http://evil.example/x.css)</style>",
    "'-->]]></title></details><iframe src=http://evil.example>",
    "\x1b[2J\u202egnp.exe\u200b\x00",
)


class Page(HTMLParser):
    """Tags, attributes and nesting of a page."""

    VOID = frozenset({"meta", "link", "br"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["title"]):
            self.text.append(data)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.in_memory() as store:
        yield store


def rendered(store: Store, **how: object) -> str:
    store.load(synthetic_run("r", **how))  # type: ignore[arg-type]
    return render_html(store, read_summary(store, "r"))


def words_of(html: str) -> str:
    """The text of a page, each piece set apart by one space."""
    return " ".join(" ".join(Page(html).text).split())


def test_the_first_screen_says_verdict_facts_reasons_and_next_steps_before_all_else(
    store: Store,
) -> None:
    page = Page(rendered(store, verdict="fail", tokens=200))
    text = " ".join(" ".join(page.text).split())
    parts = (
        "fail not safe: GREEDY_DIVERGENCE x 1",
        "drafter eagle3 k 3 model toy vLLM 0.32.0 sessions 6 turns 24 tokens 4,800",
        "acceptance length 2.",
        "speed 1.6",
        "found 1 error (GREEDY_DIVERGENCE)",
        "Why fail because word",
        "What to do next Leave the drafter off",
        "draftgate check cases/session-00-t001.case.json",
        "Acceptance length by boundary",
        "Findings error GREEDY_DIVERGENCE",
        "Statistics behind the verdict",
        "Bounds: ",
    )
    at = [text.index(part) for part in parts]
    assert at == sorted(at)
    assert page.open == []
    for part in (
        "noise floor",
        "regret above the hard bound",
        "rank-2 token swap",
        "num_gpu_blocks",
    ):
        assert part in text
    assert "a fault of rate 1e-4 would be seen with 95%" in text


def test_nothing_is_said_to_a_mouse_alone(store: Store) -> None:
    """No `title` anywhere: a finger and a keyboard cannot hover."""
    page = Page(rendered(store, verdict="fail", tokens=200))
    assert [tag for tag, attributes in page.tags if "title" in attributes] == []
    text = " ".join(page.text)
    assert "log p -" in text
    assert "Hover" not in text


def test_flaws_of_the_baseline_are_no_warnings(store: Store) -> None:
    run = synthetic_run("r", verdict="pass")
    shared = {**run.findings[0], "code": "ARGS_NOT_JSON", "severity": "warning"}
    store.load(replace(run, findings=[{**shared, "baseline_too": True, "ordinal": 0}]))
    text = words_of(render_html(store, read_summary(store, "r")))
    assert "found no error, no warning; 1 that the baseline shows too" in text
    assert "Findings None against the candidate." in text
    assert "warning ARGS_NOT_JSON" not in text
    assert "the model or the parser is at fault, not speculation ARGS_NOT_JSON (1)" in text


def test_many_reasons_are_folded(store: Store) -> None:
    run = synthetic_run("r", verdict="fail")
    many = [f"reason {i}" for i in range(9)]
    store.load(replace(run, runs=[{**run.runs[0], "reasons": many}]))
    html = render_html(store, read_summary(store, "r"))
    assert "<summary>5 more</summary>" in html
    assert all(html.count(f"<li>{reason}</li>") == 1 for reason in many)


def test_only_slices_that_differ_stand_open(store: Store) -> None:
    run = synthetic_run("r", verdict="fail")
    text = words_of(render_html(_with(store, run), read_summary(store, "r")))
    section = text[text.index("Slices Templates") : text.index("Statistics behind")]
    shown, _, folded = section.partition("Why, and the other 1 slice")
    assert "template chatml-terse" in shown
    assert "tag team=blue" not in shown
    assert "tag team=blue" in folded


def _with(store: Store, run: RunTables) -> Store:
    store.load(run)
    return store


def test_the_page_loads_nothing_and_allows_only_its_own_style(store: Store) -> None:
    html = rendered(store)
    page = Page(html)
    policy = next(
        a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert not {tag for tag, _ in page.tags} & {"script", "iframe", "object", "embed", "img"}
    for tag, attributes in page.tags:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes, tag
        for value in (attributes.get("href"),):
            assert value is None or value.startswith(("#", "cases/", "data:,"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_does_nothing(store: Store, text: str) -> None:
    html = rendered(store, text=text, verdict="fail")
    with Store.in_memory() as other:
        plain = Page(rendered(other, verdict="fail"))
    page = Page(html)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert [sorted(a) for _, a in page.tags] == [sorted(a) for _, a in plain.tags]
    assert not set("\x1b\u202e\u200b\x00") & set(html)
    shown = "".join(page.text)
    visible = text.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    visible = visible.replace("\u200b", "\\u200b").replace("\x00", "\\x00")
    assert f"fail because {visible}" in shown


def test_a_case_path_that_is_no_plain_path_is_not_a_link(store: Store) -> None:
    run = synthetic_run("r", verdict="fail")
    finding = {**run.findings[0], "case_file": "javascript:alert(1)"}
    store.load(replace(run, findings=[finding]))
    page = Page(render_html(store, read_summary(store, "r")))
    assert "javascript:alert(1)" in "".join(page.text)
    assert not [a for _, a in page.tags if (a.get("href") or "").startswith("javascript")]


@pytest.mark.parametrize(
    ("case_file", "folder", "link"),
    [
        (".draftgate/runs/r/cases/a.case.json", ".draftgate/runs/r", "cases/a.case.json"),
        (".draftgate/runs/r/cases/a.case.json", "out", "../.draftgate/runs/r/cases/a.case.json"),
        ("/data/r/cases/a.case.json", "/data/r", "cases/a.case.json"),
        ("javascript:alert(1)", ".", None),
        ("cases/a b.case.json", ".", None),
        ("https://evil.example/a.case.json", ".", None),
    ],
)
def test_a_case_file_is_linked_from_where_the_page_lies(
    store: Store, case_file: str, folder: str, link: str | None
) -> None:
    run = synthetic_run("r", verdict="fail")
    store.load(replace(run, findings=[{**run.findings[0], "case_file": case_file}]))
    page = Page(render_html(store, read_summary(store, "r"), folder=Path(folder)))
    links = [a["href"] for t, a in page.tags if t == "a" and not (a["href"] or "").startswith("#")]
    assert links == ([link] if link else [])


def test_bounds_that_do_not_apply_come_last_and_each_has_its_words(store: Store) -> None:
    run = synthetic_run("r")
    (idle,) = (b for b in run.bounds if b["state"] == "not_applicable")
    rest = [b for b in run.bounds if b is not idle]
    store.load(replace(run, bounds=[{**b, "ordinal": i} for i, b in enumerate([idle, *rest])]))
    text = words_of(render_html(store, read_summary(store, "r")))
    table = text[text.index("Each bound") : text.index("Tokens compared with the baseline")]
    names = [str(b["name"]) for b in rest] + [str(idle["name"])]
    places = [table.index(name) for name in names]
    assert places == sorted(places)
    assert all(str(b["message"]) in table for b in run.bounds)


@pytest.mark.parametrize(
    ("allowed", "note"),
    [
        ([], "No visible difference."),
        ([True], "No visible difference but those that speculation explains."),
        ([True, False], None),
    ],
)
def test_what_differed_is_said_also_where_nothing_did(
    store: Store, allowed: list[bool], note: str | None
) -> None:
    run = synthetic_run("r")
    row = run.path_differences[0]
    differing = [{**row, "field": f"f{i}", "allowed": known} for i, known in enumerate(allowed)]
    store.load(replace(run, path_differences=differing))
    text = Page(render_html(store, read_summary(store, "r"))).text
    assert [line for line in text if line.startswith("No visible")] == ([note] if note else [])


def test_every_number_is_named_where_a_phone_stacks_it(store: Store) -> None:
    """Each cell of a stacked table but the row's name carries the title of its column."""
    html = rendered(store, verdict="fail")
    tables = re.findall(r'<table class="stack[^>]*>(.*?)</table>', html, re.DOTALL)
    assert len(tables) > 8
    for table in tables:
        heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table, re.DOTALL)
        rows = [
            r for r in re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.DOTALL) if 'scope="row' in r
        ]
        for row in rows:
            assert re.findall(r'<td[^>]*data-label="(.*?)"', row) == heads[1:]


def test_every_control_can_be_reached_and_named(store: Store) -> None:
    """Headings do not skip a level, tables have captions and scoped heads, regions have names."""
    page = Page(rendered(store, verdict="fail", tokens=200))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table") > 8
    assert all("scope" in a for t, a in page.tags if t == "th")
    assert all(a.get("aria-label") for _, a in page.tags if a.get("role") == "region")
    ids = {a["id"] for _, a in page.tags if "id" in a}
    anchors = {(a.get("href") or "")[1:] for t, a in page.tags if (a.get("href") or "")[:1] == "#"}
    assert anchors <= ids


def test_a_thousand_turns_stay_below_two_megabytes(store: Store) -> None:
    html = rendered(store, sessions=100, turns=10, tokens=60, verdict="fail")
    assert len(html.encode()) < 2_000_000
    assert "88 more diverging turns" in html


def test_one_turn_can_be_asked_for(store: Store) -> None:
    store.load(synthetic_run("r", sessions=20))
    html = render_html(store, read_summary(store, "r"), ("session-19", "t001"))
    assert "session-19 / t001" in html
    assert "session-18 / t001" not in html


def test_a_run_that_never_got_far_still_renders(store: Store) -> None:
    store.load(
        RunTables(
            runs=[
                {
                    "run": "r",
                    "started_at": 0,
                    "verdict": "invalid",
                    "reasons": ["NO_DRAFTS"],
                    "tool_version": "0",
                }
            ]
        )
    )
    html = render_html(store, read_summary(store, "r"))
    assert "Not measured: the candidate reported no draft steps." in html
    assert Page(html).open == []
