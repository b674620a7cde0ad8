"""Cost of open pages of the console for the scheduler: a hundred operators look at the overview while segments run through."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
import uvloop

from benchmarks.queue import FPS, dependencies_of, job_of, prepare_accounts, seconds_to_complete
from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.service.api_process import running_api
from farm_core import redis
from farm_core.accounts.models import Account
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.settings import Settings
from farm_core.sign_in.repository import create_session
from farm_core.storage.local import LocalStorage
from scheduler.scheduler import Scheduler

PAGES: Final = 100
SEGMENTS: Final = 400
TURNS: Final = 5


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row without pages and one with them, each the median of turns that alternate."""
    with tempfile.TemporaryDirectory(prefix="farm-bench-") as folder, running_api(Path(folder)) as api:
        yield from uvloop.run(_measured(api.origin, api.settings, Path(folder), SEGMENTS // 4 if quick else SEGMENTS))


async def _measured(origin: str, settings: Settings, folder: Path, segments: int) -> Sequence[Row]:
    database = Database(str(settings.database_url))
    storage = await prepare_accounts(database, folder)
    async with database.work() as session:
        session.add(Account(id="acc_boss", name="operator", operator=True))
        await session.flush()
        token = await create_session(session, "acc_boss", SystemClock().now())
    turns: dict[int, list[tuple[float, float]]] = {0: [], PAGES: []}
    for turn in range(2 * TURNS):
        pages = turn % 2 * PAGES
        async with _open_pages(origin, token, pages):
            turns[pages].append(await _turn(settings, database, storage, folder, turn, segments))
    await database.close()
    return [_row(pages, measured, segments) for pages, measured in turns.items()]


async def _turn(
    settings: Settings, database: Database, storage: LocalStorage, folder: Path, turn: int, segments: int
) -> tuple[float, float]:
    """Return the seconds of one job: wall time, and processor time of this process, which runs the scheduler."""
    url = str(settings.database_url)
    client = redis.connect(str(settings.redis_url))
    scheduler = Scheduler(dependencies_of(Database(url, ping=False), storage, folder, client), url)
    began, used = time.perf_counter(), time.process_time()
    await seconds_to_complete(scheduler, database, [job_of(turn, round(segments * FPS))])
    taken = time.perf_counter() - began, time.process_time() - used
    await client.aclose()
    return taken


@asynccontextmanager
async def _open_pages(origin: str, token: str, count: int) -> AsyncIterator[None]:
    """Open a number of overview pages, each with its stream of events. A separate process answers them."""
    limits = httpx.Limits(max_connections=count + 1)
    async with httpx.AsyncClient(base_url=origin, cookies={"farm_console": token}, limits=limits, timeout=60) as client:
        opened = asyncio.Semaphore(0)
        pages = [asyncio.create_task(_look(client, opened)) for _ in range(count)]
        for _ in pages:
            await opened.acquire()
        yield
        for page in pages:
            page.cancel()
        ended = await asyncio.gather(*pages, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in ended), "a page was closed while it was looked at"


async def _look(client: httpx.AsyncClient, opened: asyncio.Semaphore) -> None:
    async with client.stream("GET", "/console/events?view=overview") as answer:
        answer.raise_for_status()
        is_first = True
        async for _ in answer.aiter_lines():
            if is_first:
                opened.release()
                is_first = False


def _row(pages: int, turns: Sequence[tuple[float, float]], segments: int) -> Row:
    wall, used = (statistics.median(column) for column in zip(*turns, strict=True))
    return {
        "pages": f"{pages} open pages",
        "segments/s": round(segments / wall, 1),
        "scheduler ms each": round(used / segments * 1000, 2),
    }


BENCHMARK = Benchmark(
    "What do 100 open overview pages cost the scheduler, in segments a second?",
    _rows,
    label="pages",
    bar="segments/s",
)  # fmt: skip
