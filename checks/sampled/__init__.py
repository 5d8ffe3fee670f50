"""Sampled equivalence: tokens against the baseline's distribution. Imports `stats`."""
