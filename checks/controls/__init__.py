"""Known faults planted into copies of a run's own responses: a gate that misses them is blind."""
