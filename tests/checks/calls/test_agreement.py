"""How the calls of two answers differ: in spelling, in form, or in what a client does."""

import json
from typing import Any

import pytest

from checks.calls.agreement import Change, Comparison
from checks.calls.patches import normal_path, same_patch, unnumbered
from checks.calls.shell import canonical
from traces.wire.response import ToolCall


def call(name: str, arguments: Any, index: int = 0) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(index, f"call_{index}", name, text)


def change(
    name: str, left: Any, right: Any, request: dict[str, Any] | None = None
) -> Change | None:
    return Comparison(request or {}).change([call(name, left)], [call(name, right)])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ('{"a": 1}', '{"a": 1}', "same"),
        ('{"a": 1, "b": "é"}', '{"b":"\\u00e9","a":1.0}', "spelling"),
        ('{"a": 1}', '{"a": "1"}', "consequential"),
        ('{"a": 1}', '{"a": true}', "consequential"),
        ('{"a": 1}', '{"a": 1, "b": null}', "consequential"),
        ('{"a": "x"}', '{"a": "x\\n"}', "cosmetic"),
        ('{"a": "x"}', '{"a": " x"}', "consequential"),
        ('{"a": [1, "x"]}', '{"a": [1, "x "]}', "cosmetic"),
        ('{"a": [1]}', '{"a": [1, 1]}', "consequential"),
        ('{"a": b"}', '{"a": b"}}', "cosmetic"),
        ('{"a": b"}', '{"a": c"}', "consequential"),
        ('{"a": 1}', '{"a": 1}}', "consequential"),
    ],
)
def test_arguments(left: str, right: str, expected: Change) -> None:
    assert change("tool", left, right) == expected
    assert change("tool", right, left) == expected


def test_another_number_order_or_name_of_calls_is_consequential() -> None:
    read, write = call("read", {"path": "a"}), call("write", {"path": "a"}, 1)
    compared = Comparison({})
    assert compared.change([read, write], [read, write]) == "same"
    assert compared.change([read, write], [write, read]) == "consequential"
    assert compared.change([read, write], [read]) == "consequential"
    assert compared.change([read], [write]) == "consequential"
    assert compared.change([], [read]) == "consequential"
    assert compared.change([], []) is None


def test_the_largest_change_of_several_calls_counts() -> None:
    left = [call("bash", {"command": "ls"}), call("bash", {"command": "pwd"}, 1)]
    right = [call("bash", {"command": "ls  "}), call("bash", {"command": "id"}, 1)]
    compared = Comparison({})
    assert compared.change(left, [right[0], left[1]]) == "cosmetic"
    assert compared.change(left, right) == "consequential"


SAME_COMMANDS = [
    ("ls  -l -a src", "ls -la 'src'"),
    ("ls -al src", 'ls -la "src"'),
    ("cd x && make", "cd x &&\n  make"),
    ("make; make test", "make\nmake test\n"),
    ("make  # all of it", "make"),
    ("grep -rn 'a b' .", 'grep -nr "a b" .'),
    ("echo a\\ b", "echo 'a b'"),
    ("rm -rf build", "rm -fr build"),
    ("cat a |sort -u", "cat a | sort -u"),
    ("make 2>/dev/null", "make 2> /dev/null"),
]

OTHER_COMMANDS = [
    ("echo $HOME", "echo '$HOME'"),
    ('echo "$HOME"', "echo $HOME"),
    ("ls *.py", "ls '*.py'"),
    ("echo 2 >out", "echo 2>out"),
    ("grep -re x", "grep -er x"),
    ("tar -x -f a", "tar -f -x a"),
    ("rm -i -f a", "rm -f -i a"),
    ("echo a#b", "echo a"),
    ("a && b", "a || b"),
    ("a & b", "a; b"),
    ("echo 'a", "echo a"),
    ("echo $(ls  x)", "echo $(ls x)"),
    ("cat <<E\na\nE", "cat <<E\na \nE"),
    ("sort -n a", "sort -r a"),
    ("ls a b", "ls 'a b'"),
    ("ls -l", "ls l"),
    ("FOO=1 make", "'FOO=1' make"),
    ("rm -r ~/x", "rm -r '~/x'"),
]


@pytest.mark.parametrize(("left", "right"), SAME_COMMANDS)
def test_commands_that_run_the_same_words_are_cosmetic(left: str, right: str) -> None:
    assert change("bash", {"command": left}, {"command": right}) == "cosmetic"
    assert change("search", {"query": left}, {"query": right}) == "consequential"


