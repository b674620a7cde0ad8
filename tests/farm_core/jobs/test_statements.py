"""Check the statements of `queries.sql` against the state tables, and measure their cost on large tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH
from sqlalchemy import text

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.db.sql import _query, names, statement
from farm_core.jobs.status import DELIVERY_EDGES, JOB_EDGES, TASK_EDGES, DeliveryStatus, JobStatus, TaskStatus
from farm_core.jobs.tasks import open_work
from tests.farm_core import rows

STATUSES: Final = {"jobs": JobStatus, "tasks": TaskStatus, "deliveries": DeliveryStatus}
MOVES: Final[dict[str, tuple[str, Any, set[str]]]] = {
    "claim_jobs": ("jobs", JOB_EDGES, {"claim"}),
    "lease_tasks": ("tasks", TASK_EDGES, {"lease"}),
    "finish_tasks": ("tasks", TASK_EDGES, {"finish"}),
    "retry_task": ("tasks", TASK_EDGES, {"retry"}),
    "fail_task": ("tasks", TASK_EDGES, {"fail"}),
    "withdraw_tasks": ("tasks", TASK_EDGES, {"withdraw"}),
    "lose_segments": ("tasks", TASK_EDGES, {"lose"}),
    "rescue_tasks": ("tasks", TASK_EDGES, {"retry"}),
    "hand_back_tasks": ("tasks", TASK_EDGES, {"retry"}),
    "unpin_jobs": ("tasks", TASK_EDGES, {"lose"}),
    "requeue_segment": ("tasks", TASK_EDGES, {"retry", "lose"}),
    "end_jobs": ("tasks", TASK_EDGES, {"finish"}),
    "repeat_delivery": ("deliveries", DELIVERY_EDGES, {"repeat"}),
}
"""Statements that set a status to a constant, each with the events of the state tables that it performs."""

_SET: Final = re.compile(r"UPDATE (\w+)(?: AS \w+)? SET status = '(\w+)'")
_LITERALS: Final = re.compile(r"status (?:=|<>|IN|NOT IN) (?:\(([^)]*)\)|('\w+'))")


def body(name: str) -> str:
    return "\n".join(line for line in statement(name).splitlines() if not line.lstrip().startswith("--"))


@pytest.mark.parametrize("name", sorted(names()))
def test_every_status_that_a_statement_names_is_one(name: str) -> None:
    known = {str(status) for statuses in STATUSES.values() for status in statuses}
    found = {word for group in _LITERALS.findall(body(name)) for word in re.findall(r"'(\w+)'", " ".join(group))}
    assert found <= known


@pytest.mark.parametrize("name", sorted(names()))
def test_every_move_follows_an_edge_of_the_state_table(name: str) -> None:
    found = _SET.findall(body(name))
    if not found:
        return
    table, edges, events = MOVES[name]
    ((updated, after),) = set(found)
    targets = {str(target) for (_, event), target in edges.items() if event in events}
    assert (updated, {after}) == (table, targets)
    sources = {str(before) for (before, event), _ in edges.items() if event in events}
    named = {word for group in _LITERALS.findall(body(name)) for word in re.findall(r"'(\w+)'", " ".join(group))}
    assert sources <= named, f"{name} does not check that it moves from {sorted(sources)}"


def test_no_statement_but_one_is_too_long_for_the_cache_of_psycopg() -> None:
    """Comments do not count. psycopg searches a longer statement for parameters at each use."""
    assert {name for name in names() if len(_query(name, ())) > MAX_CACHED_STATEMENT_LENGTH} == {"end_jobs"}
    assert not any("--" in _query(name, ()) for name in names())


OPEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "claim_jobs": {
        "account_jobs_max": 64, "stored_max": 2**62, "without": [], "candidates": 32, "jobs_max": 8, "lease_seconds": 20, "token": "t",
    },
    "open_work": {
        "heads_max": 8, "renderers": None, "depth_least": 2, "resting": [], "named": [], "are_named": None,
    },
}  # fmt: skip
FILL: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at)
    SELECT status || n, templates.account_id, templates.id, status, 0, '{}', 64, 64, 30, 90, 3000, '', '', 0,
        now() - make_interval(secs => n)
    FROM generate_series(CAST(:first AS int), CAST(:last AS int)) AS n CROSS JOIN (VALUES ('queued'), ('processing')) AS state(status)
    JOIN templates ON templates.account_id = (ARRAY(SELECT id FROM accounts ORDER BY id))[1 + n % 20]
"""
TASKS: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.0', id, 0, 'render', 0, 90, 'pending', 0, now() FROM jobs
    WHERE status = 'processing' AND NOT EXISTS (SELECT 1 FROM tasks WHERE job_id = jobs.id)
