"""Stores of a benchmark's own, in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.embedded import postgres, valkey
from cluster.embedded.postgres import EmbeddedPostgres
from cluster.embedded.valkey import EmbeddedValkey
from farm_core.db import migrate


@contextmanager
def own_postgres(*, durable: bool = True) -> Iterator[tuple[EmbeddedPostgres, Path]]:
    """Run a Postgres with the farm's tables. Yield it with the folder that holds its data, in `postgres`; it is deleted after the block."""
    with tempfile.TemporaryDirectory(prefix="farm-bench-") as folder:
        server = postgres.start(Path(folder) / "postgres", durable=durable)
        try:
            migrate.upgrade(server.url)
            yield server, Path(folder)
        finally:
            server.stop()


@contextmanager
def own_stores(*, durable: bool = True) -> Iterator[tuple[EmbeddedPostgres, EmbeddedValkey, Path]]:
    """Do the same with a Valkey beside Postgres."""
    with own_postgres(durable=durable) as (server, folder):
        cache = valkey.start(folder / "valkey")
        try:
            yield server, cache, folder
        finally:
            cache.stop()