@pytest.mark.parametrize(("left", "right"), OTHER_COMMANDS)
def test_commands_that_may_run_something_else_are_consequential(left: str, right: str) -> None:
    assert change("bash", {"command": left}, {"command": right}) == "consequential"


def test_a_command_that_names_an_editors_action_is_no_shell_command() -> None:
    assert change("str_replace_editor", {"command": "view"}, {"command": "'view'"}) == (
        "consequential"
    )


def test_what_stands_in_the_place_of_marks_is_not_parsed() -> None:
    assert canonical("echo \x01*") is None
    assert canonical("echo \x03$A") is None


@pytest.mark.parametrize(
    ("path", "normal"),
    [("./a//b/", "a/b"), ("a/./b", "a/b"), ("/a/b", "/a/b"), ("a/../b", "a/../b"), (".", "")],
)
def test_paths(path: str, normal: str) -> None:
    assert normal_path(path) == normal


def test_paths_are_normalized_where_an_argument_is_one() -> None:
    assert change("read", {"file_path": "./src//a.py"}, {"file_path": "src/a.py"}) == "cosmetic"
    assert change("read", {"file_path": "src/a.py"}, {"file_path": "/src/a.py"}) == "consequential"
    assert change("note", {"text": "./src//a.py"}, {"text": "src/a.py"}) == "consequential"


FILE = "one\ntwo\nthree\nfour\nfive\n"
PATCH = "--- a/x.py\n+++ b/x.py\n@@ -2,3 +2,3 @@\n two\n-three\n+drei\n four\n"
LESS = "--- a/x.py\n+++ b/x.py\n@@ -3,1 +3,1 @@\n-three\n+drei\n"
ELSEWHERE = "--- a/x.py\n+++ b/x.py\n@@ -3,1 +3,1 @@\n-four\n+drei\n"
BEGUN = "*** Begin Patch\n*** Update File: x.py\n@@\n two\n-three\n+drei\n*** End Patch"


def test_patches_compare_by_their_hunks() -> None:
    assert same_patch(PATCH, PATCH.replace("-2,3 +2,3", "-1,9 +1,9"), {})
    assert same_patch(PATCH, PATCH.replace("+drei", "+drei  "), {})
    assert not same_patch(PATCH, LESS, {})
    assert not same_patch(PATCH, PATCH.replace("x.py", "y.py"), {})
    assert not same_patch(PATCH, PATCH.replace("+drei", "+vier"), {})


def test_patches_that_make_the_same_of_a_recorded_file_are_the_same() -> None:
    files = {"x.py": FILE}
    assert same_patch(PATCH, LESS, files)
    assert same_patch(PATCH, BEGUN, files)
    assert not same_patch(PATCH, ELSEWHERE, files)
    assert not same_patch(PATCH, LESS, {"x.py": FILE + FILE}), "it is not known which place"


def history(*calls: tuple[str, dict[str, Any], str]) -> dict[str, Any]:
    """A request whose history holds calls with their results."""
    messages: list[dict[str, Any]] = []
    for place, (name, arguments, result) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{place}", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{place}", "content": result})
    return {"messages": messages}


READ = ("read", {"path": "./x.py"}, FILE)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([READ], "cosmetic"),
        ([("write", {"path": "x.py", "content": FILE}, "ok")], "cosmetic"),
        ([("read", {"path": "x.py"}, "1\tone\n2\ttwo\n3\tthree\n4\tfour\n")], "cosmetic"),
        ([READ, ("edit", {"path": "x.py", "patch": PATCH}, "ok")], "consequential"),
        ([("read", {"path": "y.py"}, FILE)], "consequential"),
        ([], "consequential"),
    ],
    ids=["read", "written", "numbered", "changed since", "another file", "unknown"],
)
def test_the_session_says_what_a_file_holds(
    calls: list[tuple[str, dict[str, Any], str]], expected: Change
) -> None:
    request = history(*calls)
    assert change("apply", {"patch": PATCH}, {"patch": LESS}, request) == expected
    edits = (
        {"path": "x.py", "old_string": "two\nthree", "new_string": "two\ndrei"},
        {"path": "x.py", "old_string": "three", "new_string": "drei"},
    )
    assert change("edit", *edits, request) == expected
    other = {**edits[1], "new_string": "vier"}
    assert change("edit", edits[0], other, request) == "consequential"


def test_line_numbers_are_taken_off_where_every_line_has_one() -> None:
    assert unnumbered("   1\ta\n  2\tb\n") == "a\nb\n"
    assert unnumbered("1: a\nb\n") == "1: a\nb\n"
