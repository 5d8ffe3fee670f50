"""Outputs under a grammar: what the grammar says, and never longer than a moment."""

import pytest

pytest.importorskip("xgrammar")

from checks.formats.output_format import OutputFormat
from checks.formats.patterns import NotCheckable
from tests.support.case_builder import codes, message, request, streamed

SQL = 'root ::= "SELECT " name (", " name)* " FROM " name\nname ::= [a-z]+'
LARK = 'start: "a" | "b" rest\nrest: /[0-9]+/\n'


@pytest.mark.parametrize(
    ("grammar", "text", "wrong"),
    [
        (SQL, "SELECT a, b FROM t", None),
        (SQL, "\nSELECT a FROM t\n", None),
        (SQL, "SELECT a, FROM t", "at character 10: 'FROM t'"),
        (SQL, "SELECT a", "ends before the grammar does"),
        (SQL, "", "ends before the grammar does"),
        (SQL + ' # like "start: x"', "SELECT a FROM t", None),
        (LARK, "b12", None),
        (LARK, "c", "at character 0: 'c'"),
        ('root ::= "é✅"', "é✅", None),
        ('root ::= "é✅"', "é", "ends before"),
        ('root ::= "a"+', "aaa", None),
        ('root ::= root "a" | "a"', "aaa", None),
        ('root ::= "a"', "\ud800", "at character 0"),
    ],
)
def test_a_text_follows_the_grammar_or_not(grammar: str, text: str, wrong: str | None) -> None:
    found = OutputFormat("grammar", grammar).violation(text)
    assert (found is None) if wrong is None else (found is not None and wrong in found)


@pytest.mark.parametrize("grammar", ["root ::= (", "root ::= x", "", 5, "a" * 30_000])
def test_a_grammar_that_cannot_be_read_is_not_checkable(grammar: object) -> None:
    with pytest.raises(NotCheckable):
        OutputFormat("grammar", grammar).violation("x")


def test_a_hostile_grammar_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checks.formats.grammar.LIMIT_S", 0.5)
    nested = 'root ::= (("a"{1,100}){1,100}){1,100}'
    with pytest.raises(NotCheckable, match="too long"):
        OutputFormat("grammar", nested).violation("a" * 2000)
    assert OutputFormat("grammar", SQL).violation("SELECT a FROM t") is None


def test_content_under_a_grammar_is_judged() -> None:
    wanted = request(structured_outputs={"grammar": SQL})
    good, bad = "SELECT a FROM t", "SELECT a FROM t FROM t"

    def judged(baseline_text: str, candidate_text: str) -> list[str]:
        baseline = {"message": message(baseline_text), "finish_reason": "stop"}
        return codes(request=wanted, baseline=baseline, candidate=streamed(candidate_text))

    assert judged(good, good) == []
    assert judged(good, bad) == ["STRUCTURED_OUTPUT_INVALID"]
    assert judged(bad, bad) == []
