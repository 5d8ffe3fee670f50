"""Tool calls of a response and their outcome, paired by turn. Imports `stats` and `formats`."""
