"""A waiting job says what it waits for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from farm_core.controls.waiting import Wait, waits_for
from farm_core.db.columns import utc_now
from farm_core.jobs.models import Worker
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from tests.farm_core.controls.test_controls import Farm, on_a_farm

pytestmark = pytest.mark.service


def test_a_job_on_a_full_disk_does_not_say_that_it_waits_for_a_worker(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path, Links(b"secret"))

    async def body(farm: Farm) -> None:
        async with farm.database.work() as session:
            session.add(
                Worker(id="w", node="here", renderer="r", device="software", encoder="libx264", seen_at=utc_now())
            )
        async with farm.database.work() as session:
            assert await waits_for(session, farm.accounts["ada"], utc_now(), (), storage) == Wait.BUSY_WORKERS
            usage = shutil.disk_usage(tmp_path)._replace(free=0)
            monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
            assert await waits_for(session, farm.accounts["ada"], utc_now(), (), storage) == Wait.STORAGE

    on_a_farm(database_url, body)
