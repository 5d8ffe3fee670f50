"""Recordings written by a test, what holds for every session, and counts made without a reader."""
