"""Regret, forks and argmax of token lists. Imports `stats`."""
