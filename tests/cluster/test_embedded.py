"""The embedded servers start, keep their data, and leave nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from cluster.embedded import postgres, process, sockets, valkey
from farm_core.db.urls import libpq_url
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
ROOT = Path(__file__).resolve().parents[2]

PARENT = """
import sys
from pathlib import Path
from typing import Any
from cluster.embedded import {module}
server = {module}.start(Path(sys.argv[1]))
print(server.process.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "server"


def has_ended(pid: int) -> bool:
    import psutil

    try:
        psutil.Process(pid).wait(HANG_SECONDS)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


def kill_a_parent_of(module: str, folder: Path) -> int:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(module=module), str(folder)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert parent.stdout is not None and parent.stdin is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    parent.stdin.close()
    return pid


@pytest.fixture
def started(folder: Path) -> Iterator[postgres.EmbeddedPostgres]:
    server = postgres.start(folder)
    yield server
    server.stop()


def test_postgres_keeps_its_data_over_a_restart(started: postgres.EmbeddedPostgres, folder: Path) -> None:
    with psycopg.connect(started.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    started.stop()
    assert not started.alive
    again = postgres.start(folder)
    with psycopg.connect(again.url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    again.stop()


def test_a_second_start_on_the_folder_adopts_the_running_server(
    started: postgres.EmbeddedPostgres, folder: Path
) -> None:
    guest = postgres.start(folder)
    assert guest.process is None
    guest.stop()
    assert started.alive


def test_a_server_that_lets_nobody_in_is_named_with_its_reason(
    started: postgres.EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "START_SECONDS", 0.0)
    maintenance = started.url.replace("/farm?", "/postgres?")
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {postgres.DATABASE} ALLOW_CONNECTIONS false")
    with pytest.raises(process.ServerFailed, match="not currently accepting connections"):
        postgres.start(started.folder)
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {postgres.DATABASE} ALLOW_CONNECTIONS true")


def test_a_folder_that_has_lost_its_pg_version_is_refused_and_keeps_its_files(folder: Path) -> None:
    """It was taken for an interrupted start, and deleted with the database."""
    (folder / "base").mkdir(parents=True)
    (folder / "base" / "1").write_text("rows")
    with pytest.raises(process.ServerFailed, match="no PG_VERSION"):
        postgres.start(folder)
    assert (folder / "base" / "1").read_text() == "rows"


def test_an_interrupted_start_on_a_disk_of_its_own_is_begun_again(folder: Path) -> None:
    for name in ("fresh", "base", "lost+found"):
        (folder / name).mkdir(parents=True)
    server = postgres.start(folder, durable=False)
    server.stop()
    assert (folder / "PG_VERSION").exists()
    assert not (folder / "fresh").exists()
    assert (folder / "lost+found").exists()


def test_postgres_recovers_after_being_killed(started: postgres.EmbeddedPostgres, folder: Path) -> None:
    with psycopg.connect(started.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    assert started.process is not None
    os.killpg(started.process.pid, signal.SIGKILL)
    started.process.wait()
    again = postgres.start(folder)
    with psycopg.connect(again.url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    again.stop()


@pytest.mark.parametrize("module", ["postgres", "valkey"])
def test_a_server_ends_with_a_killed_parent_and_starts_again(module: str, folder: Path) -> None:
    pid = kill_a_parent_of(module, folder)
    again = {"postgres": postgres, "valkey": valkey}[module].start(folder)
    assert has_ended(pid)
    assert again.alive
    again.stop()


@pytest.mark.parametrize("name", ["long" * 40, "ü" * 20 + " long in bytes", "Räume, mit 'Namen' %41"])
def test_a_folder_with_an_unusual_name_will_do(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    server, cache = postgres.start(folder / "postgres"), valkey.start(folder / "valkey")
    assert server.alive and cache.alive
    psycopg.connect(libpq_url(server.url)).close()
    server.stop()
    cache.stop()


def test_a_private_folder_for_temporary_files_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / ("private" * 10)
    private.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    folder = tmp_path / ("long" * 40)
    server, cache = postgres.start(folder / "postgres"), valkey.start(folder / "valkey")
    assert server.alive and cache.alive
    server.stop()
    cache.stop()


def test_the_socket_folder_of_a_killed_server_is_removed_when_its_data_folder_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))
    temporary.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    gone, kept = (tmp_path / name / "postgres" for name in ("gone" * 40, "kept" * 40))
    for folder in (gone, kept):
        assert has_ended(kill_a_parent_of("postgres", folder))
    assert len(list(temporary.iterdir())) == 2
    shutil.rmtree(gone.parent)
    postgres.start(tmp_path / "third").stop()
    (left,) = temporary.iterdir()
    assert (left / "data").resolve() == kept
    postgres.start(kept).stop()
    temporary.rmdir()


def test_the_sockets_of_a_server_that_was_killed_itself_go_with_its_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))
    temporary.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    server = postgres.start(tmp_path / ("long" * 40) / "postgres")
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    shutil.rmtree(tmp_path / ("long" * 40))
    (left,) = temporary.iterdir()
    assert any(path.is_socket() for path in left.iterdir())
    empty = temporary / f"farm-{os.geteuid()}-0123456789abcdef"
    empty.mkdir()
    os.utime(empty, (0, 0))
    postgres.start(tmp_path / "other").stop()
    temporary.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_that_another_user_has_named_like_a_socket_folder_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "farm-0-0123456789abcdef"
    folder.mkdir()
    (folder / "data").symlink_to(tmp_path / "gone")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "s"))
    os.chown(folder, 12345, 12345)
    sockets.remove_left(tmp_path, None)
    assert {path.name for path in folder.iterdir()} == {"data", "s"}
    os.chown(folder, 0, 0)
    sockets.remove_left(tmp_path, None)
    assert not folder.exists()