"""


NAMES: Final = [f"a{number}" for number in range(20)]


@pytest.fixture
def account_names() -> Sequence[str]:
    """Return the names of the accounts in the database."""
    return NAMES


@pytest.fixture
async def database(database: Database, account_names: Sequence[str]) -> Database:
    """Return a database in which each of these accounts has a template."""
    async with database.work() as session:
        for name in account_names:
            await rows.template(session, await rows.account(session, name))
    return database


async def blocks_read(database: Database, name: str, values: Mapping[str, Any]) -> int:
    async with database.engine.connect() as connection:
        explained = text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement(name)}")
        times = {"now": utc_now(), "since": utc_now()}
        plan = (await connection.execute(explained, {**times, **values})).scalar_one()[0]["Plan"]
        await connection.rollback()
        return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


@pytest.mark.service
@pytest.mark.parametrize("settle", ["VACUUM ANALYZE", "VACUUM"])
async def test_a_claim_and_a_dispatch_read_no_more_of_a_deep_queue_than_of_a_short_one(
    database: Database, settle: str
) -> None:
    """Tested with current statistics, and with those from before the tables were filled."""
    blocks = dict[str, list[int]]()
    for first, last in ((1, 200), (201, 8000)):
        async with database.work() as session:
            await session.execute(text(FILL), {"first": first, "last": last})
            await session.execute(text(TASKS))
        async with database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            await connection.execute(text(settle))
        for name, values in OPEN.items():
            blocks.setdefault(name, []).append(await blocks_read(database, name, values))
    # 40 times as many jobs make indexes one level deeper, so each look-up reads one more block.
    grown = {name: pair for name, pair in blocks.items() if pair[1] >= 3 * pair[0]}
    assert grown == {}, "blocks at 200 jobs, and at 8,000"


SEGMENTS: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.' || n, id, n, CASE WHEN n < 3 THEN 'render' ELSE 'assemble' END, 30 * n, 30,
        CASE WHEN n = 0 THEN 'done' ELSE 'pending' END, 0, now()
    FROM jobs CROSS JOIN generate_series(0, 3) AS n WHERE status = 'processing'
"""


@pytest.mark.service
async def test_a_dispatch_follows_the_index_of_a_jobs_waiting_tasks(database: Database) -> None:
    """The plan must not depend on statistics about the number of tasks."""
    async with database.work() as session:
        await session.execute(text(FILL), {"first": 1, "last": 2000})
        await session.execute(text(SEGMENTS))
    async with database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        await connection.execute(text("VACUUM ANALYZE"))
        explained = text(f"EXPLAIN {statement('open_work')}")
        lines = await connection.scalars(explained, {"now": utc_now(), **OPEN["open_work"]})
        plan = "\n".join(lines)
    assert "Index Scan using tasks_waiting" in plan, plan


@pytest.mark.service
async def test_a_dispatch_looks_up_no_job_that_was_planned_for_a_renderer(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text(FILL), {"first": 1, "last": 200})
        await session.execute(text("UPDATE jobs SET renderer = 'r' WHERE status = 'processing'"))
        await session.execute(text(TASKS))
        found = await open_work(session, utc_now(), 8, ["r"])
        assert {row.renderer for row in found} == {"r"}
        assert await open_work(session, utc_now(), 8, ["another"]) == []
        explained = text(f"EXPLAIN (ANALYZE, TIMING OFF) {statement('open_work')}")
        values = {"now": utc_now(), **OPEN["open_work"], "renderers": ["r"]}
        lines = list(await session.scalars(explained, values))
    looks = [line for line in lines if "on jobs" in line]
    assert looks and all("never executed" in line for line in looks), looks


@pytest.mark.service
async def test_a_connection_prepares_a_statement_at_its_first_use(database: Database) -> None:
    """Otherwise Postgres would plan it at five more uses."""
    async with database.engine.connect() as connection:
        await open_work(connection, utc_now(), 8)
        found = await connection.execute(text("SELECT statement FROM pg_prepared_statements"))
        assert any("account_queues" in statement for statement in found.scalars())


