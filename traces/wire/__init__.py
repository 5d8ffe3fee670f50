"""Bytes of a stream to events, and events to a response, as a strict client reads them.

Imports the words of `traces`.
"""
