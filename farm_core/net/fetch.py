"""HTTP client that connects only to public addresses.

A name is resolved once per connection. Every address is checked, and the connection goes to one of them; `Host` and
the TLS handshake keep the name. Each redirect is checked like a new URL. Size, time and redirects are limited.
Proxies of the environment are ignored.
"""

from __future__ import annotations

import asyncio
import ssl
import string
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urljoin, urlsplit
from weakref import WeakKeyDictionary

import httpcore

from farm_core.net.addresses import checked_target
from farm_core.net.answer_head import AnswerHead, HeadTooLarge
from farm_core.net.resolver import NameUnknown, Resolver, checked_addresses, system_resolver
from farm_core.sizes import in_words
from farm_core.storage.disk_space import machine_fault

REDIRECTS_MAX = 5
CONNECT_SECONDS = 10.0
FETCH_SECONDS = 120.0
PIECES_MAX: Final = 250_000
"""Most pieces (chunks, or parts that arrive at once) of a file: 80 MB in pieces of 320 bytes. Each costs 20 µs."""
_PIECES_A_TURN: Final = 64
"""Pieces after which other tasks get their turn: many small ones arrive at once. They take 1.3 ms."""
_SMALL_BYTES: Final = 512
"""Average size below which pieces are small. All fetches of an event loop together take one turn of small pieces every SMALL_SECONDS, so that
hostile servers keep the loop busy for 6 % of the time."""
SMALL_SECONDS: Final = 0.02
_small_pieces: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_VISIBLE = string.punctuation
"""Characters of a redirect's address, besides letters and digits, that it keeps."""


class FetchFailed(Exception):
    """The request failed; `message` is fit for callers. `is_retryable` is True if another attempt can succeed."""

    def __init__(self, message: str, *, is_retryable: bool) -> None:
        super().__init__(message)
        self.message = message
        self.is_retryable = is_retryable


@dataclass(frozen=True, slots=True)
class Fetched:
    """A body in a temporary file, which the caller deletes."""

    path: Path
    bytes: int