LEASED: Final[Mapping[str, Mapping[str, Any]]] = {
    "renew_tasks": {"tokens": ["lease.processing7.0"], "lease_seconds": 15, "fresh_seconds": 10},
    "finish_tasks": {
        "tokens": ["lease.processing7.0"],
        "segment_keys": ["s"],
        "sizes": [1],
        "reports": ["{}"],
        "workers": ["w7"],
    },
    "hand_back_tasks": {"tokens": ["lease.processing7.0"]},
    "retry_task": {
        "token": "lease.processing7.0",
        "failures": 1,
        "avoid_worker": None,
        "error": "",
        "after_seconds": 1,
    },
}
LEASE: Final = """
    UPDATE tasks SET status = 'leased', lease_token = 'lease.' || id, lease_expires_at = now(), worker = job_id WHERE status = 'pending'
"""


@pytest.mark.service
async def test_a_look_for_a_lease_reads_no_other_leases_even_without_statistics(database: Database) -> None:
    blocks = dict[str, list[int]]()
    for first, last in ((1, 200), (201, 8000)):
        async with database.work() as session:
            await session.execute(text(FILL), {"first": first, "last": last})
            await session.execute(text(TASKS))
            await session.execute(text(LEASE))
        for name, values in LEASED.items():
            blocks.setdefault(name, []).append(await blocks_read(database, name, values))
    grown = {name: pair for name, pair in blocks.items() if pair[1] >= 2 * pair[0] + 20}
    assert grown == {}, "blocks beside 200 leases, and beside 8,000"


HISTORY: Final[Mapping[str, Mapping[str, Any]]] = {
    "adopt_jobs": {"jobs_max": 8, "lease_seconds": 20, "token": "t"},
    "stranded_jobs": {"renderers": ["another"]},
    "open_segments": {"any_account": False, "limited_plans": ["pro", "free"]},
    "unpin_jobs": {"renderers": ["another"], "job_ids": ["a", "b"]},
    "rescue_tasks": {"tasks_max": 8},
    "shorten_leases": {"job_seconds": 20, "task_seconds": 15, "live_seconds": 15, "post_seconds": 120},
    "count_open": {},
    "miscounted_accounts": {},
    "queue_page": {"after": "", "accounts_max": 20},
    "recent_frames": {},
    "claim_deliveries": {
        "deliveries_max": 8, "account_max": 4, "token": "t", "lease_seconds": 20, "journal": "p", "sooner_seconds": 9, "late_seconds": 9,
        "ahead_seconds": 60,
    },
    "next_delivery": {},
}  # fmt: skip
"""Statements that run all the time, however many jobs have ended."""
ENDED: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, finished_at, video_key)
    SELECT 'completed' || n, templates.account_id, templates.id, 'completed', 0, '{}', 64, 64, 30, 90, 3000, '', '', 0,
        now() - make_interval(secs => n), now() - interval '1 hour', 'results/' || n
    FROM generate_series(CAST(:first AS int), CAST(:last AS int)) AS n
    JOIN templates ON templates.account_id = (ARRAY(SELECT id FROM accounts ORDER BY id))[1 + n % 20]
"""
ENDED_TASKS: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at, finished_at, worker)
    SELECT id || '.0', id, 0, 'render', 0, 90, 'done', 0, now(), now() - interval '1 hour', 'w' FROM jobs
    WHERE status = 'completed' AND NOT EXISTS (SELECT 1 FROM tasks WHERE job_id = jobs.id)
"""
DELIVERED: Final = """
    INSERT INTO deliveries (id, job_id, url, body, status, attempt, due_at, attempts, created_at, finished_at)
    SELECT id, id, '', '{}', 'delivered', 1, now(), '[]', now(), now() FROM jobs
    WHERE status = 'completed' ON CONFLICT DO NOTHING
"""


