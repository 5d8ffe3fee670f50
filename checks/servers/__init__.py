"""The servers of the two paths: differences, counters, speed. Imports `stats`."""
