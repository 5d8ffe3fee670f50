"""Judging, writing and minimizing case files.

Imports `exact`, `acceptance`, `splits`, `tokens`, `formats`.
"""
