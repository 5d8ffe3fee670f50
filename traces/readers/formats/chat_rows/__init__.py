"""One conversation, or one prompt, per row."""
