"""Engine steps, draft positions and acceptance profiles. Imports `servers` and `stats`."""
