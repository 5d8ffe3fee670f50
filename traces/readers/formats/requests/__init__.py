"""Logs of requests and answers: chat completions, Responses, Messages, vLLM's own log."""
