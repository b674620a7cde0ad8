"""Two farms by mistake on one database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest
from structlog.testing import capture_logs

from cluster.local.servers import wait_for_servers
from farm_core.db import storage_claim
from farm_core.db.urls import libpq_url
from farm_core.settings import Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.listener import Listener
from tests.patience import HANG_SECONDS


def storage(folder: Path) -> LocalStorage:
    return LocalStorage(folder / "storage", Links(b"s" * 32))


def identity(folder: Path) -> str:
    return storage(folder).identity()


def test_a_folder_has_the_same_identity_in_every_process_and_at_every_mount(tmp_path: Path) -> None:
    first = identity(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    assert identity(tmp_path / "b") == first != identity(tmp_path / "c")


async def test_a_scheduler_with_other_storage_is_refused_while_one_runs(
    empty_database_url: str, tmp_path: Path
) -> None:
    """Each farm took jobs of the other, and failed them because it did not find their files."""
    ours, other = storage(tmp_path / "a"), storage(tmp_path / "b")
    awake = asyncio.Event()
    listening = Listener(empty_database_url, ours.identity(), {"jobs": (awake.set,)})
    listening.start()
    await asyncio.wait_for(awake.wait(), HANG_SECONDS)
    await storage_claim.check(empty_database_url, ours)
    with pytest.raises(storage_claim.OtherStorage, match="S3_BUCKET"):
        await storage_claim.check(empty_database_url, other)
    with pytest.raises(storage_claim.OtherStorage):  # of `./farm up`
        await asyncio.to_thread(
            wait_for_servers, Settings(database_url=empty_database_url, data_folder=tmp_path / "b"), bool
        )
    await listening.stop()
    async with asyncio.timeout(HANG_SECONDS):
        while await _sessions(empty_database_url):  # noqa: ASYNC110 - Postgres ends them
            await asyncio.sleep(0.02)
    await storage_claim.check(empty_database_url, other)


async def test_schedulers_that_start_together_with_different_storages_are_logged(empty_database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(libpq_url(empty_database_url), autocommit=True) as connection:
        await storage_claim.claim(connection, "other")
        with capture_logs() as lines:
            awake = asyncio.Event()
            listening = Listener(empty_database_url, "ours", {"jobs": (awake.set,)})
            listening.start()
            await asyncio.wait_for(awake.wait(), HANG_SECONDS)
            await listening.stop()
    assert [line["event"] for line in lines] == ["another farm uses the database"]


async def _sessions(url: str) -> int:
    """Return the number of other sessions of the database."""
    mine = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as connection:
        row = await (await connection.execute(mine)).fetchone()
    assert row is not None
    return int(row[0])
