"""Chat messages of every dialect as transcript items and turns. Imports `files` and `session`."""
