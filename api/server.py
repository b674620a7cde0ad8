"""Limits of the HTTP server, which apply before a request reaches the app.

| Limit | Value | Answer |
|---|---|---|
| Request line and headers, trailers included | 32 KiB, 100 headers | 431 |
| Time to send them | 15 s | 408 |
| Speed of a body | 8 KiB in every 20 s | 408 |
| Pieces of a body (chunks, or parts that arrive at once) | 2,000, and one for every 256 bytes | 400 |
| Speed at which a client takes an answer that waits for it | 8 KiB in every 60 s | the connection is closed |
| Connections of one address, or of one /64 of IPv6, except proxies | 256 | 503 |
| All connections | 10,000, or what `nofile` leaves | 503 |
"""

from __future__ import annotations

import asyncio
import fcntl
import resource
import secrets
import socket
import struct
import termios
from collections import Counter
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar, Final

import orjson
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from farm_core.net.addresses import subscriber, unmapped

HEAD_BYTES_MAX: Final = 32 * 1024
HEADERS_MAX: Final = 100
HEAD_SECONDS: Final = 15.0
BODY_SECONDS: Final = 20.0
BODY_BYTES_LEAST: Final = 8 * 1024
"""Minimum bytes of a body in every BODY_SECONDS while the app waits for it."""
PIECES_MAX: Final = 2_000
"""Pieces of a body in addition to one for every PIECE_BYTES_LEAST. The parser reports each of them alone: in chunks of a byte, one upload
kept the event loop from all other callers."""
PIECE_BYTES_LEAST: Final = 256
ANSWER_SECONDS: Final = 60.0
ANSWER_BYTES_LEAST: Final = 8 * 1024
"""Minimum bytes of an answer that the client takes in every ANSWER_SECONDS while the app waits for the client."""

CONNECTIONS_PER_ADDRESS: Final = 256
CONNECTIONS_MAX: Final = 10_000
LISTENERS: Final = 16
_RESERVED_DESCRIPTORS: Final = 200
"""File descriptors for the database, Redis, storage and worker processes."""
_DESCRIPTORS_PER_CONNECTION: Final = 2
"""The socket, and the file of a download or upload."""

_MESSAGES: Final = {
    400: "The request is not valid HTTP.",
    408: "The request took too long to arrive.",
    431: "The request line and headers are too long.",
    503: "There are too many connections. Try again later.",
}
_PIECES: Final = "The request body arrives in too many small pieces. Send it in larger ones."


def config(app: Any, **options: Any) -> uvicorn.Config:
    """Return the server's configuration with its limits. `options` are uvicorn's."""
    fixed: dict[str, Any] = {
        "http": LimitedProtocol, "ws": "none", "log_config": None, "access_log": False, "server_header": False,
        "limit_concurrency": _connections_max(), "timeout_keep_alive": 75,
        "proxy_headers": False, "forwarded_allow_ips": "",
    }  # fmt: skip
    return uvicorn.Config(app, **(fixed | options))


def listeners(chosen: uvicorn.Config, *, is_shared: bool = False) -> list[socket.socket]:
    """Return the listening socket LISTENERS times: the event loop accepts one connection of each per iteration.

    With one socket, a client that opens hundreds of connections at once would delay all others by as many iterations,
    which are slow on a busy machine. `is_shared`: other processes of this user listen on the same port, and the kernel
    spreads connections over all of them. Raises OSError.
    """
    first = _shared_socket(chosen.host, chosen.port) if is_shared else chosen.bind_socket()
    return [first, *(first.dup() for _ in range(LISTENERS - 1))]


