"""The guarded client, against real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from farm_core.net import fetch
from farm_core.net.addresses import UrlRefused
from farm_core.net.fetch import FetchFailed, Guard, guarded_get, guarded_post
from farm_core.net.resolver import url_fault
from tests.descriptors import descriptors_left
from tests.farm_core.net.servers import LOCAL, answering, listener, moved, ok, server


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
