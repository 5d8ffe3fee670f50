"""What lies in a user's folder: a configuration of both paths and a case file."""

from typing import Any

CONFIG = """
[run]
sessions = ["sessions.jsonl"]
tool_parser = "hermes"
sampled_share = 0
[baseline]
urls = ["{baseline}"]
[candidate]
urls = ["{candidate}"]
speculative_config = {{ method = "eagle3", num_speculative_tokens = 3 }}
[policy]
"""

CASE: dict[str, Any] = {
    "case": 1,
    "kind": "args_not_json",
    "scenarios": [
        {
            "name": "seen",
            "request": {"tools": [{"type": "function", "function": {"name": "ls"}}]},
            "baseline": {
                "message": {
                    "tool_calls": [
                        {"id": "1", "function": {"name": "ls", "arguments": "{}"}},
                    ]
                },
                "finish_reason": "tool_calls",
            },
            "candidate": {
                "chunks": [
                    {
                        "choices": [
                            {
                                "index": 0,
                                "delta": {
                                    "tool_calls": [
                                        {
                                            "index": 0,
                                            "id": "1",
                                            "function": {"name": "ls", "arguments": "{"},
                                        }
                                    ]
                                },
                                "finish_reason": "tool_calls",
                            }
                        ]
                    },
                ],
                "done": True,
            },
        }
    ],
}
