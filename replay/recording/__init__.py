"""The recorder: a proxy that passes agent traffic on and keeps it as sessions.

    client ─ forwarder ─▶ upstream        bytes are passed on as they come, and noted on a tape
                │ tape ─ handover ─▶ writer process (`replay.writing`) ─▶ files

It may import `traces`, `replay.sending` for connections, and `replay.writing` for what it hands
over. Nothing on the way between client and upstream parses, redacts or writes a file.
"""
