"""Case files: the smallest reproduction of one behavior. Imports the words of `traces`."""