@dataclass(frozen=True, slots=True)
class Guard:
    """Rules for outgoing requests: the resolver, and whether private addresses are allowed."""

    allow_private: bool = False
    resolve: Resolver = system_resolver


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connect to a checked address, even if the name resolves to another one by then."""

    def __init__(self, guard: Guard, head: AnswerHead) -> None:
        self._guard, self._head = guard, head
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the port's own signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        guard = self._guard
        addresses = await checked_addresses(host, port, allow_private=guard.allow_private, resolve=guard.resolve)
        failure: Exception = OSError("no address")
        for address in addresses:
            try:
                connected = await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
                return self._head.stream(connected)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def guarded_get(url: str, limit_bytes: int, guard: Guard, seconds: float = FETCH_SECONDS) -> Fetched:
    """Fetch a URL into a temporary file. Raises UrlRefused, FetchFailed (also above the limit), and OSError if this
    machine lacks space or descriptors."""
    try:
        async with asyncio.timeout(seconds):
            for _ in range(REDIRECTS_MAX + 1):
                outcome = await _get_once(url, limit_bytes, guard)
                if isinstance(outcome, Fetched):
                    return outcome
                url = outcome
    except TimeoutError:
        raise FetchFailed("The file took too long to arrive.", is_retryable=True) from None
    raise FetchFailed("The URL redirects too often.", is_retryable=False)


@dataclass(frozen=True, slots=True)
class SendingHooks:
    """Functions that a post calls, to record how far its request came."""

    before_first_byte: Callable[[], Awaitable[None]]
    """Awaited after connecting. If it raises, nothing is sent."""
    before_last_bytes: Callable[[], None]
    """Without the last bytes the receiver has no complete request."""


Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]


async def guarded_post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
    guard: Guard,
    hooks: SendingHooks | None = None,
) -> int:
    """Post a body; return the HTTP status of the answer without its body. Redirects are not followed.

    Raises UrlRefused, FetchFailed if there is no answer, OSError if this machine lacks descriptors, and what the first hook raises.
    """
    trace = None if hooks is None else _trace_of(hooks)
    try:
        async with asyncio.timeout(seconds), _exchange("POST", url, headers, body, guard, trace) as (response, _):
            return int(response.status)
    except TimeoutError:
        raise FetchFailed("The receiver took too long to answer.", is_retryable=True) from None


async def _get_once(url: str, limit_bytes: int, guard: Guard) -> Fetched | str:
    """Return the file, or the URL of a redirect."""
    request = {"Accept": "*/*", "Accept-Encoding": "identity"}
    async with _exchange("GET", url, request, None, guard) as (response, head):
        headers = {name.lower(): value for name, value in response.headers}
        if response.status in _REDIRECTS and b"location" in headers:
            return _redirected(url, headers[b"location"])
        if response.status != 200:
            raise FetchFailed(f"The server answered {response.status}.", is_retryable=response.status >= 500)
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise FetchFailed("The server sent an encoding that was not asked for.", is_retryable=False)
        if _declared_length(headers) > limit_bytes:
            raise _too_large(limit_bytes)
        return await _store(head.pieces(response), limit_bytes)


def _redirected(url: str, location: bytes) -> str:
    """Return the URL of a redirect. As in browsers, its bytes can be spaces and UTF-8."""
    try:
        return urljoin(url, quote(location, safe=_VISIBLE))
    except ValueError:
        raise FetchFailed("The server redirects to an address that is not valid.", is_retryable=False) from None


async def _store(chunks: AsyncIterator[bytes], limit_bytes: int) -> Fetched:
    with tempfile.NamedTemporaryFile(prefix="farm-fetch-", delete=False) as file:
        path = Path(file.name)
        size = pieces = turn_bytes = 0
        try:
            async for chunk in chunks:
                size, pieces = size + len(chunk), pieces + 1
                if pieces > PIECES_MAX:
                    raise FetchFailed("The server sends the file in too many pieces.", is_retryable=False)
                turn_bytes += len(chunk)
                if pieces % _PIECES_A_TURN == 0:
                    await _give_way(turn_bytes)
                    turn_bytes = 0
                if size > limit_bytes:
                    raise _too_large(limit_bytes)
                file.write(chunk)
        except BaseException:
            path.unlink()  # noqa: ASYNC240 - one short system call
            raise
    return Fetched(path, size)


async def _give_way(turn_bytes: int) -> None:
    """Let other tasks have their turn. `turn_bytes`: bytes of the last _PIECES_A_TURN pieces."""
    if turn_bytes >= _SMALL_BYTES * _PIECES_A_TURN:
        await asyncio.sleep(0)
    else:
        async with _small_pieces.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            await asyncio.sleep(SMALL_SECONDS)


@asynccontextmanager
async def _exchange(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    guard: Guard,
    trace: Trace | None = None,
) -> AsyncIterator[tuple[httpcore.Response, AnswerHead]]:
    """Make one request on its own connection."""
    target = checked_target(url, allow_private=guard.allow_private)
    extensions: dict[str, Any] = {"timeout": {"connect": CONNECT_SECONDS, "read": 30.0, "write": 30.0, "pool": 1.0}}
    if trace is not None:
        extensions["trace"] = trace
    port = "" if target.port == {"http": 80, "https": 443}[target.scheme] else f":{target.port}"
    request_headers: dict[bytes | str, bytes | str] = {"Host": target.host + port, "User-Agent": "render-farm"}
    request_headers.update(headers.items())
    head = AnswerHead()
    try:
        async with (
            httpcore.AsyncConnectionPool(network_backend=_GuardedBackend(guard, head), ssl_context=_tls()) as pool,
            pool.stream(
                method, _request_url(url, target.host), headers=request_headers, content=body, extensions=extensions
            ) as response,
        ):
            head.complete()
            yield response, head
    except HeadTooLarge as error:
        raise FetchFailed(str(error), is_retryable=False) from None
    except httpcore.TimeoutException:
        raise FetchFailed("The server took too long to answer.", is_retryable=True) from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        if fault := machine_fault(error):  # a certificate authority of the farm
            raise fault from None
        raise _failure(error, head) from None


def _failure(error: Exception, head: AnswerHead) -> FetchFailed:
    """Return what callers learn about a connection that failed. A certificate stays invalid; anything else can pass."""
    cause = error.__cause__ or error.__context__  # the pool raises errors again, `from None`
    if isinstance(cause, ssl.SSLCertVerificationError):
        return FetchFailed(f"The server's certificate is not valid: {cause.verify_message}.", is_retryable=False)
    if isinstance(cause, ssl.SSLError):
        reason = "The TLS handshake with the server failed."
    elif isinstance(error, NameUnknown):
        reason = "The host name is not known."
    elif isinstance(error, TimeoutError):
        reason = "No name server answered in time."
    elif not isinstance(error, httpcore.ReadError | httpcore.RemoteProtocolError):
        reason = "The server could not be reached."
    elif head.is_complete:
        reason = "The server broke off its answer, so the file is incomplete."
    else:
        reason = "The server closed the connection without a valid HTTP answer."
    return FetchFailed(reason, is_retryable=True)


def _trace_of(hooks: SendingHooks) -> Trace:
    async def trace(event: str, _: Mapping[str, Any]) -> None:
        if event == "http11.send_request_headers.started":
            await hooks.before_first_byte()
        if event == "http11.send_request_body.started":
            hooks.before_last_bytes()

    return trace


def _request_url(url: str, host: str) -> httpcore.URL:
    parts = urlsplit(url)
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?") if parts.query else ""
    return httpcore.URL(scheme=parts.scheme, host=host, port=parts.port, target=path + query)


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _declared_length(headers: Mapping[bytes, bytes]) -> int:
    value = headers.get(b"content-length", b"")
    return int(value) if value.isdigit() else 0


def _too_large(limit_bytes: int) -> FetchFailed:
    return FetchFailed(f"The file is larger than {in_words(limit_bytes)}.", is_retryable=False)
