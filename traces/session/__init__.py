"""The canonical session and its parts: messages, turns, files, rendering.

Imports the words of `traces` only.
"""
