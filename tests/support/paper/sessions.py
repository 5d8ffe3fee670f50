"""Recorded sessions for the gate's own tests, as chat messages."""

import json
from pathlib import Path

TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}


def write_sessions(file: Path, sessions: int, turns: int) -> Path:
    """`sessions` sessions of `turns` assistant turns each; every prompt is its own."""
    with file.open("w", encoding="utf-8") as out:
        for number in range(sessions):
            messages = [{"role": "system", "content": "You are a coding agent."}]
            for turn in range(turns):
                messages.append(
                    {"role": "user", "content": f"Task {number}.{turn}: mend the test."}
                )
                messages.append({"role": "assistant", "content": f"Done {number}.{turn}."})
            row = {"id": f"s{number}", "messages": messages, "tools": [TOOL]}
            out.write(json.dumps(row) + "\n")
    return file


def leave_a_part_out(file: Path) -> None:
    """Add a part that nobody knows to the last user message of every session: the prompt of its
    last turn is lossy then."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        text = row["messages"][-2]["content"]
        row["messages"][-2]["content"] = [{"type": "text", "text": text}, {"type": "hologram"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
