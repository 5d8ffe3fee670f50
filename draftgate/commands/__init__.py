"""One module per verb. Each holds `command`, a click command that returns its exit code."""
