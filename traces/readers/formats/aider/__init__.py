"""Aider's chat history and LLM history."""
