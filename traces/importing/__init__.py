"""Recorded files of any known format to sessions, and what is in them.

Imports `session` and `readers`.
"""
