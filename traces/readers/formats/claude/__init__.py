"""Claude Code session logs."""
