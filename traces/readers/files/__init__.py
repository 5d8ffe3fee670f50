"""Opening files: compression, JSON Lines, databases, archives. Imports the words of `traces`."""
