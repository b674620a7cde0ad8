"""The guarded client, against real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from farm_core.net import fetch
from farm_core.net.addresses import UrlRefused
from farm_core.net.fetch import FetchFailed, Guard, guarded_get, guarded_post
from farm_core.net.resolver import NameUnknown, url_fault
from tests.descriptors import descriptors_left
from tests.patience import HANG_SECONDS

Answer = Callable[[str], bytes]


class Requests(list[str]):
    port = 0


@asynccontextmanager
async def listener(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Serve connections on a free port until the block ends and each connection is done; yield the port."""
    serving: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        with contextlib.suppress(ConnectionError):
            await serve(reader, writer)
            writer.close()
            await writer.wait_closed()

    listening = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        await asyncio.gather(*serving)


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[Requests]:
    """Serve `answer(request head)` for every request; yield the received heads."""
    seen = Requests()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.append(head)
        writer.write(answer(head))

    async with listener(serve) as seen.port:
        yield seen


def ok(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def moved(location: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} X\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def self_signed(folder: Path) -> ssl.SSLContext:
    """Return the TLS context of a server with a certificate that nobody trusts."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a.example")]),
    )
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1))
    pem = made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "tls.pem").write_bytes(secret + pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.pem")
    return context


def answering(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


LOCAL = Guard(allow_private=True, resolve=answering("127.0.0.1"))


async def test_a_file_is_fetched_with_the_name_in_host_and_its_path_encoded() -> None:
    async with server(lambda _: ok(b"picture", "Content-Type: image/png")) as seen:
        fetched = await guarded_get(f"http://media.example:{seen.port}/ä%20b.png?q=ü?&r=%2F", 100, LOCAL)
        assert fetched.path.read_bytes() == b"picture"
        assert fetched.bytes == 7
        fetched.path.unlink()
        assert f"Host: media.example:{seen.port}\r\n" in seen[0]
        assert seen[0].startswith("GET /%C3%A4%20b.png?q=%C3%BC?&r=%2F HTTP/1.1")
        assert "Accept-Encoding: identity\r\n" in seen[0]


@pytest.mark.parametrize(("written", "requested"), [("", "/"), ("?a=b", "/?a=b"), ("#part", "/")])
async def test_a_url_may_lack_a_path(written: str, requested: str) -> None:
    async with server(lambda _: ok(b"x", "Content-Encoding: Identity")) as seen:
        fetched = await guarded_get(f"http://a.example:{seen.port}{written}", 9, LOCAL)
        fetched.path.unlink()
        assert seen[0].startswith(f"GET {requested} HTTP/1.1")


@pytest.mark.parametrize("addresses", [("127.0.0.1",), ("8.8.8.8", "10.0.0.1"), ("::ffff:127.0.0.1",), ("fe80::1",)])
async def test_a_name_with_any_private_address_is_never_connected_to(addresses: tuple[str, ...]) -> None:
    async with server(lambda _: ok(b"secret")) as seen:
        guard = Guard(resolve=answering(*addresses))
        with pytest.raises(UrlRefused, match="private address"):
            await guarded_get(f"http://rebind.example:{seen.port}/", 100, guard)
        with pytest.raises(UrlRefused, match="private address"):
            await guarded_post(f"http://rebind.example:{seen.port}/", b"{}", {}, 5, guard)
        assert seen == []


def test_the_name_is_resolved_once_for_a_connection() -> None:
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async def body() -> None:
        async with server(lambda _: ok(b"x")) as seen:
            fetched = await guarded_get(f"http://once.example:{seen.port}/", 9, Guard(True, rebinding))
            fetched.path.unlink()

    asyncio.run(body())
    assert asked == ["once.example"]


@pytest.mark.parametrize(
    "location", ["http://127.0.0.1:1/", "http://[::1]/", "file:///etc/passwd", "http://a.internal/"]
)
async def test_a_redirect_is_held_to_the_same_rules(location: str) -> None:
    """The first URL is allowed because of the server's address; the second is refused because of its text."""
    guard = Guard(resolve=answering("8.8.8.8"))
    with pytest.raises(UrlRefused):
        await guarded_get(location, 100, guard)
    async with server(lambda _: moved("file:///etc/passwd")) as seen:
        with pytest.raises(UrlRefused):
            await guarded_get(f"http://a.example:{seen.port}/", 100, LOCAL)


async def test_a_redirect_to_no_address_is_a_failure_that_lasts() -> None:
    async with server(lambda _: moved("http://[")) as seen:
        with pytest.raises(FetchFailed, match="redirects") as failure:
            await guarded_get(f"http://a.example:{seen.port}/", 100, LOCAL)
        assert not failure.value.is_retryable


@pytest.mark.parametrize(
    ("location", "requested"), [("/ä b.png?q=ü", "/%C3%A4%20b.png?q=%C3%BC"), ("/a%20b?q=%C3%BC", "/a%20b?q=%C3%BC")]
)
async def test_a_redirect_is_followed_as_browsers_do_if_it_is_not_encoded(location: str, requested: str) -> None:
    answers = [moved(location), ok(b"there")]
    async with server(lambda _: answers.pop(0)) as seen:
        fetched = await guarded_get(f"http://a.example:{seen.port}/start", 100, LOCAL)
        fetched.path.unlink()
        assert seen[1].startswith(f"GET {requested} HTTP/1.1")


async def test_redirects_are_followed_to_a_limit() -> None:
    for status in (301, 302, 303, 307, 308):
        answers = [moved("/end", status), ok(b"there")]
        async with server(lambda _, answers=answers: answers.pop(0)) as seen:  # type: ignore[misc]
            fetched = await guarded_get(f"http://a.example:{seen.port}/start", 100, LOCAL)
            fetched.path.unlink()
            assert fetched.bytes == 5
            assert [head.split(" ")[1] for head in seen] == ["/start", "/end"]
    async with server(lambda _: moved("/again")) as seen:
        with pytest.raises(FetchFailed, match="too often"):
            await guarded_get(f"http://a.example:{seen.port}/", 100, LOCAL)
        assert len(seen) == 6


async def test_a_host_is_reached_at_its_next_address_if_the_first_refuses() -> None:
    async with server(lambda _: ok(b"x" * 100)) as seen:
        guard = Guard(allow_private=True, resolve=answering("127.0.0.2", "127.0.0.1"))
        fetched = await guarded_get(f"http://a.example:{seen.port}/", 100, guard)
        fetched.path.unlink()
        assert fetched.bytes == 100


@contextlib.contextmanager
def deaf(host: str, port: int) -> Iterator[None]:
    """Take up all places of a listening socket, so that no connection to it is ever made."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(socket.create_server((host, port), backlog=0))
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex((host, port))
        yield


async def test_a_host_is_reached_at_its_next_address_if_the_first_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "CONNECT_SECONDS", 0.2)

    async with server(lambda _: ok(b"x")) as seen:
        with deaf("127.0.0.2", seen.port):
            url, silent = f"http://a.example:{seen.port}/", Guard(True, answering("127.0.0.2"))
            fetched = await guarded_get(url, 9, Guard(True, answering("127.0.0.2", "127.0.0.1")))
            fetched.path.unlink()
            for call in (guarded_get(url, 9, silent), guarded_post(url, b"", {}, 9, silent)):
                with pytest.raises(FetchFailed, match="too long to answer") as failure:
                    await call
                assert failure.value.is_retryable


async def test_a_body_over_the_limit_is_refused_whether_announced_or_endless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 100_000

    for answer in (ok(b"x" * 101).rstrip(b"x"), endless):
        async with server(lambda _, answer=answer: answer) as seen:  # type: ignore[misc]
            with pytest.raises(FetchFailed, match="larger than 100 bytes") as failure:
                await guarded_get(f"http://a.example:{seen.port}/", 100, LOCAL)
            assert not failure.value.is_retryable
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - the folder is empty


async def test_a_full_disk_is_not_a_server_that_cannot_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").symlink_to("/dev/full")

    def on_full_disk(**_: object) -> BinaryIO:
        return (tmp_path / "full").open("wb", buffering=0)

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", on_full_disk)

    async with server(lambda _: ok(b"12345")) as seen:
        with pytest.raises(OSError, match="No space left"):
            await guarded_get(f"http://a.example:{seen.port}/", 100, LOCAL)


async def test_a_machine_without_descriptors_is_not_a_server_that_cannot_be_reached() -> None:
    url = "http://a.example:1/"
    for call in (guarded_get(url, 9, LOCAL), guarded_post(url, b"", {}, 9, LOCAL)):
        with descriptors_left(0), pytest.raises(OSError, match="Too many open files"):
            await call


async def test_a_server_that_says_nothing_is_given_up() -> None:
    async def quiet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listener(quiet) as port:
        url = f"http://a.example:{port}/"
        for call in (guarded_get(url, 9, LOCAL, 0.2), guarded_post(url, b"", {}, 0.2, LOCAL)):
            with pytest.raises(FetchFailed, match="too long") as failure:
                await call
            assert failure.value.is_retryable


async def test_a_server_that_sends_interim_answers_without_end_is_given_up() -> None:
    async def interim(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
            await writer.drain()

    async with listener(interim) as port:
        url = f"http://a.example:{port}/"
        for call in (guarded_get(url, 9, LOCAL), guarded_post(url, b"", {}, HANG_SECONDS, LOCAL)):
            with pytest.raises(FetchFailed, match="too much before its answer"):
                await call


async def test_an_answer_may_follow_interim_ones() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 20
    async with server(lambda _: interim + ok(b"whole" * 40_000)) as seen:
        fetched = await guarded_get(f"http://a.example:{seen.port}/", 1_000_000, LOCAL)
    assert fetched.path.read_bytes() == b"whole" * 40_000
    fetched.path.unlink()


def chunked(count: int) -> bytes:
    """Return an answer of `count` chunks of one byte."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    return head + b"1\r\nx\r\n" * count + b"0\r\n\r\n"


async def test_a_file_in_many_small_pieces_leaves_turns_to_other_tasks() -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with server(lambda _: chunked(3_200)) as seen:
        beside = asyncio.create_task(take_turns())
        fetched = await guarded_get(f"http://a.example:{seen.port}/", 1_000_000, LOCAL)
        beside.cancel()
    fetched.path.unlink()
    assert fetched.bytes == 3_200
    assert turns > 3_200 // 64


async def test_files_in_small_pieces_wait_for_each_other_and_for_no_other_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen fetches of a hostile account kept a scheduler busy with pieces of a byte for as long as it had jobs."""
    monkeypatch.setattr(fetch, "SMALL_SECONDS", HANG_SECONDS)
    async with server(lambda _: chunked(200)) as small, server(lambda _: ok(b"whole" * 40_000)) as large:
        tasks = [asyncio.create_task(guarded_get(f"http://a.example:{small.port}/", 10**6, LOCAL)) for _ in range(2)]
        await asyncio.wait(tasks, timeout=0.2)
        fetched = await guarded_get(f"http://a.example:{large.port}/", 10**6, LOCAL)
        fetched.path.unlink()
        assert not any(task.done() for task in tasks)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest.mark.parametrize("line", [b"a:b\r\n", b"a:" + b"b" * 9_000 + b"\r\n", b"a:b\r\n b\r\n"])
async def test_headers_and_trailers_are_limited_before_they_are_parsed(line: bytes) -> None:
    """16,000 headers, or as many trailers, kept all tasks of a process waiting for 60 ms."""
    lines = line * (130_000 // len(line)) + b"\r\n"
    answers = {
        "before its answer": b"HTTP/1.1 200 OK\r\n" + lines,
        "between two pieces of the file": chunked(1).removesuffix(b"\r\n") + lines,
    }
    for place, answer in answers.items():
        async with server(lambda _, answer=answer: answer) as seen:  # type: ignore[misc]
            with pytest.raises(FetchFailed, match=f"sends too much {place}: more than 64 KiB or 500 lines") as failure:
                await guarded_get(f"http://a.example:{seen.port}/", 9, LOCAL)
        assert not failure.value.is_retryable


async def test_a_file_of_many_lines_has_no_limit_of_lines() -> None:
    body = b"\n" * 100_000
    pieces = b"".join(b"%x\r\n%b\r\n" % (size, b"\n" * size) for size in [60_000, 40_000])
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    for answer in (ok(body), head + pieces + b"0\r\n\r\n"):
        async with server(lambda _, answer=answer: answer) as seen:  # type: ignore[misc]
            fetched = await guarded_get(f"http://a.example:{seen.port}/", 10**6, LOCAL)
        fetched.path.unlink()
        assert fetched.bytes == 100_000


async def test_a_file_in_too_many_pieces_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "PIECES_MAX", 1000)
    async with server(lambda _: chunked(1001)) as seen:
        with pytest.raises(FetchFailed, match="too many pieces") as failure:
            await guarded_get(f"http://a.example:{seen.port}/", 1_000_000, LOCAL)
    assert not failure.value.is_retryable


async def test_errors_say_what_happened_and_whether_to_try_again() -> None:
    async with server(lambda head: head.split(" ")[1][1:].encode().join([b"HTTP/1.1 ", b" X\r\n\r\n"])) as seen:
        for status, can_succeed in (("206", False), ("302", False), ("404", False), ("500", True)):
            with pytest.raises(FetchFailed, match=status) as failure:
                await guarded_get(f"http://a.example:{seen.port}/{status}", 9, LOCAL)
            assert failure.value.is_retryable is can_succeed
    async with server(lambda _: ok(b"x", "Content-Encoding: gzip")) as seen:
        with pytest.raises(FetchFailed, match="encoding") as failure:
            await guarded_get(f"http://a.example:{seen.port}/", 9, LOCAL)
        assert not failure.value.is_retryable
    with pytest.raises(FetchFailed, match="could not be reached") as failure:
        await guarded_get("http://a.example:1/", 9, LOCAL)
    assert failure.value.is_retryable


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "closed the connection without a valid HTTP answer"),
        (b"hello\r\n\r\n", "closed the connection without a valid HTTP answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nx", "without a valid HTTP answer"),
        (ok(b"xyz").removesuffix(b"z"), "broke off its answer, so the file is incomplete"),
        (chunked(1).removesuffix(b"0\r\n\r\n"), "broke off its answer, so the file is incomplete"),
    ],
)
async def test_a_server_that_was_reached_is_not_called_unreachable(answer: bytes, message: str) -> None:
    async with server(lambda _: answer) as seen:
        with pytest.raises(FetchFailed, match=message) as failure:
            await guarded_get(f"http://a.example:{seen.port}/", 9, LOCAL)
        assert failure.value.is_retryable


async def test_an_unknown_name_is_named_as_such() -> None:
    async def unknown(host: str, port: int) -> list[str]:
        raise NameUnknown("the name is not known")

    async def silent(host: str, port: int) -> list[str]:
        raise TimeoutError("no name server answered in time")

    for resolve, message in ((unknown, "host name is not known"), (silent, "No name server answered in time")):
        with pytest.raises(FetchFailed, match=message):
            await guarded_get("http://a.example/", 9, Guard(resolve=resolve))


async def test_a_certificate_that_is_not_valid_is_named_as_such(tmp_path: Path) -> None:
    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise AssertionError("no request is sent")

    async with listener(never, self_signed(tmp_path)) as port:
        with pytest.raises(FetchFailed, match=r"certificate is not valid: self.signed certificate\.") as failure:
            await guarded_get(f"https://a.example:{port}/", 9, LOCAL)
        assert not failure.value.is_retryable

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(b"plain HTTP"))
        await reader.read()

    async with listener(plain) as port:
        with pytest.raises(FetchFailed, match="TLS handshake with the server failed"):
            await guarded_get(f"https://a.example:{port}/", 9, LOCAL)


async def test_a_handshake_that_stalls_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "CONNECT_SECONDS", 0.2)

    async def quiet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listener(quiet) as port:
        with pytest.raises(FetchFailed, match="too long to answer"):
            await guarded_get(f"https://a.example:{port}/", 9, LOCAL)


async def test_a_post_returns_the_status_and_follows_no_redirect() -> None:
    async with server(lambda _: moved("/elsewhere")) as seen:
        headers = {"Content-Type": "application/json", "X-Service-Event": "render.finished"}
        assert await guarded_post(f"http://a.example:{seen.port}/hook", b"{}", headers, 5, LOCAL) == 302
        assert "X-Service-Event: render.finished\r\n" in seen[0]
        assert len(seen) == 1


async def test_a_url_is_judged_by_its_text_and_by_what_dns_says() -> None:
    async def unknown(host: str, port: int) -> list[str]:
        raise OSError("unknown name")

    assert await url_fault("https://a.example/", allow_private=False, resolve=answering("8.8.8.8")) is None
    assert await url_fault("https://a.example/", allow_private=False, resolve=unknown) is None
    private = await url_fault("https://a.example/", allow_private=False, resolve=answering("10.0.0.1"))
    assert private is not None and "private address" in private
    hint = "AUTOMATION_ALLOW_PRIVATE_ASSETS=true"
    for url, can_be_allowed in (("http://localhost/", True), ("http://u@localhost/", False)):
        fault = await url_fault(url, allow_private=False, setting="AUTOMATION_ALLOW_PRIVATE_ASSETS")
        assert fault is not None and (hint in fault) is can_be_allowed
    assert await url_fault(7, allow_private=False) == "must be a string"
    assert await url_fault("http://localhost/x", allow_private=True) is None
