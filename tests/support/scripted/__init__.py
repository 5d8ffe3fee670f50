"""Servers that answer as a script says, for tests of the client side."""
