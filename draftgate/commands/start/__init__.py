"""Verbs that need no configuration of the user: a demo, and the pages."""
