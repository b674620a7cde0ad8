"""Cost of the console's pages with a million finished renders, through the app and real Postgres, in one process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import httpx
import psycopg
import uvloop

from api.app import app_state_from, create_app
from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.stores import own_stores
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.db.urls import libpq_url
from farm_core.settings import Settings
from farm_core.sign_in.repository import create_session
from farm_core.telemetry import logs

RENDERS: Final = 1_000_000
REQUESTS: Final = 60
AT_ONCE: Final = 4
LIMIT_MS: Final = 50.0
PAGES: Final = {
    "renders, newest": "/renders",
    "renders, deep page": "/renders?after={middle}",
    "renders, failed": "/renders?status=failed",
    "renders of a template": "/renders?template=tpl_3",
    "renders, searched": "/renders?text=nothing%20like%20it",
    "renders of an account": "/renders?account=acc_7",
    "one render": "/renders/job_000000500000",
    "templates": "/templates",
    "overview": "/",
    "accounts": "/accounts",
}
_FILL: Final = """
SET session_replication_role = replica;
INSERT INTO accounts (id, name, plan, created_at, operator)
    SELECT 'acc_' || n, 'account ' || n, 'pro', now(), n = 0 FROM generate_series(0, 9) AS n;
INSERT INTO account_queues (account_id) SELECT id FROM accounts ON CONFLICT DO NOTHING;
INSERT INTO templates (id, account_id, name, width, height, fps, duration_seconds, inputs, targets, document_key, created_at, updated_at)
    SELECT 'tpl_' || n, 'acc_' || n % 10, 'template ' || n, 1280, 720, 30, 10, '[]', '{{}}', 'documents/none.json', now(), now()
    FROM generate_series(0, 49) AS n;
INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
    request_hash, video_key, error, render_duration_ms, attempt, created_at, started_at, finished_at)
    SELECT 'job_' || lpad(n::text, 12, '0'), 'acc_' || n % 10, 'tpl_' || n % 50,
        CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'completed' END, CASE WHEN n % 100 = 0 THEN 50 ELSE 100 END,
        '{{"headline": "Hello"}}', 1280, 720, 30, 300, 10000, 'http://farm.example', '',
        CASE WHEN n % 100 = 0 THEN NULL ELSE 'results/x.mp4' END, CASE WHEN n % 100 = 0 THEN 'The photo could not be fetched.' END,
        CASE WHEN n % 100 = 0 THEN NULL ELSE 4000 END, 1, at, at, at + interval '5 seconds'
    FROM (SELECT n, now() - ({count} - n) * interval '2.5 seconds' AS at FROM generate_series(1, {count}) AS n) AS jobs;
"""


def _rows(quick: bool) -> Iterator[Row]:
    """Yield the CPU and wall milliseconds of each page. Posters of a page are separate requests."""
    logs.set_up("ERROR")
    with own_stores(durable=False) as (server, redis, folder):
        _fill(server.url, RENDERS // 20 if quick else RENDERS)
        settings = Settings(database_url=server.url, redis_url=redis.url, data_folder=folder)
        yield from uvloop.run(_measured(settings, REQUESTS // 10 if quick else REQUESTS))


def _fill(url: str, count: int) -> None:
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        connection.execute(_FILL.format(count=count).encode())
        connection.execute("VACUUM ANALYZE")


async def _measured(settings: Settings, requests: int) -> Sequence[Row]:
    database = Database(str(settings.database_url))
    async with database.work() as session:
        token = await create_session(session, "acc_0", SystemClock().now())
    middle = f"{time.time() - 600_000:.6f}~job_x"
    await database.close()
    transport = httpx.ASGITransport(
        app=create_app(app_state_from(settings.model_copy(update={"stills_per_minute": 1})))
    )
    cookies = {"farm_console": token}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://farm.example", cookies=cookies, timeout=300
    ) as client:
        return [await _page(client, name, path.format(middle=middle), requests) for name, path in PAGES.items()]


async def _page(client: httpx.AsyncClient, name: str, path: str, requests: int) -> Row:
    for _ in range(3):
        await _asked(client, path)
    waited = [await _asked(client, path) for _ in range(requests)]
    began = time.perf_counter()
    await asyncio.gather(*(_in_a_row(client, path, requests // AT_ONCE) for _ in range(AT_ONCE)))
    rate = requests / (time.perf_counter() - began)
    return {
        "page": name, "p50 ms": round(1000 * quantile(waited, 0.5), 1),
        "p99 ms": round(1000 * quantile(waited, 0.99), 1), "pages/s": round(rate, 1), "limit ms": LIMIT_MS,
    }  # fmt: skip


async def _in_a_row(client: httpx.AsyncClient, path: str, requests: int) -> None:
    for _ in range(requests):
        await _asked(client, path)


async def _asked(client: httpx.AsyncClient, path: str) -> float:
    began = time.perf_counter()
    answer: Any = await client.get(f"/console{path}")
    assert answer.status_code == 200, answer.text
    return time.perf_counter() - began


BENCHMARK = Benchmark(
    question="How long does a page of the console take with a million finished renders?",
    rows=_rows, label="page", bar="p50 ms", limit=LIMIT_MS,
)  # fmt: skip
