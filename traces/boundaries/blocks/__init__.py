"""Blocks of text by line: prose, code, diffs, shell."""
