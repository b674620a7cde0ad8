"""What the scheduler deletes of its own accord, and what it spares."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from farm_core.clock import ManualClock
from farm_core.db.database import Database
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.maintenance.retention import ScratchReaper
from tests.scheduler.farm import parts_for


@pytest.mark.service
def test_bytes_that_never_got_their_row_are_deleted_once_it_would_have_expired(
    database_url: str, tmp_path: Path
) -> None:
    async def story() -> None:
        database, clock = Database(database_url), ManualClock(datetime.now(UTC) + timedelta(minutes=30))
        storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
        reaper = ScratchReaper(parts_for(database, storage, [], tmp_path, clock))
        storage.put_bytes("segments/cut-off.mp4", b"1")
        storage.put_bytes("assets/acc/cut-off.png", b"1")
        left = []
        for _ in range(3):
            await reaper.turn()
            left.append([held.key for held in storage.listed("")])
            clock.advance(13 * 3600)
        assert left == [["assets/acc/cut-off.png", "segments/cut-off.mp4"], ["assets/acc/cut-off.png"], []]
        await database.close()

    asyncio.run(story())
