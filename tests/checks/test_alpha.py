"""The budget of false alarms: complete, not overspent, and the one place levels come from."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks import alpha
from checks.acceptance.loss import LOSS_P
from checks.acceptance.reference import REFERENCE_P
from checks.calls.answer_rates import RATES_LEVEL
from checks.calls.behavior import SUCCESS_P
from checks.calls.call_agreement import FAIL_LEVEL
from checks.findings import CODES
from checks.greedy.levels import MAIN_LEVELS, further_levels
from checks.greedy.shift import SHIFT_LEVEL
from checks.policy import Policy
from checks.sampled.statistics import E_THRESHOLD, SAMPLED_P

NAMED = {name for share in alpha.SHARES for name in share.bounds}
CAN_FAIL = NAMED | alpha.EXACT_BOUNDS | alpha.DEMANDED_BOUNDS


def test_the_budget_is_not_overspent() -> None:
    assert -1e-12 < alpha.spare() < alpha.TOTAL
    assert alpha.spent() + alpha.spare() == pytest.approx(alpha.TOTAL)
    assert len({share.name for share in alpha.SHARES}) == len(alpha.SHARES)


def test_every_code_has_its_share_or_compares_without_chance() -> None:
    chance = {code for share in alpha.SHARES for code in share.codes}
    exact = {name for name, code in CODES.items() if code.family in alpha.EXACT_FAMILIES}
    exact |= alpha.EXACT_CODES
    assert set(CODES) - chance - exact == set(), "no share in checks/alpha.py"
    assert chance & alpha.EXACT_CODES == set()
    assert chance | exact <= set(CODES)


def test_the_page_shows_the_budget(root: Path) -> None:
    page = (root / "docs" / "decisions.md").read_text(encoding="utf-8")
    lines = [f"| `{s.name}` | {s.level:.2%} | {s.question} |" for s in alpha.SHARES]
    lines.append(f"| spare | {abs(alpha.spare()):.2%} | for tests to come |")
    assert "\n".join(lines) in page


def bounds_of(code: str) -> Iterator[tuple[str, bool]]:
    """(name, whether it may fail) of every bound that a module makes.

    A function that names ``fail``, or hands on the state of something else, may.
    """
    tree = ast.parse(code)
    constants: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=True))
                for name, value in pairs:
                    if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                        constants[name.id] = str(value.value)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            parts = list(ast.walk(function))
            may = any(isinstance(p, ast.Constant) and p.value == "fail" for p in parts)
            may |= any(isinstance(p, ast.Attribute) and p.attr == "state" for p in parts)
            for part in parts:
                if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "Bound":
                    first = part.args[0]
                    name = getattr(first, "id", getattr(first, "value", "?"))
                    yield constants.get(str(name), f"made in {function.name}"), may


def test_every_bound_that_can_fail_a_run_has_its_share(root: Path) -> None:
    found = {
        (name, file.name)
        for file in sorted((root / "checks").rglob("*.py"))
        for name, may in bounds_of(file.read_text(encoding="utf-8"))
        if may
    }
    assert {one for one in found if one[0] not in CAN_FAIL} == set(), "no share in checks/alpha.py"
    assert {name for name, _ in found} == CAN_FAIL, "a share of no bound"


def test_the_search_sees_a_bound_that_can_fail() -> None:
    code = """
NEW, OLD = "new_bound", "old_bound"
def judge(p):
    state = "fail" if p < 0.01 else "pass"
    return Bound(NEW, state, "")
def other(rate):
    return Bound(OLD, rate.state, "")
def calm(n):
    return Bound(OLD, "pass" if n else "inconclusive", "")
"""
    assert list(bounds_of(code)) == [("new_bound", True), ("old_bound", True), ("old_bound", False)]


def test_levels_come_from_the_budget() -> None:
    assert pytest.approx(1 / E_THRESHOLD) == alpha.level("sampled_process")
    assert {
        "call_agreement": FAIL_LEVEL,
        "answers_shifted": RATES_LEVEL,
        "scores_shifted": SHIFT_LEVEL,
        "sampled_tests": SAMPLED_P,
        "tool_success": SUCCESS_P,
        "acceptance_loss": LOSS_P,
        "acceptance_reference": REFERENCE_P,
        "slices": Policy().slice_p,
        "regret_ladder": MAIN_LEVELS.ladder,
        "regret_rate": MAIN_LEVELS.rate,
        "small_regrets": MAIN_LEVELS.small,
    } == {
        share.name: share.level
        for share in alpha.SHARES
        if share.name not in ("sampled_process", "further_arms")
    }


@pytest.mark.parametrize("arms", [1, 2, 7])
def test_further_arms_share_one_level(arms: int) -> None:
    each = further_levels(arms)
    spent = arms * (each.ladder + each.rate + each.small)
    assert spent == pytest.approx(alpha.level("further_arms"))