@pytest.mark.service
@pytest.mark.parametrize("settle", ["VACUUM ANALYZE", "VACUUM"])
async def test_recurring_statements_of_schedulers_read_no_ended_jobs(database: Database, settle: str) -> None:
    """Tested with current statistics, and with those from before the tables were filled."""
    async with database.work() as session:
        await session.execute(text(FILL), {"first": 1, "last": 100})
        await session.execute(text(TASKS))
    blocks = dict[str, list[int]]()
    for first, last in ((1, 200), (201, 8000)):
        async with database.work() as session:
            for filling in (ENDED, ENDED_TASKS, DELIVERED):
                await session.execute(text(filling), {"first": first, "last": last} if filling is ENDED else {})
        async with database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            await connection.execute(text(settle))
        for name, values in HISTORY.items():
            blocks.setdefault(name, []).append(await blocks_read(database, name, values))
    # Indexes are one level deeper, so each look-up reads one more block.
    grown = {name: pair for name, pair in blocks.items() if pair[1] > 2 * pair[0] + 20}
    assert grown == {}


CANCELLED: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, finished_at)
    SELECT 'cancelled' || n, account_id, id, 'cancelled', 0, '{}', 64, 64, 30, 90, 3000, '', '', 0, now(), now()
    FROM generate_series(CAST(:first AS int), CAST(:last AS int)) AS n CROSS JOIN (SELECT * FROM templates LIMIT 1) AS one
"""
DUE: Final = """
    INSERT INTO deliveries (id, job_id, url, body, status, attempt, due_at, attempts, created_at)
    SELECT id, id, '', '{}', 'due', 0, now() + make_interval(secs => :wait), '[]', now() FROM jobs WHERE status = 'cancelled'
    ON CONFLICT DO NOTHING
"""


@pytest.mark.service
@pytest.mark.parametrize(
    ("settle", "statements"),
    [("VACUUM ANALYZE", ("claim_deliveries", "next_delivery", "shorten_leases")), ("VACUUM", ("claim_deliveries",))],
)
@pytest.mark.parametrize("wait", [0, 25], ids=["due", "between two attempts"])
async def test_a_sender_of_webhooks_reads_no_more_of_thousands_than_of_hundreds(
    database: Database, settle: str, statements: Sequence[str], wait: int
) -> None:
    """One account can cancel batches faster than its receiver answers, or have a receiver that refuses them at once."""
    blocks = dict[str, list[int]]()
    for first, last in ((1, 200), (201, 8000)):
        async with database.work() as session:
            await session.execute(text(CANCELLED), {"first": first, "last": last})
            await session.execute(text(DUE), {"wait": wait})
        async with database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            await connection.execute(text(settle))
        for name in statements:
            blocks.setdefault(name, []).append(await blocks_read(database, name, HISTORY[name]))
    grown = {name: pair for name, pair in blocks.items() if pair[1] > 2 * pair[0] + 20}
    assert grown == {}


PINNED: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, renderer)
    SELECT accounts.name, account_id, templates.id, 'processing', 0, '{}', 64, 64, 30, 360, 3000, '', '', 0, now(),
        CASE WHEN accounts.name = 'mine' THEN 'r' ELSE 'another' END
    FROM templates JOIN accounts ON accounts.id = account_id
"""
MANY_TASKS: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.' || n, id, n, 'render', 30 * n, 30, 'pending', 0, now() FROM jobs CROSS JOIN generate_series(0, 11) AS n
"""


@pytest.mark.service
@pytest.mark.parametrize("account_names", [[*(f"other{number}" for number in range(9)), "mine"]])
async def test_accounts_whose_work_is_for_other_workers_take_no_room_from_the_rest(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text(PINNED))
        await session.execute(text(MANY_TASKS))
    found = await database.single(lambda connection: open_work(connection, utc_now(), 4, ["r"]))
    assert [row.task_id for row in found] == [f"mine.{number}" for number in range(8)]


SHORT: Final = "DELETE FROM tasks USING jobs WHERE tasks.job_id = jobs.id AND jobs.renderer = 'r' AND jobs.id <> 'a0' AND tasks.index > 0"


@pytest.mark.service
@pytest.mark.parametrize("account_names", [NAMES[:8]])
async def test_one_account_with_a_long_queue_fills_the_places_that_many_with_one_task_leave(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text(PINNED.replace("'mine'", "accounts.name")))
        await session.execute(text(MANY_TASKS))
        await session.execute(text(SHORT))
    found = await database.single(lambda connection: open_work(connection, utc_now(), 16, ["r"]))
    assert {row.job_id for row in found} == {f"a{number}" for number in range(8)}
    assert sum(row.job_id == "a0" for row in found) >= 16 - 7
