"""An S3 server whose answers break off, and a gateway that answers in its place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from farm_core.storage.port import StorageUnavailable
from farm_core.storage.s3 import S3Storage
from tests.s3_server import ACCESS, BUCKET

LENGTH = 1000


class CutAnswers(BaseHTTPRequestHandler):
    """Answers with a tenth of the bytes that the header promises, then closes the connection."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(LENGTH))
        self.send_header("Last-Modified", "Sun, 01 Nov 2026 12:00:00 GMT")
        self.send_header("Content-Type", "video/mp4")
        self.send_header("ETag", '"0"')
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(b"<" * (LENGTH // 10))

    def log_message(self, format: str, *args: object) -> None:
        pass


class Gateway(BaseHTTPRequestHandler):
    """Answers requests for objects with a page of its own, and stores nothing."""

    protocol_version = "HTTP/1.1"
    status = 200

    def do_HEAD(self, length: int = 6) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status)
        self.send_header("Content-Length", str(length))
        self.send_header("Content-Type", "text/html")
        self.send_header("Last-Modified", "Sun, 01 Nov 2026 12:00:00 GMT")
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(b"<html>")

    def do_PUT(self) -> None:
        self.do_HEAD(length=0)

    def log_message(self, format: str, *args: object) -> None:
        pass


class GatewayWithoutStore(Gateway):
    """Answers that there is no such page, as an ingress does while the store behind it starts again."""

    status = 404


class StoreWithPages(GatewayWithoutStore):
    """Answers, with the id that S3 gives every request, that there is no such object."""

    def end_headers(self) -> None:
        self.send_header("x-amz-request-id", "1")
        super().end_headers()


@pytest.fixture
def storage() -> Iterator[S3Storage]:
    with serving(CutAnswers) as cut:
        yield cut


@contextmanager
def serving(answers: type[BaseHTTPRequestHandler]) -> Iterator[S3Storage]:
    """Yield the storage of a server with these answers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield S3Storage(BUCKET, f"http://127.0.0.1:{server.server_port}", "us-east-1", ACCESS)
        finally:
            server.shutdown()
            thread.join()


def pieces(storage: S3Storage) -> bytes:
    """Return an object that is read in pieces, as for a download."""
    with storage.open_range("results/a.mp4", 0, LENGTH) as stream:
        return b"".join(iter(lambda: stream.read(64), b""))


@pytest.mark.parametrize(
    "read",
    [lambda storage: storage.get_bytes("results/a.mp4"), pieces, lambda storage: list(storage.listed("results/"))],
    ids=["bytes", "pieces", "listing"],
)
def test_an_answer_that_is_cut_off_is_a_store_that_is_away(
    storage: S3Storage, read: Callable[[S3Storage], object]
) -> None:
    with pytest.raises(StorageUnavailable):
        read(storage)


def test_a_file_that_is_cut_off_is_not_written(storage: S3Storage, tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable):
        storage.get_file("results/a.mp4", tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "act",
    [
        lambda storage, _path: storage.get_bytes("results/a.mp4"),
        lambda storage, path: storage.get_file("results/a.mp4", path / "new.mp4"),
        lambda storage, _path: storage.describe("results/a.mp4"),
        lambda storage, _path: storage.put_bytes("results/a.mp4", b"video"),
        lambda storage, path: storage.put_file("results/a.mp4", path / "a.mp4"),
    ],
    ids=["bytes", "file", "facts", "stored bytes", "stored file"],
)
def test_a_page_of_a_gateway_is_no_object_and_no_receipt(
    tmp_path: Path, act: Callable[[S3Storage, Path], object]
) -> None:
    (tmp_path / "a.mp4").write_bytes(b"video")
    with serving(Gateway) as storage, pytest.raises(StorageUnavailable, match="not from S3"):
        act(storage, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


@pytest.mark.parametrize(
    "act",
    [
        lambda storage, _path: storage.get_bytes("results/a.mp4"),
        lambda storage, path: storage.get_file("results/a.mp4", path / "new.mp4"),
        lambda storage, _path: storage.exists("results/a.mp4"),
    ],
    ids=["bytes", "file", "existence"],
)
def test_the_404_of_a_gateway_does_not_mean_that_the_object_is_gone(
    tmp_path: Path, act: Callable[[S3Storage, Path], object]
) -> None:
    with serving(GatewayWithoutStore) as storage, pytest.raises(StorageUnavailable, match="not from S3"):
        act(storage, tmp_path)


def test_a_404_with_the_id_of_a_request_is_that_of_a_store() -> None:
    with serving(StoreWithPages) as storage:
        assert not storage.exists("results/a.mp4")
