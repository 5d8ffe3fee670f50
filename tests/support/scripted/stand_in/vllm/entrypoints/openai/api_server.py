"""A stand-in for vLLM's server process: it starts, fails or dies as STAND_IN says.

Words of STAND_IN: ``healthy``, ``slow`` (never healthy), ``die`` (ends with a message), ``busy``
(says that the port is taken, the first time), ``crash`` (dies at the first completion). Like vLLM
it keeps a child process, whose id it writes to the file STAND_IN_CHILD.
"""

import http.server
import os
import subprocess
import sys
from pathlib import Path

MODE = os.environ["STAND_IN"]
ARGS = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(503 if MODE == "slow" else 200)
        self.end_headers()

    def do_POST(self) -> None:
        if MODE == "crash":
            print("RuntimeError: engine core died of a drafter", flush=True)
            os._exit(7)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


print("INFO non-default args:", {"model": ARGS[ARGS.index("--model") + 1]}, flush=True)
if MODE == "die":
    sys.exit(os.environ.get("STAND_IN_WORDS", "ValueError: no such thing"))
if MODE == "busy":
    mark = Path(os.environ["STAND_IN_CHILD"]).with_suffix(".tried")
    if not mark.exists():
        mark.touch()
        sys.exit("OSError: [Errno 98] Address already in use")
child = subprocess.Popen(["sleep", "300"])
Path(os.environ["STAND_IN_CHILD"]).write_text(str(child.pid))
port = int(ARGS[ARGS.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
