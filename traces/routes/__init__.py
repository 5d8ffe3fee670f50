"""The routes of vLLM that agents use: how a turn is asked on each, and how its stream is read.

    route        path                    asked by                        its stream ends with
    chat         /v1/chat/completions    most agents                     data: [DONE]
    completions  /v1/completions         tools that write prompts        data: [DONE]
    messages     /v1/messages            Claude Code                     event: message_stop
    responses    /v1/responses           Codex, the OpenAI Agents SDK    event: response.completed

`asking` turns a chat request into that of a route; `chat_view` is the way back, for checks, which
know chat requests alone. `reading` gives one `traces.wire.response.Response` for all of them.
"""
