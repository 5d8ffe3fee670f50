"""Verdicts per slice: template, tag, tool, context band.

Imports `stats`, `greedy`, `calls`, `acceptance`.
"""
