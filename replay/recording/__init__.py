"""The recorder: a proxy that passes agent traffic on and keeps it as sessions.

    client ─ forwarder ─▶ upstream        bytes are passed on as they come, and noted on a tape
                │ tape ─ handover ─▶ writer process: row, stitching, redaction, segments ─▶ files

It may import `traces`, and `replay.sending` for connections. Nothing on the way between client and
upstream parses, redacts or writes a file.
"""
