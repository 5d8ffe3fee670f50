"""Secrets and names out of text and sessions. Imports the words of `traces` and `session`."""
