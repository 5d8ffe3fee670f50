"""A writer that dies under exchange 1, and confirms every other: run in place of the real one."""

import os
import socket
import sys

import msgspec

from replay.writing.exchanged import Confirmed, read_exchanged

with socket.socket(fileno=int(sys.argv[1])) as connection:
    stream = connection.makefile("rb")
    while (exchanged := read_exchanged(stream)) is not None:
        if exchanged.number == 1:
            os._exit(1)
        connection.sendall(msgspec.json.encode(Confirmed(exchanged.number)) + b"\n")
