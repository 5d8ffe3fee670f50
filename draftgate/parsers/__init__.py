"""`draftgate parsers`: vLLM's parsers under other cuts."""
