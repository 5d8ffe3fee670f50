"""One module or folder per recorded-session format. Imports `chat` and `files`."""
