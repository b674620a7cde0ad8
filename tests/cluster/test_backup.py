"""`./farm backup` and `./farm restore` on the embedded stores."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from cluster.embedded import postgres
from farm_core.__main__ import main
from farm_core.secret import farm_secret
from farm_core.settings import Settings, settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from tests.acceptance.farm import ROOT, run_farm
from tests.s3_server import BUCKET, S3Server

pytestmark = [pytest.mark.service]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an account, a video and a secret."""
    folder = tmp_path_factory.mktemp("farm") / "data"
    assert run_farm("account", "create", "studio", "--data", str(folder)).returncode == 0
    secret = farm_secret(Settings(data_folder=folder))
    LocalStorage(folder / "storage", Links(secret)).put_bytes("videos/a.mp4", b"video", "video/mp4")
    return folder


@pytest.fixture(scope="module")
def backup(data: Path) -> Path:
    file = data.with_name("backup.tar")
    done = run_farm("backup", str(file), "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert "1 objects" in done.stdout
    return file


Ran = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Iterator[Ran]:
    """Run a command in this process, which has imported everything; return its status, output and errors."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        settings.cache_clear()
        status = main(list(words))
        return status, *capsys.readouterr()

    yield run
    settings.cache_clear()


def accounts(ran: Ran, folder: Path) -> list[str]:
    status, listed, error = ran("account", "list", "--data", str(folder))
    assert status == 0, error
    return [account["name"] for account in json.loads(listed)]


def audited(ran: Ran, folder: Path) -> str:
    status, listed, error = ran("audit", "--action", "restore", "--data", str(folder))
    assert status == 0, error
    return listed


def test_a_restored_folder_has_the_accounts_the_objects_and_the_secret(
    data: Path, backup: Path, ran: Ran, tmp_path: Path
) -> None:
    restored = tmp_path / "restored"
    done = run_farm("restore", str(backup), "--data", str(restored))
    assert done.returncode == 0, done.stderr
    assert accounts(ran, restored) == ["studio"]
    assert "backup backup.tar" in audited(ran, restored) and "command line" in audited(ran, restored)
    assert "backup backup.tar" not in audited(ran, data)
    secret = farm_secret(Settings(data_folder=restored))
    assert secret == farm_secret(Settings(data_folder=data))
    assert LocalStorage(restored / "storage", Links(secret)).get_bytes("videos/a.mp4") == b"video"
    assert not (restored / "database.dump").exists()


def test_a_backup_moves_into_an_empty_database_and_a_bucket_once(
    backup: Path, ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = S3Server(tmp_path / "s3")
    bucket.start()
    database = postgres.start(tmp_path / "postgres", durable=False)
    place = {**bucket.environment, "DATABASE_URL": database.url, "DATA_FOLDER": str(tmp_path / "none")}
    try:
        done = run_farm("restore", str(backup), "--to-stores", environment=place)
        assert done.returncode == 0, done.stderr
        for name, value in place.items():
            monkeypatch.setenv(name, value)
        listed, log = ran("account", "list"), ran("audit")
        again = ran("restore", str(backup), "--to-stores")
        monkeypatch.setenv("S3_BUCKET", "")
        without = ran("restore", str(backup), "--to-stores")
    finally:
        database.stop()
        bucket.kill()
    assert [account["name"] for account in json.loads(listed[1])] == ["studio"]
    assert "backup backup.tar" in log[1]
    assert (bucket.folder / BUCKET / "videos" / "a.mp4").read_bytes() == b"video"
    assert (again[0], "has tables already" in again[2]) == (1, True)
    assert (without[0], "needs DATABASE_URL and S3_BUCKET" in without[2]) == (1, True)
    assert not (tmp_path / "none").exists()


def cut(backup: Path, folder: Path) -> Path:
    """Yield the same backup with a truncated database dump."""
    with tarfile.open(backup) as whole:
        members = {member.name: whole.extractfile(member) for member in whole if member.isfile()}
        content = {name: file.read() for name, file in members.items() if file is not None}
    return archive(folder, {**content, "database.dump": content["database.dump"][:-400]})


def test_a_restore_that_is_cut_off_leaves_an_empty_database_empty(
    backup: Path, ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = S3Server(tmp_path / "s3")
    bucket.start()
    database = postgres.start(tmp_path / "postgres", durable=False)
    for name, value in {**bucket.environment, "DATABASE_URL": database.url}.items():
        monkeypatch.setenv(name, value)
    try:
        status, _, error = ran("restore", str(cut(backup, tmp_path)), "--to-stores")
        assert (status, "the database could not be restored" in error) == (1, True)
        status, _, error = ran("restore", str(backup), "--to-stores")
        assert status == 0, error
        listed = ran("account", "list")
    finally:
        database.stop()
        bucket.kill()
    assert [account["name"] for account in json.loads(listed[1])] == ["studio"]


def kill_once(command: tuple[str, ...], made: Path, reached: Callable[[psutil.Process], bool]) -> None:
    """Start a command of the farm, and kill it when it reaches a point. Start again if it ended before that.

    The command is suspended while this process checks, so that it cannot pass the point.
    """
    while True:
        process = psutil.Popen([sys.executable, "-m", "farm_core", *command], cwd=ROOT, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            process.suspend()
            if reached(process):
                process.kill()
                process.wait()
                return
            process.resume()
            time.sleep(0.005)
        assert process.returncode == 0
        if made.is_dir():
            shutil.rmtree(made)
        else:
            made.unlink()


def loads_the_database(process: psutil.Process) -> bool:
    def name(child: psutil.Process) -> str:
        with suppress(psutil.Error):
            return child.name()
        return ""

    return "pg_restore" in map(name, process.children())


def test_a_killed_restore_changes_nothing_and_can_be_repeated(backup: Path, ran: Ran, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    kill_once(("restore", str(backup), "--data", str(folder)), folder, loads_the_database)
    assert not folder.exists()
    done = run_farm("restore", str(backup), "--data", str(folder))
    assert done.returncode == 0, done.stderr
    assert accounts(ran, folder) == ["studio"]
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_next_backup_removes_what_a_killed_one_left(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "farm.tar"

    def writes(process: psutil.Process) -> bool:
        return not target.exists() and any(path.is_file() for path in tmp_path.rglob("*"))

    kill_once(("backup", str(target), "--data", str(data)), target, writes)
    assert not target.exists()
    (tmp_path / ".farm.tar-mine").mkdir()
    done = run_farm("backup", str(target), "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"farm.tar", ".farm.tar-mine"}


def test_a_backup_without_the_disk_of_the_objects_is_refused(data: Path, ran: Ran, tmp_path: Path) -> None:
    file, storage = tmp_path / "backup.tar", data / "storage"
    server = postgres.start(data / "postgres")
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("INSERT INTO object_charges SELECT id, 'videos/a.mp4', 5 FROM accounts")
        away = storage.rename(data / "away")
        (storage / "objects").mkdir(parents=True)
        status, _, error = ran("backup", str(file), "--data", str(data))
        shutil.rmtree(storage)
        away.rename(storage)
        assert (status, file.exists()) == (1, False)
        assert f"1 object that the database names (videos/a.mp4) is not in {storage}" in error
        assert ran("backup", str(file), "--data", str(data))[0] == 0
        connection.execute("DELETE FROM object_charges")
    server.stop()


def test_a_backup_without_some_objects_is_written_if_asked_and_says_so(data: Path, ran: Ran, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"
    server = postgres.start(data / "postgres")
    with psycopg.connect(server.url, autocommit=True) as connection:
        keys = ["videos/a.mp4", *(f"results/{number}.mp4" for number in range(4)), "presets/p"]
        for key in keys:
            connection.execute("INSERT INTO object_charges SELECT id, %s, 5 FROM accounts", [key])
        status, _, error = ran("backup", str(file), "--data", str(data))
        named = "4 objects that the database names (results/0.mp4, results/1.mp4, results/2.mp4, ...) are"
        assert (status, file.exists(), f"{named} not in" in error) == (1, False, True)
        status, _, error = ran("backup", str(file), "--data", str(data), "--incomplete")
        assert (status, f"{named} missing" in error) == (1, True)
        connection.execute("DELETE FROM object_charges")
    server.stop()
    assert main(["restore", str(file), "--data", str(tmp_path / "restored")]) == 0


def test_the_backup_is_readable_by_its_owner_only(backup: Path) -> None:
    assert backup.stat().st_mode & 0o077 == 0


def test_an_existing_backup_is_not_overwritten_unasked(data: Path, backup: Path, ran: Ran) -> None:
    before = backup.read_bytes()
    status, _, error = ran("backup", str(backup), "--data", str(data))
    assert (status, "--force" in error) == (1, True)
    assert backup.read_bytes() == before


def test_an_existing_data_folder_is_moved_aside_only_when_asked(backup: Path, ran: Ran, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "jwt-secret").write_text("former")
    status, _, error = ran("restore", str(backup), "--data", str(folder))
    assert (status, "--replace" in error) == (1, True)
    done = run_farm("restore", str(backup), "--data", str(folder), "--replace")
    assert done.returncode == 0, done.stderr
    (former,) = tmp_path.glob("data.before-*")
    assert (former / "jwt-secret").read_text() == "former"
    assert accounts(ran, folder) == ["studio"]


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_restore_that_cannot_make_the_data_folder_moves_the_former_one_back_or_names_it(
    is_taken: bool, backup: Path, ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "jwt-secret").write_text("former")
    rename = Path.rename

    def fail_at_the_end(source: Path, target: Path) -> Path:
        if source.parent.name.startswith(f".{folder.name}-"):
            if is_taken:
                (folder / "storage").mkdir(parents=True)
            raise OSError("no such device")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", fail_at_the_end)
    status, _, error = ran("restore", str(backup), "--data", str(folder), "--replace")
    assert (status, "no such device" in error) == (1, True)
    former = [path for path in tmp_path.iterdir() if (path / "jwt-secret").exists()]
    assert [(path / "jwt-secret").read_text() for path in former] == ["former"]
    assert (former == [folder]) is not is_taken
    assert (str(former[0]) in error) is is_taken or former == [folder]


def test_a_backup_that_was_cut_off_changes_nothing(backup: Path, tmp_path: Path, ran: Ran) -> None:
    cut = tmp_path / "cut.tar"
    cut.write_bytes(backup.read_bytes()[:20_000])
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "jwt-secret").write_text("former")
    status, _, error = ran("restore", str(cut), "--data", str(folder), "--replace")
    assert (status, "cut.tar" in error) == (1, True)
    assert (folder / "jwt-secret").read_text() == "former"
    assert {path.name for path in tmp_path.iterdir()} == {"cut.tar", "data"}


@pytest.mark.parametrize("damage", ["a damaged header", "cut off before a header", "cut off in a header", "a hole"])
def test_a_backup_that_is_damaged_between_two_objects_changes_nothing(damage: str, tmp_path: Path, ran: Ran) -> None:
    """The library for archives takes each of these for the end of the archive."""
    manifest = {"format": 1, "created_at": "", "schema": "0001", "object_count": 3, "object_bytes": 3}
    objects = {f"storage/objects/videos/{number}.mp4": b"1" for number in range(3)}
    made = archive(tmp_path, {"manifest.json": json.dumps(manifest).encode(), "database.dump": b"x", **objects})
    with tarfile.open(made) as whole:
        header = whole.getmember("storage/objects/videos/1.mp4").offset
    before, after = made.read_bytes()[:header], made.read_bytes()[header:]
    damaged = {
        "a damaged header": b"\xff" * 512 + after[512:], "cut off before a header": b"", "cut off in a header": after[:100],
        "a hole": bytes(4096),
    }  # fmt: skip
    made.write_bytes(before + damaged[damage])
    status, _, error = ran("restore", str(made), "--data", str(tmp_path / "data"))
    assert (status, "damaged or cut off" in error) == (1, True), error
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ({"format": 99, "created_at": "", "schema": "0001", "object_count": 0, "object_bytes": 0}, "format 99"),
        ({"format": 1, "created_at": "", "schema": "9999", "object_count": 0, "object_bytes": 0}, "newer version"),
        ({"format": 1}, "manifest"),
    ],
)
def test_a_backup_of_another_version_is_refused_by_name(
    manifest: dict[str, object], reason: str, tmp_path: Path, ran: Ran
) -> None:
    made = archive(tmp_path, {"manifest.json": json.dumps(manifest).encode(), "database.dump": b""})
    status, _, error = ran("restore", str(made), "--data", str(tmp_path / "data"))
    assert (status, reason in error) == (1, True)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "up.lock", "storage/../../outside", ""])
def test_an_archive_with_a_foreign_member_is_refused(name: str, tmp_path: Path, ran: Ran) -> None:
    manifest = {"format": 1, "created_at": "", "schema": "0001", "object_count": 0, "object_bytes": 0}
    members = {"manifest.json": json.dumps(manifest).encode(), name: b"x", "database.dump": b""}
    status, _, error = ran("restore", str(archive(tmp_path, members)), "--data", str(tmp_path / "deep" / "data"))
    assert (status, f"the backup holds {name!r}" in error) == (1, True)
    assert not list(tmp_path.rglob("outside"))


def archive(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "made.tar"
    with tarfile.open(path, "w") as made:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path
