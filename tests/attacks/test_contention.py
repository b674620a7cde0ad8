"""Many clients create, repeat and cancel jobs while a scheduler claims and ends them: no 5xx, no deadlock, correct
counts."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.scheduler import Scheduler
from tests.api.world import Someone, World, document, field, layer
from tests.deadlocks import deadlocks
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import DummyWork, parts_for

CLIENTS = 30
ROUNDS = 12

pytestmark = [pytest.mark.service, pytest.mark.alone]


def test_thirty_clients_meet_no_deadlock_and_no_server_error(start: Callable[..., World], tmp_path: Path) -> None:
    world = start(automation_renders_per_minute=100_000)
    world.clock.advance((datetime.now(UTC) - world.clock.now()).total_seconds())  # the scheduler's month
    accounts = [world.account(monthlyRenderMinutes=100_000) for _ in range(3)]
    titles = [field("headline", "text", "n1", "Text", "content")]
    card = document(layer("n1", "Headline", "text"), fields=titles)
    inputs = [{"id": "headline", "label": "Headline", "kind": "text"}]
    templates = [account.template(document=card, inputs=inputs) for account in accounts]
    callers = [(accounts[number % 3], templates[number % 3]) for number in range(CLIENTS)]
    with scheduling(world, tmp_path), ThreadPoolExecutor(CLIENTS) as pool:
        statuses = sum(pool.map(lambda caller: client(*caller), callers), Counter[int]())
    assert set(statuses) <= {200, 201}, statuses
    assert deadlocks(str(world.settings.database_url)) == 0
    for account in accounts:
        created, active_ms, done_ms = books(world, account.account_id)
        usage = account.usage()
        assert usage["renderJobs"] == created == CLIENTS // 3 * ROUNDS
        assert usage["reservedRenderMinutes"] * 60_000 == pytest.approx(active_ms)
        assert usage["renderedMinutes"] * 60_000 == pytest.approx(done_ms)


def client(account: Someone, template: str) -> Counter[int]:
    """Create jobs, repeat each creation, and cancel every second job; return the number of answers by status."""
    seen: Counter[int] = Counter()
    with account.world.new_client(headers=account.headers) as http:
        for number in range(ROUNDS):
            headers = {"Idempotency-Key": new_id("key-0")}
            body = {"templateId": template, "inputs": {"headline": "The same for all"}}
            answers = [http.post("/api/v1/renders", json=body, headers=headers) for _ in range(2)]
            seen.update(answer.status_code for answer in answers)
            if number % 2 and answers[0].status_code == 201:
                seen[http.post(f"/api/v1/renders/{answers[0].json()['jobId']}/cancel").status_code] += 1
    return seen


def books(world: World, account_id: str) -> tuple[int, int, int]:
    """Return the account's jobs, and the reserved milliseconds of active and of completed ones."""
    row = world.database.execute(
        "SELECT count(*), coalesce(sum(reserved_ms) FILTER (WHERE status IN ('queued', 'processing')), 0),"
        " coalesce(sum(reserved_ms) FILTER (WHERE status = 'completed'), 0) FROM jobs WHERE account_id = %s",
        (account_id,),
    ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


@contextmanager
def scheduling(world: World, folder: Path) -> Iterator[None]:
    """Run a scheduler on the world's database in its own thread. It fetches no media."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_schedule(world, folder, stop)))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(HANG_SECONDS)


async def _schedule(world: World, folder: Path, stop: threading.Event) -> None:
    storage = LocalStorage(world.settings.data_folder / "storage", Links(b"secret"))
    works = [DummyWork(storage, f"w{index}") for index in range(4)]
    url = str(world.settings.database_url)
    scheduler = Scheduler(parts_for(Database(url), storage, works, folder), url)
    await scheduler.start()
    await asyncio.to_thread(stop.wait)
    await scheduler.stop()
