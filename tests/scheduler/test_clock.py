"""A scheduler on a machine with a wrong clock does not take over live work or delete recent files."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from api.app import app_state_from, create_app
from farm_core.clock import FollowingClock
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.jobs import workers
from farm_core.settings import Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.__main__ import dependencies_of
from scheduler.scheduler import Scheduler
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import Gate, farm, parts_for

pytestmark = pytest.mark.service


@pytest.mark.parametrize("off", [timedelta(days=400), -timedelta(hours=1)])
async def test_a_scheduler_with_a_wrong_clock_leaves_others_their_tasks_and_keeps_what_is_young(
    database_url: str, tmp_path: Path, off: timedelta
) -> None:
    gate, storage = Gate(), LocalStorage(tmp_path / "storage", Links(b"secret"))

    async with farm(database_url, tmp_path, behave=gate) as right:
        done = await right.create(seconds=1, document_key="frozen/done")
        held = await right.create(seconds=1, document_key="frozen/held")
        await gate.reached()
        (tmp_path / "wrong").mkdir()
        clock = FollowingClock(lambda: datetime.now(UTC) + off)
        wrong = Scheduler(parts_for(Database(database_url), storage, [], tmp_path / "wrong", clock), database_url)
        await wrong.start()
        for service in (*wrong.keepers, *wrong.keepers):
            service.ticked.clear()
            service.wake()
            await asyncio.wait_for(service.ticked.wait(), HANG_SECONDS)
        gate.open()
        assert [(await right.ended(job_id)).status for job_id in (done, held)] == ["completed"] * 2
        attempts = [task.attempt for job_id in (done, held) for task in await right.tasks(job_id)]
        assert set(attempts) == {1}, "a lease was taken for expired"
        for service in wrong.keepers:
            service.ticked.clear()
            service.wake()
            await asyncio.wait_for(service.ticked.wait(), HANG_SECONDS)
        async with right.database.work() as session:
            assert (await session.execute(text("SELECT count(*) FROM jobs"))).scalar_one() == 2, "history was deleted"
        await wrong.stop()


def test_schedulers_follow_the_clock_of_postgres(database_url: str, tmp_path: Path) -> None:
    chosen = Settings(database_url=database_url, data_folder=tmp_path, ray_address="127.0.0.1:1", jwt_secret="s" * 32)
    assert isinstance(dependencies_of(chosen, tmp_path).clock, FollowingClock)


async def test_the_api_follows_the_clock_of_postgres(database_url: str, redis_url: str, tmp_path: Path) -> None:
    """An API whose clock was ten minutes ahead took all workers for gone, and delayed webhooks."""
    chosen = Settings(database_url=database_url, redis_url=redis_url, data_folder=tmp_path, jwt_secret="s" * 32)
    clock = app_state_from(chosen).clock
    assert isinstance(clock, FollowingClock)
    ahead = FollowingClock(lambda: datetime.now(UTC) + timedelta(minutes=10))

    app = create_app(app_state_from(chosen, ahead))
    async with asyncio.timeout(HANG_SECONDS), app.router.lifespan_context(app):
        while abs(ahead.now() - datetime.now(UTC)) > timedelta(seconds=5):  # noqa: ASYNC110 - a clock has no event
            await asyncio.sleep(0.05)


def test_a_step_of_the_machines_clock_moves_nothing() -> None:
    steps = iter([datetime(2026, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC), datetime(1999, 1, 1, tzinfo=UTC)])
    clock = FollowingClock(lambda: next(steps))
    assert clock.now().year == 2026, "nothing is known yet"
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    assert clock.follow(moment, clock.monotonic()) > 4 * 365 * 86400
    assert abs(clock.now() - moment) < timedelta(seconds=10)


def test_a_step_of_postgres_clock_is_followed_before_workers_count_as_gone() -> None:
    assert postgres_clock.EVERY_SECONDS < workers.LIVE_SECONDS / 2
