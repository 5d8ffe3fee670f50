"""Verbs that make recordings of sessions. Each module holds `command`, as those one floor up."""
