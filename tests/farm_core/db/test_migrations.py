"""Migrations create the schema that the tables declare."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import psycopg
import pytest
from alembic import command
from sqlalchemy import create_engine

from farm_core.db import migrate, schema
from farm_core.db.database import driver_url
from farm_core.tables import metadata
from tests.deadlocks import deadlocks
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
ROOT = Path(__file__).resolve().parents[3]

CATALOGUE = {
    "columns": """
        SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'""",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'alembic_version'""",
    "options of columns": "SELECT attrelid::regclass::text, attname, attoptions FROM pg_attribute WHERE attoptions IS NOT NULL",
}

WAIT_FOR_A_WAITER_AND_ITS_LOCK = """
    DO $$ BEGIN
        WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP PERFORM pg_sleep(0.01); END LOOP;
        PERFORM count(*) FROM jobs;
    END $$"""
"""One statement, so that no turn of this process on a busy machine lies between both waits."""


def catalogue(url: str) -> dict[str, list[tuple[object, ...]]]:
    with psycopg.connect(url) as connection:
        return {name: sorted(connection.execute(query).fetchall(), key=str) for name, query in CATALOGUE.items()}


def test_migrations_build_the_declared_schema(database_url: str, empty_database_url: str) -> None:
    engine = create_engine(driver_url(empty_database_url))
    metadata.create_all(engine)
    engine.dispose()
    assert catalogue(database_url) == catalogue(empty_database_url)


def test_running_the_migrations_at_once_from_many_processes_is_running_them_once(empty_database_url: str) -> None:
    words = [sys.executable, "-m", "farm_core.db.migrate", "upgrade"]
    environment = os.environ | {"DATABASE_URL": empty_database_url}
    running = [subprocess.Popen(words, cwd=ROOT, env=environment) for _ in range(3)]
    assert [process.wait(HANG_SECONDS) for process in running] == [0, 0, 0]
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(schema.newest(),)]


@pytest.mark.parametrize(("oldest_head", "is_usable"), [("0001", True), (schema.newest(), True), ("9998", False)])
def test_a_schema_of_a_later_release_is_left_alone_if_this_release_works_on_it(
    empty_database_url: str, oldest_head: str, is_usable: bool
) -> None:
    migrate.upgrade(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("UPDATE schema_state SET oldest_head = %s", [oldest_head])
    before = catalogue(empty_database_url)
    if is_usable:
        migrate.upgrade(empty_database_url)
    else:
        with pytest.raises(migrate.DatabaseUnfit, match="newer version"):
            migrate.upgrade(empty_database_url)
    assert catalogue(empty_database_url) == before


ROWS = """
    INSERT INTO accounts (id, name, plan, created_at) VALUES ('a', 'ada', 'pro', now());
    INSERT INTO templates (id, account_id, name, width, height, fps, duration_seconds, inputs, targets, document_key, created_at, updated_at)
    VALUES ('t', 'a', 't', 64, 64, 30, 3, '[]', '{}', '', now(), now());
"""
OPEN_JOBS = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, renderer)
    SELECT name, 'a', 't', 'processing', 0, '{{}}', 64, 64, 30, 90, 3000, '', '', 0, now(), renderer
    FROM (VALUES ('{0} any', NULL), ('{0} mine', 'r')) AS made(name, renderer);
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id, id, 0, 'render', 0, 90, 'pending', 0, now() FROM jobs WHERE id LIKE '{0} %';
"""


def test_open_jobs_know_their_renderers_after_the_migration_and_its_way_back(empty_database_url: str) -> None:
    config = migrate._config(empty_database_url)
    command.upgrade(config, "0017")
    before = catalogue(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(ROWS)
        connection.execute(OPEN_JOBS.format("old").encode())
    command.upgrade(config, "0018")
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(OPEN_JOBS.format("new").encode())
        found = connection.execute("SELECT job_id, renderer FROM open_jobs ORDER BY job_id").fetchall()
    assert found == [("new any", None), ("new mine", "r"), ("old any", None), ("old mine", "r")]
    command.downgrade(config, "0017")
    assert catalogue(empty_database_url) == before
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(OPEN_JOBS.format("former").encode())
        connection.execute(
            "UPDATE jobs SET status = 'cancelled', finished_at = now(), renderer = NULL WHERE id LIKE 'old %'"
        )
        found = connection.execute("SELECT job_id FROM open_jobs ORDER BY job_id").fetchall()
    assert found == [("former any",), ("former mine",), ("new any",), ("new mine",)]


WEBHOOKS: Final = """
    INSERT INTO deliveries (id, job_id, url, body, status, attempt, due_at, attempts, created_at)
    SELECT id, id, '', '{{}}', '{1}', 0, now(), '[]', now() FROM jobs WHERE id LIKE '{0} %';
"""
ACCOUNTS_OF_WEBHOOKS: Final = "SELECT id, account_id FROM deliveries WHERE status = 'due' ORDER BY id"


def test_webhooks_of_the_former_release_get_their_account(empty_database_url: str) -> None:
    config = migrate._config(empty_database_url)
    command.upgrade(config, "0021")
    before = catalogue(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(ROWS)
        for name, status in (("old", "due"), ("ended", "delivered")):
            connection.execute(OPEN_JOBS.format(name).encode())
            connection.execute(WEBHOOKS.format(name, status).encode())
    command.upgrade(config, "0022")
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(OPEN_JOBS.format("new").encode())
        connection.execute(WEBHOOKS.format("new", "due").encode())
        connection.execute("UPDATE deliveries SET status = 'due' WHERE id = 'ended any'")
        found = connection.execute(ACCOUNTS_OF_WEBHOOKS).fetchall()
    names = ("ended any", "new any", "new mine", "old any", "old mine")
    assert found == [(name, "a") for name in names]
    command.downgrade(config, "0021")
    assert catalogue(empty_database_url) == before


def test_a_migration_that_meets_a_deadlock_with_the_working_farm_runs_again(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    command.downgrade(migrate._config(empty_database_url), "0019")
    with psycopg.connect(empty_database_url) as farm, ThreadPoolExecutor(1) as pool:
        farm.execute("SET deadlock_timeout = '1h'")  # the other transaction is the victim
        farm.execute("LOCK TABLE alembic_version IN SHARE MODE")
        # Postgres checks for deadlocks once, after this time, and gives up after 5 s. The farm must be waiting by then.
        migration = pool.submit(migrate.upgrade, f"{empty_database_url}&options=-c%20deadlock_timeout%3D4s")
        farm.execute(WAIT_FOR_A_WAITER_AND_ITS_LOCK)
        farm.commit()
        migration.result(HANG_SECONDS)
    assert deadlocks(empty_database_url) == 1


def test_the_operators_limit_of_statements_does_not_cut_a_migration(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute("SELECT pg_advisory_lock(7306821)")
        migration = pool.submit(migrate.upgrade, f"{empty_database_url}&options=-c%20statement_timeout%3D3s")
        while holder.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is None:
            time.sleep(0.02)
        time.sleep(4)
        holder.execute("SELECT pg_advisory_unlock(7306821)")
        migration.result(HANG_SECONDS)
