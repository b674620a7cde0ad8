"""Fixtures of real servers: embedded Postgres with a new database per test, embedded Valkey, a storage folder.

Fixtures import the servers' modules themselves, so that tests without servers start faster.
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.patience import HANG_SECONDS

if TYPE_CHECKING:
    from cluster.embedded import postgres, valkey
    from farm_core.db.database import Database
    from tests.s3_server import S3Server

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres.EmbeddedPostgres]:
    from cluster.embedded import postgres
    from farm_core.db import database, urls
    from tests import in_memory

    with in_memory.folder(tmp_path_factory.mktemp("postgres")) as folder, pytest.MonkeyPatch.context() as patched:
        # On a busy machine it answers after the farm's own time limits, and requests hold connections for long.
        patched.setitem(urls.CONNECTION, "connect_timeout", HANG_SECONDS)
        patched.setattr(database, "POOL_SECONDS", HANG_SECONDS)
        server = postgres.start(folder / "data", durable=False)
        yield server
        server.stop()


@pytest.fixture(scope="session")
def migrated_template(postgres_server: postgres.EmbeddedPostgres) -> str:
    """Return the name of a migrated database. Tests work on clones of it."""
    from cluster.embedded import postgres
    from farm_core.db import migrate

    migrate.upgrade(postgres_server.url)
    return postgres.DATABASE


@pytest.fixture
def empty_database_url(postgres_server: postgres.EmbeddedPostgres) -> Iterator[str]:
    yield from _database(postgres_server, "template1")


@pytest.fixture(scope="session")
def shared_database_url(postgres_server: postgres.EmbeddedPostgres, migrated_template: str) -> Iterator[str]:
    """Return a database for all tests that use their own accounts."""
    yield from _database(postgres_server, migrated_template)


@pytest.fixture
def database_url(postgres_server: postgres.EmbeddedPostgres, migrated_template: str) -> Iterator[str]:
    """Return a database with the farm's tables for this test only."""
    yield from _database(postgres_server, migrated_template)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Return the engine of a database for this test only."""
    from farm_core.db.database import Database

    found = Database(database_url)
    yield found
    await found.close()


def _database(server: postgres.EmbeddedPostgres, template: str) -> Iterator[str]:
    import psycopg

    from cluster.embedded import postgres

    name = f"test_{next(_numbers)}"
    maintenance = server.url.replace(f"/{postgres.DATABASE}?", "/postgres?")
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield server.url.replace(f"/{postgres.DATABASE}?", f"/{name}?")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[valkey.EmbeddedValkey]:
    yield from _valkey(tmp_path_factory)


@pytest.fixture(scope="session")
def shared_valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[valkey.EmbeddedValkey]:
    """Yield the Valkey of all tests that use their own accounts. `redis_url` never empties it, and no worker of another
    farm takes its requests for stills."""
    yield from _valkey(tmp_path_factory)


def _valkey(folders: pytest.TempPathFactory) -> Iterator[valkey.EmbeddedValkey]:
    from cluster.embedded import valkey
    from farm_core import redis
    from farm_core.progress import writer
    from farm_core.stills import exchange

    server = valkey.start(folders.mktemp("valkey"))
    with pytest.MonkeyPatch.context() as patched:
        # On a busy machine it answers after the farm's own time limit.
        patched.setattr(redis, "ANSWER_SECONDS", HANG_SECONDS)
        patched.setattr(writer, "ANSWER_SECONDS", HANG_SECONDS)
        patched.setattr(exchange, "ANSWER_SECONDS", HANG_SECONDS)
        patched.setattr(writer, "LAST_SECONDS", HANG_SECONDS)
        yield server
    server.stop()


@pytest.fixture
def redis_url(valkey_server: valkey.EmbeddedValkey) -> str:
    """Return the address of an empty Valkey."""
    import redis

    client = redis.Redis.from_url(valkey_server.url)
    client.flushall()
    client.close()
    return valkey_server.url


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Yield an S3 server with an empty bucket."""
    from tests.s3_server import S3Server

    server = S3Server(tmp_path_factory.mktemp("s3") / "buckets")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def deaf_ray() -> Iterator[str]:
    """Return the address of a Ray cluster that accepts connections and never answers. A farm starts on it without
    workers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
