"""Servers that send too much, in too small pieces, or nothing valid: the guarded client, against real sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from farm_core.net import fetch
from farm_core.net.fetch import FetchFailed, Guard, guarded_get, guarded_post
from farm_core.net.resolver import NameUnknown
from tests.farm_core.net.servers import LOCAL, listener, ok, self_signed, server
from tests.patience import HANG_SECONDS


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
