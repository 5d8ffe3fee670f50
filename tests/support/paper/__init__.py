"""Servers of a model that is a table of hashes: quick, the same every time, faults on demand."""
