"""The writer process of a recorder: raw exchanges in, redacted rows on file, confirmations out.

It may import `traces`, and `replay.sending` to ask the shadow. What it exchanges with the recorder
is in `exchanged`.
"""
