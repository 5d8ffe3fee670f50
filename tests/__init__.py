"""The tests; a test imports what it shares with others from `tests.support`."""
