"""Perturbed requests: one thing changed, the rest and the original as they were."""

import copy
from typing import Any

import pytest

from traces.errors import ConfigError
from traces.session.perturbation import DATE_LINE, PERSONA, PERTURBATIONS, perturb

SYSTEM = {"role": "system", "content": "Be brief.\n\nUse tools."}
USER = {"role": "user", "content": "Fix it."}
REQUEST = {"messages": [SYSTEM, USER], "tools": [{"n": 1}, {"n": 2}], "temperature": 0}


def messages(name: str, request: dict[str, Any] = REQUEST) -> list[Any]:
    changed = perturb(request, name)["messages"]
    assert isinstance(changed, list)
    return changed


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_the_original_is_left_alone_and_something_changes(name: str) -> None:
    before = copy.deepcopy(REQUEST)
    changed = perturb(REQUEST, name)
    assert before == REQUEST
    assert changed != REQUEST
    assert changed["temperature"] == 0
    assert messages(name)[-1]["content"].endswith("Fix it.")


def test_system_prompts() -> None:
    assert messages("date_line")[0]["content"] == DATE_LINE + SYSTEM["content"]
    assert messages("single_spaced")[0]["content"] == "Be brief.\nUse tools."
    bare = {"messages": [USER]}
    assert messages("persona", bare) == [{"role": "system", "content": PERSONA}, USER]
    parts = [{"type": "text", "text": "x"}]
    listed = {"messages": [{"role": "system", "content": parts}, USER]}
    assert messages("persona", listed)[0]["content"] == [{"type": "text", "text": PERSONA}, *parts]


def test_system_as_user() -> None:
    joined = [{"role": "user", "content": "Be brief.\n\nUse tools.\n\nFix it."}]
    assert messages("system_as_user") == joined
    assert messages("system_as_user", {"messages": [USER]}) == [USER]


def test_tools() -> None:
    assert perturb(REQUEST, "tools_reversed")["tools"] == [{"n": 2}, {"n": 1}]
    assert perturb({"messages": [USER]}, "tools_reversed") == {"messages": [USER]}


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigError) as caught:
        perturb(REQUEST, "upper")
    assert "date_line" in caught.value.fix
