"""Greedy equivalence: noise floor, regret rates, bounds. Imports `tokens` and `stats`."""
