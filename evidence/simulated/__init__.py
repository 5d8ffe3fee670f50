"""Runs simulated with known truth: how often a test fails a sound run, and misses a fault."""
