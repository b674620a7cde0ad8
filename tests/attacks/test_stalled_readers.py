"""Downloads whose readers read nothing. Each holds a connection, an open file and buffered data."""

from __future__ import annotations

import io
import resource
import socket
import wave
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from api import server
from tests.api.world import World

READERS = 20
SECONDS = 120
"""Duration of a sound that exceeds all buffers on its way."""


def open_files(name: str) -> int:
    """Return how many times this process, which runs the app, has the file open."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found += descriptor.readlink().name == name
    return found


def until_open(world: World, name: str, count: int) -> None:
    """Wait until the file is open that many times."""
    while open_files(name) != count:
        assert world.client.get("/api/health").status_code == 200


def uploaded(world: World) -> tuple[str, str]:
    """Upload a large file; return its link and its name."""
    packed = io.BytesIO()
    with wave.open(packed, "wb") as sound:
        sound.setparams((2, 2, 44_100, 0, "NONE", ""))
        sound.writeframes(bytes(4 * 44_100 * SECONDS))
    link = str(world.account().upload(packed.getvalue()).json()["url"])
    return link, urlsplit(link).path.rpartition("/")[2]


@contextmanager
def reading(link: str, count: int) -> Iterator[list[socket.socket]]:
    """Request the file several times, each over its own connection with a small buffer, and read nothing."""
    parts = urlsplit(link)
    assert parts.hostname and parts.port
    with ExitStack() as held:
        readers = [held.enter_context(closing(socket.socket())) for _ in range(count)]
        for one in readers:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect((parts.hostname, parts.port))
            one.sendall(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        yield readers


@pytest.mark.service
def test_a_download_that_is_broken_off_leaves_no_open_file(world: World) -> None:
    link, name = uploaded(world)
    with reading(link, READERS):
        until_open(world, name, READERS)
    until_open(world, name, 0)


@pytest.mark.service
def test_a_reader_that_takes_nothing_is_cut_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.5)
    link, name = uploaded(world)
    with reading(link, 1) as (reader,):
        assert reader.recv(5, socket.MSG_WAITALL) == b"HTTP/"
        until_open(world, name, 0)


@pytest.mark.service
def test_a_reader_that_takes_enough_gets_the_whole_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.01)
    monkeypatch.setattr(server, "ANSWER_BYTES_LEAST", 0)
    link, _ = uploaded(world)
    size = int(world.client.head(link).headers["Content-Length"])
    with reading(link, 1) as (reader,):
        received = 0
        while received < size and (piece := reader.recv(65_536)):
            received += len(piece)
    assert received >= size


@pytest.mark.parametrize(("descriptors", "connections"), [(1024, 412), (1 << 20, 10_000)])
def test_each_connection_has_descriptors_for_itself_and_for_a_file(
    descriptors: int, connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))
    assert server.config(None).limit_concurrency == connections
