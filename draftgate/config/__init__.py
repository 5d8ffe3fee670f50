"""`draftgate.toml`: its model, its reader, its reference page."""
