"""Changes of a job that listeners receive, from claim to completion."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from farm_core import redis
from farm_core.progress.changes import JobChange, listen
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import farm

pytestmark = pytest.mark.service


async def test_a_listener_hears_every_state_and_progress_that_never_goes_back(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    async with redis.connect(redis_url) as client, farm(database_url, tmp_path, redis_url=redis_url) as under_test:
        heard = listen(client, "acc_a")
        assert await anext(heard) is None
        job_id = await under_test.create(seconds=6)
        changes: list[JobChange] = []
        async with asyncio.timeout(HANG_SECONDS):
            while not changes or changes[-1].get("status") != "completed":
                change = await anext(heard)
                assert change is not None
                changes.append(change)
        await heard.aclose()
        assert {change["job_id"] for change in changes} == {job_id}
        assert [change["status"] for change in changes if "status" in change] == ["processing", "completed"]
        shown = [change["progress"] for change in changes]
        assert shown == sorted(shown)
        assert shown[-1] == 100
        assert max(shown[:-1]) <= 99
