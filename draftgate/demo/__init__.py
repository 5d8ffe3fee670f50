"""The gate on this package's own model pair and sessions: no GPU, no network."""
