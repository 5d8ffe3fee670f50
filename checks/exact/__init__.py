"""The checks of one pair that need no tolerance. Imports `calls`, `tokens`, `formats`."""
