"""The committed marker list is what the script derives from the installed vLLM."""

import json
from importlib.resources import files

import pytest

from checks.vllm.markers import tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tool_call>", {"<tool_call>"}),
        (r"<\|tool_call\|>(.*?)<\|end\|>", {"<|tool_call|>", "<|end|>"}),
        (r"\[TOOL_CALLS\]([\s\S]*?)", {"[TOOL_CALLS]"}),
        ("(?P<body>.*?)", set()),
        ("<function=", {"<function="}),
        (r"<atem:invoke\b[^>]*?\bname=\"", {"<atem:invoke name="}),
        ("<tool_sep", {"<tool_sep>", "<tool_sep:"}),
        ('<invoke name="', {"<invoke name="}),
        ("a < b and [x] or {y}", set()),
        ("<0x0A>", set()),
    ],
)
def test_tags(text: str, expected: set[str]) -> None:
    assert tags(text) == expected


@pytest.mark.vllm
def test_the_committed_list_is_current() -> None:
    pytest.importorskip("vllm")
    from checks.vllm.markers import derive
    from checks.vllm.names import vllm_version

    file = files("checks.formats") / "data" / "markers.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    if data["vllm"] != vllm_version():
        pytest.skip(f"the list is of vLLM {data['vllm']}, installed is {vllm_version()}")
    assert derive() == data["markers"]
