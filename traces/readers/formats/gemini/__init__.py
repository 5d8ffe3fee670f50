"""Gemini CLI and Qwen Code, which share the form of their messages."""
