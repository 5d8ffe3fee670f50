"""Codex rollouts and the stream of `codex exec`."""
