"""Seeded writer of coding-agent sessions: training text, held-out prompts and samples."""
