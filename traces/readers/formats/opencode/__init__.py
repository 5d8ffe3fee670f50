"""opencode: database, exports, message lists, streams."""
