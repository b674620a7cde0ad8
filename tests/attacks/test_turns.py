"""Bursts of an account, and of callers without one: others wait for few of their requests."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
from redis import Redis

from api import app
from farm_core import turns
from tests.api.world import Someone, World
from tests.console.people import signed_in
from tests.patience import HANG_SECONDS

BURST = 12
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

pytestmark = pytest.mark.service


@pytest.fixture
def patient_world(start: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> World:
    """Return an app where a turn lasts as long as its request, however slow the machine is."""
    monkeypatch.setattr(turns, "TURN_SECONDS", HANG_SECONDS)
    return start()


@contextmanager
def locked(world: World, table: str) -> Iterator[None]:
    """Hold all requests that read the table."""
    with psycopg.connect(str(world.settings.database_url)) as locking:
        locking.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def wait_for(world: World, count: int) -> None:
    """Wait until as many requests wait for the lock, and see that no more do."""
    until = time.monotonic() + 0.5
    while (held := waiting(world)) < count or time.monotonic() < until:
        assert held <= count


def waiting(world: World) -> int:
    row = world.database.execute(_WAITING).fetchone()
    assert row is not None
    return int(row[0])


def status(someone: Someone) -> int:
    with someone.world.new_client(headers=someone.headers) as client:
        return client.get("/api/v1/renders").status_code


def test_a_burst_of_an_account_is_handled_in_turns(patient_world: World) -> None:
    """An event loop that works on all of them at once delays every step of another account's request by a step of each."""
    honest = patient_world.account()
    with signed_in(patient_world, "hostile") as person, ThreadPoolExecutor(BURST) as pool:
        person.get("/renders")  # the process knows the session's account
        with locked(patient_world, "console_sessions"):
            burst = [pool.submit(person.get, "/renders") for _ in range(BURST)]
            wait_for(patient_world, turns.TURNS_PER_ACCOUNT)
            assert status(honest) == 200
        assert {one.result().status_code for one in burst} == {200}


def test_callers_with_unknown_keys_have_turns_together(patient_world: World) -> None:
    honest = patient_world.account()
    assert status(honest) == 200  # the process knows the account
    keys = (f"Bearer pm_live_{secrets.token_hex(16)}" for _ in range(BURST))
    callers = [Someone(patient_world, {"Authorization": key}, "") for key in keys]
    with ThreadPoolExecutor(BURST) as pool:
        with locked(patient_world, "api_keys"):
            burst = [pool.submit(status, one) for one in callers]
            wait_for(patient_world, turns.TURNS_PER_ACCOUNT)
            assert status(honest) == 200
        assert {one.result() for one in burst} == {401}


def test_more_requests_than_may_wait_are_refused(start: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "REQUESTS_WAITING", BURST)
    monkeypatch.setattr(turns, "TURN_SECONDS", HANG_SECONDS)
    world = start()
    with signed_in(world, "hostile") as person, ThreadPoolExecutor(BURST) as pool:
        person.get("/renders")
        with locked(world, "console_sessions"):
            burst = [pool.submit(person.get, "/renders") for _ in range(BURST)]
            wait_for(world, turns.TURNS_PER_ACCOUNT)
            refused = person.get("/renders")
            assert refused.status_code == 429
            assert "Too many requests of this account at once. Try again in 1 s." in refused.text
        assert {one.result().status_code for one in burst} == {200}


def sent(account: Someone, request: str, connections: ExitStack) -> socket.socket:
    """Send the start of a request with the account's credential on a connection of its own."""
    address = urlsplit(account.world.origin)
    assert address.hostname and address.port
    connection = socket.create_connection((address.hostname, address.port), HANG_SECONDS)
    head = f"{request} HTTP/1.1\r\nHost: farm\r\nAuthorization: {account.headers['Authorization']}\r\n"
    connections.enter_context(connection).sendall(head.encode())
    return connection


def test_a_request_whose_body_does_not_arrive_leaves_its_turn_to_others(patient_world: World) -> None:
    account = patient_world.account()
    with ExitStack() as connections:
        slow = [sent(account, "POST /api/v1/renders", connections) for _ in range(BURST)]
        for one in slow:
            one.sendall(b"Content-Length: 9\r\n\r\n{")
        assert status(account) == 200
        slow[0].sendall(b'"none":1')
        assert slow[0].recv(12) == b"HTTP/1.1 400"


def test_a_request_for_a_still_leaves_its_turn_to_others_until_it_is_drawn(patient_world: World) -> None:
    """Nobody draws here. A still waits 20 s for a worker."""
    account = patient_world.account()
    template = account.template()
    with ExitStack() as connections, Redis.from_url(str(patient_world.settings.redis_url)) as redis:
        for number in range(4):
            still = sent(account, f"GET /api/v1/templates/{template}/still?time=0.{number}", connections)
            still.sendall(b"\r\n")
        while redis.llen("stills:requests") < 4:
            pass
        assert status(account) == 200


@pytest.mark.usefixtures("long_window")
def test_neither_addresses_nor_keys_multiply_the_rate_of_an_account(start: Callable[..., World]) -> None:
    """Forty addresses took the time of 200 lists a second."""
    world = start(trusted_proxies="127.0.0.1", automation_requests_per_minute_per_ip=2)
    account = world.account()
    callers = [account, account.new_key(), account.new_key()]
    addresses = [f"192.0.2.{number}" for number in range(9)]

    def seconds(number: int) -> float:
        began = time.monotonic()
        headers = {"X-Forwarded-For": addresses[number % len(addresses)]}
        assert callers[number % len(callers)].get("/renders", headers=headers).status_code == 200
        return time.monotonic() - began

    took = [seconds(number) for number in range(4 * 2 + 6)]  # the first requests with each credential are not counted
    assert min(took[-2:]) >= turns.TURN_SECONDS
