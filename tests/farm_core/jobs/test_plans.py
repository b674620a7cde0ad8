"""Check what kept plans of statements read when the farm is no longer as it was when they were made."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import text

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.db.urls import libpq_url
from tests.farm_core import rows
from tests.farm_core.jobs.test_statements import FILL, LEASE, LEASED, TASKS, body

NAMES: Final = [f"a{number}" for number in range(20)]
JOBS: Final = 2000
KNOWN: Final[Mapping[str, Mapping[str, Any]]] = {
    **LEASED,
    "leased_task": {"token": "lease.processing7.0"},
    "usable_workers": {"ids": [f"processing{number}" for number in range(1, 21)]},
}
"""Statements that look for some of the running tasks."""
CHECK: Final[Mapping[str, Mapping[str, Any]]] = {"delete_template_versions": {"before": utc_now(), "rows_max": 200}}
VERSIONS: Final = """
    INSERT INTO template_versions (template_id, version, account_id, inputs, targets, duration_seconds, document_key,
        replaced_at, restorable)
    SELECT id, n, account_id, inputs, targets, 1, '', now() - interval '1 day', true
    FROM templates CROSS JOIN generate_series(1, 100) AS n
"""
SCATTERED: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.' || n, id, n, 'render', 0, 90, 'pending', 0, now() FROM jobs CROSS JOIN generate_series(1, 3) AS n
    WHERE status = 'processing' ORDER BY md5(id || n)
"""
"""Tasks of a job that are not side by side."""
WORKERS: Final = """
    INSERT INTO workers (id, node, renderer, device, encoder, seen_at)
    SELECT id, 'n', 'r', 'd', 'e', now() FROM jobs WHERE status = 'processing'
"""


@pytest.mark.service
def test_a_plan_from_an_idle_time_reads_no_other_leases_when_thousands_are_running(database_url: str) -> None:
    """Schedulers keep their plans, and statistics can be from a time when no task was leased."""
    asyncio.run(_fill(database_url))
    with psycopg.Connection[tuple[Any, ...]].connect(
        libpq_url(database_url), autocommit=True, cursor_factory=psycopg.ClientCursor
    ) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("SET plan_cache_mode = force_generic_plan")
        plans = {name: _prepared(connection, name) for name in KNOWN}
        idle = {name: _blocks_read(connection, name, plans[name]) for name in KNOWN}
        connection.execute(LEASE.encode())
        busy = {name: _blocks_read(connection, name, plans[name]) for name in KNOWN}
    assert all(busy[name] > idle[name] for name in KNOWN), "each statement finds its running tasks"
    grown = {name: (idle[name], busy[name]) for name in KNOWN if busy[name] > idle[name] + 100}
    assert grown == {}, f"blocks without leases, and beside {JOBS}"


@pytest.mark.service
def test_a_check_of_former_versions_looks_up_no_job_for_restorable_ones(database_url: str) -> None:
    asyncio.run(_fill(database_url))
    with psycopg.Connection[tuple[Any, ...]].connect(
        libpq_url(database_url), autocommit=True, cursor_factory=psycopg.ClientCursor
    ) as connection:
        connection.execute(VERSIONS.encode())
        connection.execute("VACUUM ANALYZE")
        name = "delete_template_versions"
        assert _blocks_read(connection, name, _prepared(connection, name)) < 500, "2,000 versions"


@pytest.mark.service
def test_a_lease_of_an_assembly_reads_its_segments_in_their_order_without_a_sort(database_url: str) -> None:
    asyncio.run(_fill(database_url))
    names = ["task_ids", "job_ids", "tokens", "workers", "renderers"]
    values: dict[str, Any] = {"now": utc_now(), "lease_seconds": 15.0, **{name: ["x"] for name in names}}
    with psycopg.Connection[tuple[Any, ...]].connect(
        libpq_url(database_url), autocommit=True, cursor_factory=psycopg.ClientCursor
    ) as connection:
        connection.execute(SCATTERED.encode())
        connection.execute("VACUUM ANALYZE")
        connection.execute("SET plan_cache_mode = force_generic_plan")
        arguments = [values[parameter] for parameter in _prepared(connection, "lease_tasks")]
        marks = ", ".join(["%s"] * len(arguments))
        plan = [line for (line,) in connection.execute(f"EXPLAIN EXECUTE lease_tasks ({marks})".encode(), arguments)]
    assert any("one_task_per_index" in line for line in plan), "the segments are looked up by their job"
    assert not any("Sort" in line for line in plan), plan


async def _fill(url: str) -> None:
    database = Database(url)
    try:
        async with database.work() as session:
            for name in NAMES:
                await rows.template(session, await rows.account(session, name))
            await session.execute(text(FILL), {"first": 1, "last": JOBS})
            await session.execute(text(TASKS))
            await session.execute(text(WORKERS))
    finally:
        await database.close()


def _prepared(connection: psycopg.Connection[tuple[Any, ...]], name: str) -> list[str]:
    """Prepare a statement, which keeps its first plan. Return the names of its parameters, in order."""
    parameters = list(dict.fromkeys(re.findall(r"(?<!:):(\w+)", body(name))))
    numbered = re.sub(r"(?<!:):(\w+)", lambda match: f"${parameters.index(match[1]) + 1}", body(name))
    connection.execute(f"PREPARE {name} AS {numbered}".encode())
    return parameters


def _blocks_read(connection: psycopg.Connection[tuple[Any, ...]], name: str, parameters: list[str]) -> int:
    """Run a prepared statement, roll it back, and return the number of blocks that it read."""
    values = {"now": utc_now(), **{**KNOWN, **CHECK}[name]}
    arguments = [values[parameter] for parameter in parameters]
    marks = ", ".join(["%s"] * len(arguments))
    with connection.transaction(force_rollback=True):
        explained = connection.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE {name} ({marks})".encode(), arguments
        )
        ((found,),) = explained.fetchall()
    plan = found[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])