def status_of(pid: int) -> dict[str, str]:
    rows = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: value.strip() for name, _, value in rows}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_roots_postgres_has_no_capability_and_lets_no_other_user_in(
    started: postgres.EmbeddedPostgres, tmp_path: Path
) -> None:
    assert started.process is not None
    status = status_of(started.process.pid)
    assert status["Uid"].split()[0] not in ("0", "65534")
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb")} == {0}
    connect = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", postgres.binary("psql"), started.url]
    assert subprocess.run([*connect, "-c", "SELECT 1"], capture_output=True, check=False).returncode != 0
    with psycopg.connect(started.url) as connection, pytest.raises(psycopg.Error):
        connection.execute("SELECT pg_ls_dir('..')")


def test_the_servers_files_trust_nobody(started: postgres.EmbeddedPostgres, folder: Path) -> None:
    assert "trust" not in (folder / "pg_hba.conf").read_text()


def test_postgres_changes_the_rules_and_the_owner_of_a_folder_of_an_earlier_version(
    started: postgres.EmbeddedPostgres, folder: Path
) -> None:
    started.stop()
    (folder / "pg_hba.conf").write_text("local all all trust\n")
    for path in (folder, *folder.rglob("*")):
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
    again = postgres.start(folder)
    assert "trust" not in (folder / "pg_hba.conf").read_text()
    again.stop()


def test_valkey_answers_and_stops(folder: Path) -> None:
    server = valkey.start(folder)
    client = redis.Redis.from_url(server.url)
    assert client.set("key", "value")
    assert client.get("key") == b"value"
    client.close()
    server.stop()
    assert not server.alive


@pytest.mark.parametrize("damage", ["manifest", "incr.aof", "base.rdb"])
def test_valkey_starts_after_a_loss_of_power_has_damaged_its_files(folder: Path, damage: str) -> None:
    valkey.start(folder).stop()
    (path,) = (folder / "appendonlydir").glob(f"*{damage}")
    path.write_bytes(bytes(4096))
    server = valkey.start(folder)
    assert server.alive
    server.stop()
    valkey.start(folder).stop()


def test_valkey_keeps_its_files_if_something_else_prevents_its_start(folder: Path) -> None:
    server = valkey.start(folder)
    with redis.Redis.from_url(server.url) as client:
        client.set("key", "value")
    server.stop()
    (folder / "valkey.sock").mkdir()
    with pytest.raises(process.ServerFailed, match="opening Unix socket"):
        valkey.start(folder)
    (folder / "valkey.sock").rmdir()
    server = valkey.start(folder)
    with redis.Redis.from_url(server.url) as client:
        assert client.get("key") == b"value"
    server.stop()


def test_a_start_that_is_interrupted_leaves_no_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch, launched = postgres._launch, list[subprocess.Popen[bytes]]()

    def interrupted(*arguments: Any) -> subprocess.Popen[bytes]:
        launched.append(launch(*arguments))
        signal.raise_signal(signal.SIGTERM)
        return launched[0]

    def end(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(postgres, "_launch", interrupted)
    former = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(SystemExit):
            postgres.start(folder, durable=False)
    finally:
        signal.signal(signal.SIGTERM, former)
    assert launched[0].returncode is not None
