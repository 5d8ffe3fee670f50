"""Streams events that hold the moment they were written; run by recorder.py.

python benchmarks/stamped_server.py      (prints its port)

A request names what it wants in its target: ``/v1/chat/completions?events=100&gap_us=5000``.
"""

import asyncio
import time
from urllib.parse import parse_qs, urlsplit

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    b"connection: keep-alive\r\n\r\n"
)
EVENT = (
    '{"id":"c","choices":[{"index":0,"delta":{"content":" a"}}],"t":%d,"pad":"' + "p" * 150 + '"}'
)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            wanted = parse_qs(urlsplit(head.split(b" ", 2)[1].decode()).query)
            gap_s = int(wanted["gap_us"][0]) / 1e6
            writer.write(HEAD)
            for _ in range(int(wanted["events"][0])):
                data = f"data: {EVENT % time.perf_counter_ns()}\n\n".encode()
                writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                await writer.drain()
                if gap_s:
                    await asyncio.sleep(gap_s)
            writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 22)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
