"""Goose: JSON Lines, database, untagged blocks."""
