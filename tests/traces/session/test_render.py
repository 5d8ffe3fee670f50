"""The rules by which a recorded turn becomes a chat request."""

from tests.support.sessions.recordings import texts
from traces.session.message import Blob, Message, Note, Text, ToolCall, make_message
from traces.session.render import NO_RESULT, chat_messages, chat_request
from traces.session.session import Session, Source, System, Tool, Toolset
from traces.session.turn import Sampling, Turn, Usage


def said(role: str, text: str) -> Message:
    return make_message(role, text, origin="harness")  # type: ignore[arg-type]


def asked(*calls: str) -> Message:
    made = [ToolCall(id=name, name="f", arguments_json="{}") for name in calls]
    return make_message("assistant", "", origin="model", tool_calls=made)


def given(call: str, text: str) -> Message:
    return make_message("tool", text, origin="tool", tool_call_id=call)


def session(prefix: list[Message], turn: Turn, *tools: Tool) -> Session:
    turn = turn.replaced(added=tuple(m.mid for m in prefix))
    return Session(
        session_id="s",
        source=Source(format="made-up", file="-"),
        system=System(name="x", provenance="missing"),
        toolsets={"k": Toolset(provenance="recorded", tools=tools)},
        messages={m.mid: m for m in prefix},
        turns=(turn,),
    )


def test_system_and_developer_are_one_and_stand_first() -> None:
    rendered = chat_messages(
        [
            said("developer", "a"),
            said("system", "b"),
            said("user", "c"),
            said("developer", "d"),
            said("user", "e"),
        ]
    )
    assert texts(rendered) == ["system: a\n\nb", "user: c\n\nd\n\ne"]


def test_each_call_is_answered_once_in_call_order() -> None:
    rendered = chat_messages(
        [
            said("user", "x"),
            asked("a", "b", "c"),
            given("c", "C"),
            given("a", "A"),
            said("user", "y"),
        ]
    )
    assert texts(rendered)[2:] == ["tool: A", f"tool: {NO_RESULT}", "tool: C", "user: y"]


def test_results_of_no_call_become_user_text() -> None:
    rendered = chat_messages([said("user", "x"), given("a", "A"), asked("b"), given("z", "Z")])
    assert texts(rendered) == ["user: x\n\nA", "assistant: ", f"tool: {NO_RESULT}", "user: Z"]


def test_repeated_ids_in_one_message_are_answered_in_order() -> None:
    rendered = chat_messages([said("user", "x"), asked("a", "a"), given("a", "1"), given("a", "2")])
    assert texts(rendered)[2:] == ["tool: 1", "tool: 2"]


def test_attachments_become_placeholders() -> None:
    parts = [
        Text(text="see"),
        Blob(mime="image/png", blob="0" * 64, size=9),
        Blob(mime="application/pdf"),
        Blob(mime="text/plain", size=5000, head="start"),
        Note(text="tool reference: x"),
    ]
    (message,) = chat_messages([make_message("user", parts, origin="human")])
    assert message["content"] == (
        "see\n[image]\n[application/pdf]\nstart\n[… 5000 bytes in all]\n[tool reference: x]"
    )


def test_visible_reasoning_goes_back() -> None:
    answer = make_message("assistant", "x", origin="model", reasoning="because")
    assert chat_messages([said("user", "y"), answer])[1]["reasoning"] == "because"


def test_only_what_was_recorded_is_sent() -> None:
    turn = Turn(turn_id="t0000", index=0, fidelity="exact", model="m", tool_choice="auto")
    made = session([said("user", "x")], turn)
    request = chat_request(made, made.turns[0])
    assert set(request) == {"model", "messages", "max_tokens"}
    assert request["model"] == "m"


def test_sampling_tools_and_length() -> None:
    sampling = Sampling(temperature=0.2, stop=("a",), effort="high")
    turn = Turn(
        turn_id="t0000",
        index=0,
        fidelity="exact",
        toolset="k",
        tool_choice="required",
        sampling=sampling,
        usage=Usage(completion=1000),
        response_format={"type": "json_object"},
    )
    patch = Tool(name="apply_patch", freeform=True)
    made = session([said("user", "x")], turn, patch)
    request = chat_request(made, made.turns[0], model="served")
    assert request["model"] == "served"
    assert (request["temperature"], request["stop"]) == (0.2, ["a"])
    assert "effort" not in request
    assert request["max_tokens"] == 2000
    assert request["tool_choice"] == "required"
    assert request["response_format"] == {"type": "json_object"}
    function = request["tools"][0]["function"]
    assert function["parameters"]["required"] == ["input"]
