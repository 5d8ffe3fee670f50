"""Arguments of tool calls, in every syntax that vLLM's parsers read."""
