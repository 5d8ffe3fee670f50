"""Parses of the same tokens under other cuts. Imports `calls` and `formats`."""
