"""Statistics without domain types: intervals, paired proportions, permutation tests.

Imports nothing.
"""
