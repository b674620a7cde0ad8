"""Conformance suite for every implementation of the storage port."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.config import Config

from farm_core.storage import disk_space, local
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import ObjectMissing, Storage, StorageUnavailable
from farm_core.storage.s3 import S3Storage
from tests.s3_server import ACCESS, BUCKET, S3Server

LINKS = Links(b"secret")


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.service)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "local":
        return LocalStorage(tmp_path / "storage", LINKS)
    server: S3Server = request.getfixturevalue("s3_server")
    return S3Storage(BUCKET, server.url, "us-east-1", ACCESS)


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"tests/{abs(hash(request.node.name))}/object.mp4"


def test_a_stored_object_can_be_read_whole_and_in_ranges(storage: Storage, key: str) -> None:
    storage.put_bytes(key, b"0123456789")
    assert storage.get_bytes(key) == b"0123456789"
    for start, end, expected in ((0, None, b"0123456789"), (3, None, b"3456789"), (2, 5, b"234"), (9, 10, b"9")):
        with storage.open_range(key, start, end) as stream:
            assert stream.read() == expected


def test_a_file_goes_in_and_comes_out(storage: Storage, key: str, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(70_000))
    storage.put_file(key, source, "video/mp4")
    storage.get_file(key, target)
    assert target.read_bytes() == source.read_bytes()


def test_a_large_file_is_stored_in_parts(storage: Storage, key: str, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(bytes(range(256)) * 80_000)
    storage.put_file(key, source)
    storage.get_file(key, target)
    assert target.read_bytes() == source.read_bytes()


def test_an_object_is_described(storage: Storage, key: str) -> None:
    storage.put_bytes(key, b"12345", "video/mp4")
    described = storage.describe(key)
    assert (described.key, described.bytes, described.content_type) == (key, 5, "video/mp4")
    assert abs(described.modified_at - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_type_that_the_ending_does_not_tell_is_kept(storage: Storage, key: str) -> None:
    storage.put_bytes(key, b"1", "image/webp")
    assert storage.describe(key).content_type == "image/webp"
    storage.put_bytes(key, b"1", "video/mp4")
    assert storage.describe(key).content_type == "video/mp4"


def test_a_second_put_replaces_the_first(storage: Storage, key: str) -> None:
    storage.put_bytes(key, b"first and longer")
    storage.put_bytes(key, b"second")
    assert storage.get_bytes(key) == b"second"


def test_a_deleted_object_is_gone_and_deleting_again_is_no_error(storage: Storage, key: str) -> None:
    storage.put_bytes(key, b"1")
    storage.check()
    assert storage.exists(key)
    storage.delete(key)
    storage.delete(key)
    assert not storage.exists(key)


def test_a_deleted_object_of_another_type_leaves_no_file(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path, LINKS)
    storage.put_bytes("a/b.png", b"1", "video/mp4")
    storage.delete("a/b.png")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_reading_what_is_not_there_says_so(storage: Storage, tmp_path: Path) -> None:
    for read in (
        lambda: storage.get_bytes("not/there"),
        lambda: storage.get_file("not/there", tmp_path / "x"),
        lambda: storage.open_range("not/there", 1, 2),
        lambda: storage.describe("not/there"),
    ):
        with pytest.raises(ObjectMissing):
            read()
    assert not (tmp_path / "x").exists()


def test_objects_are_listed_by_prefix(storage: Storage, key: str) -> None:
    folder = key.rpartition("/")[0]
    for name in ("a/1", "a/2", "ab/3", "b/4"):
        storage.put_bytes(f"{folder}/{name}", name.encode())
    assert [found.key for found in storage.listed(f"{folder}/a/")] == [f"{folder}/a/1", f"{folder}/a/2"]
    assert {found.key for found in storage.listed(f"{folder}/a")} == {f"{folder}/{n}" for n in ("a/1", "a/2", "ab/3")}
    assert list(storage.listed(f"{folder}/nothing/")) == []


def test_a_listing_leaves_out_what_is_deleted_meanwhile(storage: Storage, key: str) -> None:
    folder = key.rpartition("/")[0]

    def write_and_delete() -> None:
        for _ in range(15):
            for number in range(10):
                storage.put_bytes(f"{folder}/{number}.png", b"1", "video/mp4")
            for number in range(10):
                storage.delete(f"{folder}/{number}.png")

    writer = threading.Thread(target=write_and_delete)
    writer.start()
    listed = set[str]()
    while writer.is_alive():
        listed |= {found.key for found in storage.listed(f"{folder}/")}
    assert listed == {f"{folder}/{number}.png" for number in range(10)}


@pytest.mark.parametrize("bad", ["", "/a", "a/", "../a", "a/../b", "a//b", ".hidden", "a b", "a\x00b", "ä", "a" * 513])
def test_a_key_out_of_bounds_is_refused(storage: Storage, bad: str) -> None:
    with pytest.raises(ValueError, match="storage key"):
        storage.put_bytes(bad, b"1")


def test_a_reader_sees_one_version_whole_while_it_is_replaced(storage: Storage, key: str) -> None:
    versions = [bytes([number]) * 50_000 for number in range(8)]
    storage.put_bytes(key, versions[0])

    def write() -> None:
        for version in versions:
            storage.put_bytes(key, version)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert storage.get_bytes(key) in versions
    writer.join()


def test_a_link_names_the_object_and_is_signed(storage: Storage, key: str) -> None:
    storage.put_bytes(key, b"0123456789", "video/mp4")
    link = storage.link(key, int(time.time()) + 3600, "https://farm.example", "film.mp4")
    if isinstance(storage, S3Storage):
        request = urllib.request.Request(link, headers={"Range": "bytes=2-4"})
        with urllib.request.urlopen(request) as answer:
            assert answer.read() == b"234"
    else:
        assert link.startswith(f"https://farm.example/files/{key}?expires=")
        assert "filename=film.mp4" in link


def test_a_link_to_a_bucket_lasts_a_week_at_most_and_names_the_file() -> None:
    storage, days = S3Storage(BUCKET, "http://127.0.0.1:1", "us-east-1", ACCESS), 24 * 3600
    lasts = []
    for wanted in (2 * days, 30 * days, -days):
        link = storage.link("a.mp4", int(time.time()) + wanted, "http://farm", "film.mp4")
        query = parse_qs(urlsplit(link).query)
        assert query["response-content-disposition"] == ['attachment; filename="film.mp4"']
        lasts.append(int(query["X-Amz-Expires"][0]))
    assert days < lasts[0] <= 2 * days
    assert lasts[1:] == [7 * days, 1]


@pytest.mark.service
def test_a_bucket_that_does_not_exist_is_a_store_that_is_away(s3_server: S3Server) -> None:
    with pytest.raises(StorageUnavailable, match="no bucket buckett"):
        S3Storage("buckett", s3_server.url, "us-east-1", ACCESS).check()


@pytest.mark.service
def test_a_store_that_is_away_says_so_and_works_again_when_it_is_back(tmp_path: Path) -> None:
    server, file = S3Server(tmp_path / "s3"), tmp_path / "file"
    file.write_bytes(b"0123456789")
    server.start()
    storage = S3Storage(BUCKET, server.url, "us-east-1", ACCESS)
    storage.put_bytes("kept.txt", b"kept")
    server.kill()
    for use in (
        lambda: storage.put_file("other.txt", file),
        lambda: storage.get_file("kept.txt", tmp_path / "x"),
        lambda: storage.get_bytes("kept.txt"),
        lambda: storage.exists("kept.txt"),
        storage.check,
        lambda: storage.delete("kept.txt"),
        lambda: list(storage.listed("")),
    ):
        with pytest.raises(StorageUnavailable):
            use()
    server.start()
    assert storage.get_bytes("kept.txt") == b"kept"
    server.kill()


def test_a_disk_that_fails_is_a_store_that_is_away(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "storage", LINKS)
    (tmp_path / "storage" / "objects" / "a").write_bytes(b"a file where a folder should be")
    with pytest.raises(StorageUnavailable):
        storage.put_bytes("a/b.txt", b"1")


def test_a_folder_on_a_full_disk_is_a_store_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = LocalStorage(tmp_path / "storage", LINKS)
    monkeypatch.setattr(disk_space, "ROOM_BYTES", 1 << 60)
    with pytest.raises(StorageUnavailable, match="MB free"):
        storage.check()


def test_a_folder_knows_when_the_reserve_of_its_disk_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, measured = LocalStorage(tmp_path / "storage", LINKS), shutil.disk_usage
    for total, free, reserve in (
        (10**11, 10**9 + 1, 0), (10**11, 10**9 - 1, 10**9), (10**8, 10**7 + 1, 0), (10**8, 10**7 - 1, 10**7)
    ):  # fmt: skip
        monkeypatch.setattr(shutil, "disk_usage", lambda of, t=total, f=free: measured(of)._replace(total=t, free=f))
        assert storage.reserve_in_use() == reserve


def test_a_large_object_leaves_half_of_the_reserve_of_its_disk_and_a_small_one_may_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, measured = LocalStorage(tmp_path / "storage", LINKS), shutil.disk_usage
    for name, size in (("small", 1_000), ("large", 5_000_000)):
        (tmp_path / name).write_bytes(bytes(size))
    monkeypatch.setattr(local, "ROOM_BYTES", 4_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(total=10**11, free=510_000_000))
    storage.put_file("a/large.mp4", tmp_path / "large")
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(total=10**11, free=490_000_000))
    with pytest.raises(StorageUnavailable, match="too little free space"):
        storage.put_file("b/large.mp4", tmp_path / "large")
    storage.put_file("b/small.mp4", tmp_path / "small")
    assert [one.key for one in storage.listed("")] == ["a/large.mp4", "b/small.mp4"]
    assert not list((tmp_path / "storage" / "partial").iterdir())


def test_files_of_killed_writers_are_removed_and_those_being_written_stay(tmp_path: Path) -> None:
    folder, source = tmp_path / "storage", tmp_path / "source"
    storage = LocalStorage(folder, LINKS)
    os.mkfifo(source)
    put = (
        "import sys; from pathlib import Path; from farm_core.storage.links import Links;"
        " from farm_core.storage.local import LocalStorage;"
        " LocalStorage(Path(sys.argv[1]), Links(b'')).put_file('results/a.mp4', Path(sys.argv[2]), 'video/mp4')"
    )
    writer = subprocess.Popen([sys.executable, "-c", put, str(folder), str(source)])
    with source.open("wb") as video:
        video.write(bytes(1 << 21))
        video.flush()
        while not (left := [path for path in (folder / "partial").iterdir() if path.stat().st_size]):
            time.sleep(0.01)
        assert storage.remove_unfinished(datetime.now(UTC) - timedelta(minutes=1)) == 0
        assert left[0].exists()
        writer.kill()
        writer.wait()
    assert storage.remove_unfinished(datetime.now(UTC) + timedelta(seconds=1)) == 1
    assert [path.name for path in folder.rglob("*") if path.is_file()] == []


def test_folders_that_are_removed_while_objects_are_written_there_lose_none(tmp_path: Path) -> None:
    storage, ended = LocalStorage(tmp_path, LINKS), threading.Event()

    def clean() -> None:
        while not ended.is_set():
            storage.remove_unfinished(datetime.now(UTC) - timedelta(seconds=1))
            for folder in tmp_path.glob("*/assets/*"):
                os.utime(folder, (0, 0))

    cleaner = threading.Thread(target=clean)
    cleaner.start()
    try:
        for number in range(500):
            storage.put_bytes("assets/acc/a.png", b"%d" % number, "image/gif")
            assert storage.get_bytes("assets/acc/a.png") == b"%d" % number
            storage.delete("assets/acc/a.png")
    finally:
        ended.set()
        cleaner.join()


@pytest.mark.service
def test_uploads_in_parts_of_killed_writers_are_aborted_and_those_of_others_stay(s3_server: S3Server) -> None:
    bucket = boto3.Session().client(
        "s3", endpoint_url=s3_server.url, region_name="us-east-1", aws_access_key_id=ACCESS[0],
        aws_secret_access_key=ACCESS[1], config=Config(s3={"addressing_style": "path"}),
    )  # fmt: skip
    for key in ("results/left.mp4", "somebody/else.mp4"):
        upload_id = bucket.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
        bucket.upload_part(Bucket=BUCKET, Key=key, UploadId=upload_id, PartNumber=1, Body=b"part")
    storage = S3Storage(BUCKET, s3_server.url, "us-east-1", ACCESS)
    assert storage.remove_unfinished(datetime.now(UTC) - timedelta(minutes=1)) == 0
    assert storage.remove_unfinished(datetime.now(UTC) + timedelta(minutes=1)) == 1
    assert [one["Key"] for one in bucket.list_multipart_uploads(Bucket=BUCKET)["Uploads"]] == ["somebody/else.mp4"]


@pytest.mark.service
def test_a_server_that_lists_no_uploads_in_parts_has_none_to_remove(s3_server: S3Server) -> None:
    assert S3Storage("buckett", s3_server.url, "us-east-1", ACCESS).remove_unfinished(datetime.now(UTC)) == 0
