"""Connections without a credential that once held the API's memory, event loop or file descriptors."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
import uvloop

from api import server
from console import guard
from console.access import endpoints as sign_in
from farm_core import rates
from tests.api.world import World
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service


def _has_ipv6() -> bool:
    """Return False for a kernel that was started without IPv6 (`ipv6.disable=1`)."""
    try:
        socket.create_server(("::", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def connected(world: World) -> socket.socket:
    address = urlsplit(world.origin)
    assert address.hostname and address.port
    return socket.create_connection((address.hostname, address.port), timeout=HANG_SECONDS)


def answer(connection: socket.socket) -> bytes:
    """Return all bytes until the server closes, even if it leaves some of the request unread."""
    received = b""
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def sent(connection: socket.socket, parts: Iterator[bytes]) -> int:
    """Return the number of bytes that the server took before it closed."""
    count = 0
    try:
        for part in parts:
            connection.sendall(part)
            count += len(part)
    except (ConnectionResetError, BrokenPipeError):
        pass
    return count


@pytest.mark.parametrize(
    ("start", "unit"),
    [
        (b"GET /api/health HTTP/1.1\r\nHost: x\r\n", b"X-Filler: " + b"y" * 50_000 + b"\r\n"),
        (b"GET /api/health HTTP/1.1\r\nHost: x\r\n", b"A: b\r\n" * 10_000),
        (b"GET /api/health HTTP/1.1\r\nHost: x\r\nX-One: ", b"y" * 60_000),
        (b"GET /api/health?", b"y" * 60_000),
        (b"POST /api/v1/renders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n" * 10_000),
        (b"POST /api/v1/renders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-One: ", b"y" * 60_000),
    ],
    ids=["long headers", "many headers", "one header", "url", "trailers", "one trailer"],
)
def test_a_head_without_end_is_closed_after_a_few_kilobytes(world: World, start: bytes, unit: bytes) -> None:
    with closing(connected(world)) as connection:
        taken = sent(connection, iter([start, *[unit] * 1000]))
        assert taken < 20_000_000, "what fits into buffers on the way, not the 60 MB that were offered"
    assert world.client.get("/api/health").status_code == 200


@pytest.mark.parametrize("path", ["/api/health", "/console/sign-in"])
def test_escaped_quotes_in_a_cookie_are_not_read(world: World, path: str) -> None:
    """Such a request took 1.8 s on every route, without a credential, on Python before 3.11.10."""
    cookies = 'other="' + '\\"' * 15_000 + '"; farm_theme=dark'
    began = time.process_time()  # the server runs in this process
    for _ in range(5):
        answered = world.client.get(path, headers={"Cookie": cookies})
        assert answered.status_code == 200
    assert time.process_time() - began < 4
    assert path == "/api/health" or 'data-theme="dark"' in answered.text


def test_a_long_head_is_refused_in_the_envelope(world: World) -> None:
    refused = world.client.get("/api/health", headers={"X-Filler": "y" * (server.HEAD_BYTES_MAX + 1)})
    assert refused.status_code == 431
    assert refused.json()["statusCode"] == 431
    assert world.client.get("/api/health", headers={"X-Filler": "y" * 20_000}).status_code == 200


def test_an_invalid_http_request_is_refused_with_the_error_envelope(world: World) -> None:
    with closing(connected(world)) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("start", [b"", b"GET /api/health HTTP/1.1\r\nHost:"], ids=["nothing", "half a head"])
def test_a_head_that_stands_still_is_closed(world: World, start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    with closing(connected(world)) as connection:
        connection.sendall(start)
        assert answer(connection).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_stands_still_is_closed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "BODY_SECONDS", 0.3)
    token = world.account().headers["Authorization"].encode()
    head = b"POST /api/v1/renders HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nAuthorization: " + token
    with closing(connected(world)) as connection:
        connection.sendall(head + b"\r\n\r\n{")
        assert answer(connection).startswith(b"HTTP/1.1 408 ")


def test_a_body_in_chunks_of_a_byte_is_refused_before_it_keeps_the_server_from_others(world: World) -> None:
    token = world.account().headers["Authorization"].encode()
    head = b"POST /api/v1/assets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nAuthorization: " + token
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    begin = head + b"\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n" + b"%x\r\n%b\r\n" % (len(part), part)
    with closing(connected(world)) as connection:
        connection.sendall(begin + b"1\r\nx\r\n" * (2 * server.PIECES_MAX))
        refused = answer(connection)
        assert refused.startswith(b"HTTP/1.1 400 ") and b"too many small pieces" in refused


def test_a_body_in_chunks_of_a_few_hundred_bytes_is_read(world: World) -> None:
    chunks = iter([b'{"templateId": "', *[b"x" * server.PIECE_BYTES_LEAST] * (server.PIECES_MAX * 2), b'"}'])
    refused = world.account().post("/renders", content=chunks, headers={"Content-Type": "application/json"})
    assert refused.status_code == 400 and "small pieces" not in refused.text


def test_one_address_has_only_so_many_connections(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert world.client.get("/api/health").status_code == 200  # this connection stays open
    monkeypatch.setattr(server, "CONNECTIONS_PER_ADDRESS", 8)
    with ExitStack() as held:
        for _ in range(7):
            held.enter_context(closing(connected(world))).sendall(b"GET /api/health HTTP/1.1\r\n")
        assert answer(held.enter_context(closing(connected(world)))).startswith(b"HTTP/1.1 503 ")
        assert world.client.get("/api/health").status_code == 200


def test_connections_of_a_network_of_proxies_are_not_limited(
    start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = start(trusted_proxies="127.0.0.0/8")
    monkeypatch.setattr(server, "CONNECTIONS_PER_ADDRESS", 2)
    with ExitStack() as held:
        for _ in range(6):
            held.enter_context(closing(connected(world))).sendall(b"GET /api/health HTTP/1.1\r\n")
        assert world.client.get("/api/health").status_code == 200


@pytest.mark.usefixtures("long_window")
@pytest.mark.parametrize(("path", "refused"), [("/api/v1/usage", 429), ("/console/sign-in", 429)])
def test_addresses_of_one_ipv6_network_are_one_caller(
    start: Callable[..., World], monkeypatch: pytest.MonkeyPatch, path: str, refused: int
) -> None:
    world = start(trusted_proxies="127.0.0.1", automation_requests_per_minute_per_ip=5)
    monkeypatch.setattr(guard, "REQUESTS_PER_MINUTE", 5)

    def status(address: str) -> int:
        return world.client.get(path, headers={"X-Forwarded-For": address}).status_code

    first = [status(f"2001:db8:1:2:{number}::{number}") for number in range(1, 6)]
    assert refused not in first
    assert status("2001:db8:1:2:ffff::1") == refused
    assert status("2001:db8:1:3::1") == first[0]
    assert status("::ffff:192.0.2.1") == first[0]


@pytest.mark.usefixtures("long_window")
@pytest.mark.parametrize(
    ("proxies", "written"),
    [
        ("*", ["{forged}, 192.0.2.1"]),
        ("*", ["{forged}", "192.0.2.1"]),
        ("127.0.0.1,*", ["{forged}, 192.0.2.1"]),
        ("127.0.0.1,198.51.100.0/24", ["{forged}, 192.0.2.1, 198.51.100.7"]),
    ],
)
def test_a_caller_escapes_no_limit_by_an_address_that_it_wrote_itself(
    start: Callable[..., World], proxies: str, written: list[str]
) -> None:
    world = start(trusted_proxies=proxies, automation_requests_per_minute_per_ip=5)

    def status(number: int) -> int:
        forged = f"203.0.113.{number}"
        headers = [("X-Forwarded-For", one.format(forged=forged)) for one in written]
        return world.client.get("/api/v1/usage", headers=headers).status_code

    assert [status(number) for number in range(6)] == [401] * 5 + [429]
    assert world.client.get("/api/v1/usage", headers={"X-Forwarded-For": "192.0.2.2"}).status_code == 401


def test_a_flood_of_connections_is_accepted_many_at_a_time() -> None:
    flood, turns = 320, 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})

    async def story() -> None:
        nonlocal turns
        options = server.config(app, port=0, lifespan="off")
        sockets, serving, loop = server.listeners(options), uvicorn.Server(options), asyncio.get_running_loop()
        port = sockets[0].getsockname()[1]
        task = asyncio.create_task(serving.serve(sockets))
        while not serving.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0)
        with ExitStack() as held:
            for _ in range(flood):  # the loop does not run meanwhile, so all connections wait to be accepted
                held.enter_context(
                    closing(socket.create_connection(("127.0.0.1", port), HANG_SECONDS, ("127.0.0.2", 0)))
                )
            last = held.enter_context(closing(socket.create_connection(("127.0.0.1", port), HANG_SECONDS)))
            last.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            last.setblocking(False)
            received = asyncio.create_task(loop.sock_recv(last, 100))
            while not received.done():
                turns += 1
                await asyncio.sleep(0)
            assert (await received).startswith(b"HTTP/1.1 204 ")
        serving.should_exit = True
        await task

    uvloop.run(story())
    assert turns < flood / 2, "a connection at a time would take as many turns of the loop as there are connections"


@pytest.mark.skipif(not _has_ipv6(), reason="the kernel has no IPv6")
def test_a_socket_of_both_families_names_ipv4_clients_and_proxies_as_such() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append(scope["client"][0])
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})

    async def story() -> None:
        options = server.config(
            app, host="::", port=0, lifespan="off", proxy_headers=True, forwarded_allow_ips="127.0.0.1"
        )
        sockets = server.listeners(options)
        port, running = sockets[0].getsockname()[1], uvicorn.Server(options)
        serving = asyncio.create_task(running.serve(sockets))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=HANG_SECONDS) as client:
            await client.get("/", headers={"X-Forwarded-For": "192.0.2.1"})
            await client.get("/")
        running.should_exit = True
        await serving

    uvloop.run(story())
    assert seen == ["192.0.2.1", "127.0.0.1"]


@pytest.mark.usefixtures("long_window")
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/v1/usage"), ("GET", "/console/sign-in"), ("POST", "/console/sign-in"), ("POST", "/console/enter")],
)
def test_a_caller_that_ignores_refusals_waits_for_further_ones_alone(
    method: str, path: str, start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """256 connections that repeated a refused request at once kept the API busy, so every other request waited for as many refusals."""
    monkeypatch.setattr(*((guard, "REQUESTS_PER_MINUTE") if method == "GET" else (sign_in, "_TRIES_PER_MINUTE")), 5)
    monkeypatch.setattr(rates, "QUICK_REFUSALS", 3)
    monkeypatch.setattr(rates, "REFUSAL_SECONDS", 3 * HANG_SECONDS)
    world = start(automation_requests_per_minute_per_ip=5)
    with httpx.Client(base_url=world.origin, timeout=HANG_SECONDS) as insistent:
        answers = [insistent.request(method, path) for _ in range(8)]
        statuses = [answer.status_code for answer in answers]
        assert int(answers[-1].headers["Retry-After"]) > 0
        assert 429 not in statuses[:5] and statuses[5:] == [429, 429, 429]
        with pytest.raises(httpx.ReadTimeout):
            insistent.request(method, path, timeout=0.5)
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=world.origin, timeout=HANG_SECONDS, transport=transport) as other:
        assert other.request(method, path).status_code != 429
