"""Serves streamed turns of 64 events, one write per event or one per turn; run by client.py.

python benchmarks/event_server.py 64 per-event      (prints its port)
"""

import asyncio
import json
import sys

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    b"connection: keep-alive\r\n\r\n"
)
GAP_S = 0.002


def events(count: int) -> list[bytes]:
    """SSE events of the size vLLM sends with ids and five logprobs (about 900 bytes)."""
    top = [{"token": f"token_id:{n}", "logprob": -1.5 - n, "bytes": [1, 2, 3]} for n in range(5)]
    entry = {"token": "token_id:7", "logprob": -0.1, "bytes": [32, 97], "top_logprobs": top}
    choice = {"index": 0, "delta": {"content": " a"}, "logprobs": {"content": [entry]}}
    chunk = {"id": "chatcmpl-0", "object": "chat.completion.chunk", "model": "m"}
    event = b"data: " + json.dumps({**chunk, "choices": [{**choice, "token_ids": [7]}]}).encode()
    return [event + b"\n\n"] * (count - 1) + [b"data: [DONE]\n\n"]


def framed(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def main(count: int, per_event: bool) -> None:
    writes = [framed(event) for event in events(count)]
    if not per_event:
        writes = [b"".join(writes)]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                writer.write(HEAD)
                for write in writes:
                    writer.write(write)
                    await writer.drain()
                    await asyncio.sleep(GAP_S)
                writer.write(b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2] == "per-event"))
