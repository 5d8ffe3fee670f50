"""The server behind `draftgate open`: on this machine alone, and for reading alone.

It answers GET requests whose Host is its own address, so that a page of another site that resolves
to this machine (DNS rebinding) gets nothing.
"""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from traces.errors import OutputError

HOST = "127.0.0.1"


class BrowserServer(ThreadingHTTPServer):
    """Serves the store at `db` on `port` (0: any free one)."""

    daemon_threads = True

    def __init__(self, db: Path, port: int) -> None:
        self.db = db
        self.lock = Lock()
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise OutputError(
                f"port {port}: cannot be used ({error.strerror})",
                "name another with --port, or 0 for any free one",
            ) from None

    @property
    def url(self) -> str:
        """``http://127.0.0.1:8765/``."""
        return f"http://{HOST}:{self.server_port}/"

    def is_own(self, host: str) -> bool:
        """Whether a request's Host header names this server."""
        return host in (f"{HOST}:{self.server_port}", f"localhost:{self.server_port}")


class _Handler(BaseHTTPRequestHandler):
    server: BrowserServer

    def do_GET(self) -> None:
        from reports.browser.site import Reply, respond

        if self.server.is_own(self.headers.get("Host", "")):
            with self.server.lock:  # DuckDB uses all cores and memory for one query
                reply = respond(self.server.db, self.path)
        else:
            reply = Reply(403, "this address is not served")
        body = reply.html.encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged: a query may quote recorded text."""
