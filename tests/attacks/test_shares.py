"""Requests of one account that wait for its own locks must not block the connections of other accounts."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from structlog.testing import capture_logs

from farm_core.db.shares import CONNECTIONS_PER_ACCOUNT
from tests.api.world import Someone, World, text_template
from tests.console.people import signed_in

FLOOD = 40
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

pytestmark = pytest.mark.service


def waiting(world: World) -> int:
    """Return the number of connections that wait for a lock."""
    row = world.database.execute(_WAITING).fetchone()
    assert row is not None
    return int(row[0])


def created(account: Someone, template: str, number: int) -> int:
    return account.render(template, inputs={"headline": str(number)}).status_code


@pytest.mark.parametrize("keys", [0, 5], ids=["session", "keys that were never used"])
def test_an_account_whose_writes_all_wait_leaves_connections_to_others(start: Callable[..., World], keys: int) -> None:
    world = start()
    hostile, honest = world.account(), world.account()
    templates = text_template(hostile), text_template(honest)
    callers = [hostile.new_key() for _ in range(keys)] or [hostile]
    with psycopg.connect(str(world.settings.database_url)) as locking, ThreadPoolExecutor(FLOOD) as pool:
        locking.execute("SELECT FROM accounts WHERE id = %s FOR UPDATE", (hostile.account_id,))
        flood = [pool.submit(created, callers[n % len(callers)], templates[0], n) for n in range(FLOOD)]
        while waiting(world) < (keys or CONNECTIONS_PER_ACCOUNT):
            pass
        for number in range(20):
            assert created(honest, templates[1], number) == 201
            assert honest.get("/renders").status_code == 200
        assert waiting(world) == (keys or CONNECTIONS_PER_ACCOUNT)
        locking.rollback()
        assert {one.result() for one in flood} == {201}


_ASKING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%console_sessions%'"


def test_pages_whose_sessions_are_looked_up_leave_connections_to_others(start: Callable[..., World]) -> None:
    world = start()
    honest = world.account()
    template = text_template(honest)
    with (
        signed_in(world, "hostile") as person,
        ThreadPoolExecutor(FLOOD) as pool,
        psycopg.connect(str(world.settings.database_url)) as locking,
    ):
        person.get("/renders")
        locking.execute("LOCK TABLE console_sessions IN ACCESS EXCLUSIVE MODE")
        flood = [pool.submit(person.get, "/renders") for _ in range(FLOOD)]
        while asking(world) < CONNECTIONS_PER_ACCOUNT:
            pass
        for number in range(20):
            assert created(honest, template, number) == 201
            assert honest.get("/renders").status_code == 200
        assert asking(world) == CONNECTIONS_PER_ACCOUNT
        locking.rollback()
        assert {one.result().status_code for one in flood} == {200}


def asking(world: World) -> int:
    """Return the number of connections that wait to look up a session."""
    row = world.database.execute(_ASKING).fetchone()
    assert row is not None
    return int(row[0])


def test_an_account_searches_all_its_renders_for_one_action_at_a_time(
    start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search can keep a core of Postgres busy for seconds."""
    monkeypatch.setattr("api.app.BULK_SECONDS", 600.0)
    world = start()
    with (
        signed_in(world, "hostile") as person,
        signed_in(world, "honest") as honest,
        ThreadPoolExecutor(FLOOD) as pool,
        psycopg.connect(str(world.settings.database_url)) as locking,
    ):
        form = {"csrf": person.csrf(), "scope": "matching"}
        locking.execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE")
        path = "/renders/actions/cancel?text=a"
        flood = [pool.submit(person.get, path) for _ in range(3)]
        flood += [pool.submit(person.client.post, f"/console{path}", data=form) for _ in range(3)]
        while waiting(world) < 1:
            pass
        other = pool.submit(honest.get, path)
        while waiting(world) < 2:
            pass
        time.sleep(0.5)
        assert waiting(world) == 2
        locking.rollback()
        assert other.result().status_code == 200
        assert {one.result().status_code for one in flood} == {200, 303}


def test_a_page_whose_statement_takes_too_long_says_what_to_do(start: Callable[..., World]) -> None:
    world, limited = start(), start(statement_seconds_max=0.5)
    with (
        signed_in(world, "ada") as person,
        limited.new_client(cookies=person.client.cookies) as client,
        psycopg.connect(str(world.settings.database_url)) as locking,
    ):
        locking.execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE")
        with capture_logs() as lines:
            answer = client.get("/console/renders?text=a")
    assert answer.status_code == 503
    assert "Ask for less" in answer.text
    assert "A part of the farm is away" not in answer.text
    (line,) = (line for line in lines if line["event"] == "page failed")
    assert "statement timeout" in line["error"]
    assert "exc_info" not in line, "14 kB for each page"


@pytest.mark.usefixtures("long_window")
def test_a_batch_that_is_refused_counts_as_one(start: Callable[..., World]) -> None:
    world = start(batches_per_minute=3)
    account = world.account()
    refused = {"templateId": text_template(account), "rows": [{"inputs": {"nothing": 1}}]}
    assert [account.post("/batches", json=refused).status_code for _ in range(4)] == [400, 400, 400, 429]