def _shared_socket(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    shared = socket.socket(family, kind, protocol)
    shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    shared.bind(address)
    shared.set_inheritable(True)
    return shared


@lru_cache(4096)
def _is_proxy(address: str, proxies: str) -> bool:
    """Return True if the address is one of `proxies`: addresses, networks and `*`, separated by commas."""
    try:
        parsed = ip_address(address)
    except ValueError:  # a client of a socket without an address
        return False
    return any(part == "*" or parsed in ip_network(part, strict=False) for part in proxies.split(",") if part)


def _connections_max() -> int:
    """Return the number of connections for which the process has file descriptors, after raising its soft limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS_PER_CONNECTION * CONNECTIONS_MAX + _RESERVED_DESCRIPTORS
    wanted = most if hard == resource.RLIM_INFINITY else min(hard, most)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(64, min(CONNECTIONS_MAX, (soft - _RESERVED_DESCRIPTORS) // _DESCRIPTORS_PER_CONNECTION))


class TooLong(Exception):
    """The head of a request is over its limit."""


class TooManyPieces(Exception):
    """A body arrives in too many small pieces."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection. Everything that a client can make the server hold is counted as it arrives."""

    per_address: ClassVar[Counter[str]] = Counter()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._counted: str | None = None
        self._refused = False
        self._head_bytes = 0
        self._overhead = 0
        """Bytes of the current message that are not body: head, trailers, framing of chunks."""
        self._body_bytes = 0
        self._body_seen = 0
        self._pieces = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and limit the wait for its first request."""
        super().connection_made(transport)
        # TRUSTED_PROXIES names IPv4 proxies as IPv4 addresses.
        if self.client:
            self.client = (unmapped(self.client[0]), self.client[1])
        address = self.client[0] if self.client else ""
        if address and not _is_proxy(address, str(self.config.forwarded_allow_ips or "")):
            self._counted = subscriber(address)
            self.per_address[self._counted] += 1
        over = self._counted is not None and self.per_address[self._counted] > CONNECTIONS_PER_ADDRESS
        if over or len(self.connections) > (self.limit_concurrency or CONNECTIONS_MAX):
            self._refuse(503)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self._stop_answer_timer()
        if self._counted is not None:
            self.per_address[self._counted] -= 1
            if not self.per_address[self._counted]:
                del self.per_address[self._counted]
            self._counted = None
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Make the app wait for the client, for a limited time."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """Let the app continue."""
        self._stop_answer_timer()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes within the limits."""
        if self._refused:
            return
        self._overhead += len(data)
        waiting = self.cycle is None or self.cycle.response_complete
        if waiting and self._timer is None:
            self._await_head()
        super().data_received(data)
        if self._refused or self.parser is None:
            return
        if self._overhead > 2 * HEAD_BYTES_MAX + 16 * self._body_bytes:
            self._refuse(431)
        elif (
            self.cycle is not None and self.cycle.more_body and self._timer is None and not self.cycle.response_complete
        ):
            self._body_seen = self._body_bytes
            self._timer = self.loop.call_later(BODY_SECONDS, self._check_body)

    def send_400_response(self, msg: str) -> None:
        """Answer an unreadable request with the API's JSON error."""
        if self._has_too_many_pieces():
            self._refuse(400, _PIECES)
            return
        self._refuse(431 if self._head_bytes > HEAD_BYTES_MAX or len(self.headers or ()) >= HEADERS_MAX else 400)

    def on_message_begin(self) -> None:
        """Start the counts of a new request."""
        super().on_message_begin()
        self._head_bytes = self._overhead = self._body_bytes = self._pieces = 0

    def on_url(self, url: bytes) -> None:
        """Count a part of the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header or a trailer."""
        self._count(len(name) + len(value) + 4)
        if len(self.headers) >= HEADERS_MAX:
            raise TooLong
        super().on_header(name, _without_escapes(value) if name.lower() == b"cookie" else value)

    def on_headers_complete(self) -> None:
        """Stop the head's timer. The body has its own time limit."""
        self._stop_timer()
        if self.config.forwarded_allow_ips == "*":
            self._keep_nearest_address()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count a piece of the body."""
        self._body_bytes += len(body)
        self._overhead -= len(body)
        self._pieces += 1
        if self._has_too_many_pieces():
            raise TooManyPieces
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the body's timer."""
        self._stop_timer()
        super().on_message_complete()
        # The request was answered before its body arrived. The rest of the body ended the keep-alive time.
        if self.cycle.response_complete:
            self._await_head()

    def _keep_nearest_address(self) -> None:
        """Keep only the last address of `X-Forwarded-For`, which the proxy added.

        Uvicorn uses the first, which the caller can forge.
        """
        name = b"x-forwarded-for"
        found = [value for key, value in self.headers if key == name]
        if found:
            kept = [header for header in self.headers if header[0] != name]
            self.headers[:] = [*kept, (name, found[-1].rpartition(b",")[2].strip())]

    def _has_too_many_pieces(self) -> bool:
        return self._pieces > PIECES_MAX + self._body_bytes // PIECE_BYTES_LEAST

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES_MAX:
            raise TooLong

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._refuse, 408)

    def _check_body(self) -> None:
        """Close a connection whose body does not arrive, unless the app does not read."""
        self._timer = None
        if self.transport.is_closing() or self.cycle.response_complete or not self.cycle.more_body:
            return
        if not self.flow.read_paused and self._body_bytes - self._body_seen < BODY_BYTES_LEAST:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._refuse(408)
            return
        self._body_seen = self._body_bytes
        self._timer = self.loop.call_later(BODY_SECONDS, self._check_body)

    def _await_reader(self) -> None:
        self._answer_timer = self.loop.call_later(ANSWER_SECONDS, self._check_reader, self._unsent_bytes())

    def _check_reader(self, unsent_bytes: int) -> None:
        """Close a connection whose client does not take the answer: it holds an open file and a buffer."""
        if unsent_bytes - self._unsent_bytes() < ANSWER_BYTES_LEAST:
            self.transport.abort()
        else:
            self._await_reader()

    def _unsent_bytes(self) -> int:
        """Return the unsent bytes here and in the kernel, which accepts more only after it has sent many of its own."""
        descriptor = self.transport.get_extra_info("socket").fileno()
        (in_kernel,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4)))
        return int(self.transport.get_write_buffer_size() + in_kernel)

    def _stop_answer_timer(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, message: str | None = None) -> None:
        """Send the status with the message or its usual one, unless an answer has begun, and close the connection."""
        self._stop_timer()
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_answer(status, message or _MESSAGES[status]))
        self.transport.close()


def _without_escapes(cookies: bytes) -> bytes:
    """Return the cookies without a backslash; the farm's cookies have none.

    Python before 3.11.10 takes seconds to read 30 kB of escaped quotes, and the framework reads the cookies of every request.
    """
    return cookies if b"\\" not in cookies else b";".join(one for one in cookies.split(b";") if b"\\" not in one)


def _answer(status: int, message: str) -> bytes:
    name = HTTPStatus(status).phrase
    request_id = f"req_{secrets.token_hex(12)}"
    body = orjson.dumps({"statusCode": status, "message": message, "error": name, "requestId": request_id, "path": ""})
    head = (
        f"HTTP/1.1 {status} {name}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"X-Request-Id: {request_id}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
