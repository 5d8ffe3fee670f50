"""JSON values, schemas, patterns, grammars, parser markers.

Imports only the words of `checks`.
"""
