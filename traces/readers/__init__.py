"""Readers of recorded-session formats, one per format, behind `registry`. Imports `session`."""
