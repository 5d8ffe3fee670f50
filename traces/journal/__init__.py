"""What a run keeps on disk: captures, scores, server samples, in crash-safe frames.

Imports the words of `traces` and `wire`.
"""
