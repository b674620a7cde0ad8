"""HTTP server that counts the webhooks it receives."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.acceptance.farm import summary


class Hook(ThreadingHTTPServer):
    """Receive webhooks, and count them by job and status."""

    daemon_threads = True

    def __init__(self, address: str) -> None:
        super().__init__((address, 0), _Receive)
        self.webhooks: Counter[tuple[str, str]] = Counter()
        self.url = f"http://{address}:{self.server_port}/hook"


class _Receive(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        body = self.rfile.read(size)
        if len(body) < size:  # the sender was killed
            self.close_connection = True
            return
        self.server.webhooks[summary(body)] += 1
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


@contextmanager
def hook(address: str = "127.0.0.1") -> Iterator[Hook]:
    """Yield a receiver of webhooks."""
    server = Hook(address)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
