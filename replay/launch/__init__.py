"""vLLM servers that the gate starts, watches and ends itself. Imports `traces` only."""
