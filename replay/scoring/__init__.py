"""Tokens scored by the baseline: teacher forcing and lockstep. Imports `sending`."""
