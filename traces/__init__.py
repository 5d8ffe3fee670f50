"""Facts: sessions, turns, captures, responses, cases; importers, boundaries, redaction, journal."""
