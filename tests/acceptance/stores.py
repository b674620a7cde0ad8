"""Postgres, Valkey and an S3 server on a network address, for a farm on several machines."""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from cluster.embedded import postgres, process, unprivileged, valkey
from cluster.local.ray_head import free_port
from tests.patience import HANG_SECONDS
from tests.s3_server import S3Server


@dataclass(frozen=True, slots=True)
class Stores:
    """Addresses of the stores."""

    database_url: str
    redis_url: str
    storage: S3Server

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings of a farm that uses the stores."""
        return {"DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url, **self.storage.environment}


@contextmanager
def stores(folder: Path, address: str) -> Iterator[Stores]:
    """Yield empty stores that listen on the address, with their data in `folder`."""
    storage = S3Server(folder / "s3", host=address)
    with _postgres(folder / "postgres", address) as database_url, _valkey(folder, address) as redis_url:
        storage.start()
        try:
            yield Stores(database_url, redis_url, storage)
        finally:
            storage.kill()


@contextmanager
def _postgres(folder: Path, address: str) -> Iterator[str]:
    """Yield a Postgres that asks for a password."""
    password, port, user = secrets.token_hex(8), free_port(), unprivileged.server_user()
    embedded = postgres.start(folder)
    with psycopg.connect(embedded.url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE farm SUPERUSER LOGIN PASSWORD '{password}'")
    embedded.stop()
    (folder / "pg_hba.conf").write_text("host all all 0.0.0.0/0 scram-sha-256\n")
    program = str(unprivileged.reachable(Path(postgres.binary("postgres")), user))
    options = {"listen_addresses": address, "port": str(port), "unix_socket_directories": "", "max_connections": "200"}
    command = [program, "-D", "/proc/self/cwd", *(f"--{name}={value}" for name, value in options.items())]
    server = process.spawn(command, folder.with_suffix(".log"), "INT", user, folder)
    try:
        _wait(server, address, port)
        yield f"postgresql://farm:{password}@{address}:{port}/{postgres.DATABASE}"
    finally:
        process.end(server, signal.SIGINT)


@contextmanager
def _valkey(folder: Path, address: str) -> Iterator[str]:
    port = free_port()
    command = [
        str(valkey.binary()), "--bind", address, "--port", str(port), "--protected-mode", "no", "--save", "",
        "--dir", str(folder),
    ]  # fmt: skip
    server = process.spawn(command, folder / "valkey.log", "KILL")
    try:
        _wait(server, address, port)
        yield f"redis://{address}:{port}/0"
    finally:
        process.end(server, signal.SIGTERM)


def _wait(server: subprocess.Popen[bytes], address: str, port: int) -> None:
    """Wait until a server listens on the port."""
    deadline = time.monotonic() + HANG_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((address, port)) == 0:
                return
        assert server.poll() is None and time.monotonic() < deadline, server.args
        time.sleep(0.02)
