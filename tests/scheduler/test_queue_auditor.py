"""A scheduler corrects queue tables that were changed without triggers."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from scheduler.maintenance.queue_auditor import QueueAuditor
from tests.scheduler.farm import farm

pytestmark = pytest.mark.service


async def test_a_job_that_the_queue_tables_do_not_know_is_found_and_rendered(database_url: str, tmp_path: Path) -> None:
    async with farm(database_url, tmp_path, workers=1) as running:
        async with running.database.work() as session:
            await session.execute(text("UPDATE queue_state SET paused_at = now()"))
        job_id = await running.create(seconds=1)
        async with running.database.work() as session:
            await session.execute(text("UPDATE account_queues SET queued = 0, reserved_ms = 0, next_job_id = NULL"))
            await session.execute(text("UPDATE queue_state SET paused_at = NULL"))
        await QueueAuditor(running.dependencies).tick()
        assert (await running.ended(job_id)).status == "completed"
        async with running.database.reading() as session:
            counts = text("SELECT sum(queued), sum(processing), sum(completed), sum(reserved_ms) FROM account_queues")
            assert tuple((await session.execute(counts)).one()) == (0, 0, 1, 0)
