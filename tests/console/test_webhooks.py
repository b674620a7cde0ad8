"""The console's description of webhook attempts."""

from __future__ import annotations

import html
import json
import re
import time

import pytest

from farm_core.ids import new_id
from tests.console.people import Person
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service


def test_attempts_are_described_in_words(member: Person) -> None:
    world, job = member.api.world, member.api.job()
    world.database.execute("UPDATE jobs SET callback_url = 'https://example.com/' WHERE id = %s", (job,))
    attempts = [
        {"at": "2026-01-02T03:04:05.678901+00:00", "status": 503, "error": None, "ms": 120},
        {
            "at": "2026-01-02T03:04:10.678901+00:00",
            "status": None,
            "error": "The server could not be reached.",
            "ms": 7,
        },
        {"at": "2026-01-02T03:04:35.678901+00:00", "begun": True, "place": "node-a:1"},
    ]
    world.database.execute(
        "INSERT INTO deliveries (id, job_id, url, body, status, attempt, attempts, due_at, created_at)"
        " VALUES (%s, %s, 'https://example.com/', '{}', 'due', 3, %s, now(), now())",
        (new_id("d"), job, json.dumps(attempts)),
    )
    shown = member.text(f"/renders/{job}")
    assert "answered 503 after 120 ms" in shown
    assert "The server could not be reached after 7 ms" in shown
    assert "under way" in shown
    assert ">2026-01-02T03" not in shown
    assert 'title="2 Jan 2026, 03:04:05 UTC"' in shown
    assert "node-a:1" not in shown
    assert "under way" in member.text("/account/webhooks")
    assert "An operator can send it again" not in shown
    world.database.execute("UPDATE deliveries SET status = 'dropped' WHERE job_id = %s", (job,))
    assert "An operator can send it again" in member.text(f"/renders/{job}")


def delivery(person: Person, status: str, host: str) -> str:
    """Create a render with a webhook in a status; return its id."""
    world, job = person.api.world, person.api.job()
    world.database.execute("UPDATE jobs SET callback_url = %s WHERE id = %s", (f"https://{host}/", job))
    world.database.execute(
        "INSERT INTO deliveries (id, job_id, url, body, status, attempt, attempts, due_at, created_at)"
        " VALUES (%s, %s, %s, '{}', %s, 3, '[]', now(), now())",
        (new_id("d"), job, f"https://{host}/", status),
    )
    return job


def test_an_operator_learns_of_dropped_webhooks_and_finds_them(operator: Person, member: Person) -> None:
    delivery(member, "delivered", "good.example")
    assert "dropped" not in operator.text("/")
    for host in ("a.example", "b.example"):
        delivery(member, "dropped", host)
    world = operator.api.world
    world.database.execute(
        "UPDATE jobs SET created_at = created_at - interval '3 days' WHERE callback_url LIKE '%%//a.%%'"
    )
    for host in ("c.example", "d.example"):
        delivery(member, "dropped", host)
    assert_appears(operator, "3 webhooks were dropped: their receivers have not accepted them.")
    found = operator.text("/account/webhooks?status=dropped")
    assert [host for host in ("a", "b", "c", "d", "good") if f"https://{host}.example/" in found] == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert "No webhook is due" in operator.text("/account/webhooks?status=due")
    assert "good.example" in operator.text("/account/webhooks?status=nonsense")
    delivery(operator, "dropped", "other.example")
    for path in ("/account/webhooks", "/account/webhooks?status=dropped"):
        shown = member.text(path)
        assert "a.example" in shown, path
        assert "other.example" not in shown, path


def test_webhooks_are_listed_page_by_page_even_behind_renders_that_wait(
    member: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.account.endpoints.WEBHOOKS_MAX", 2)
    for host in ("a.example", "b.example", "c.example"):
        delivery(member, "delivered", host)
    for _ in range(3):
        member.api.world.database.execute(
            "UPDATE jobs SET callback_url = 'https://w.example/' WHERE id = %s", (member.api.job(),)
        )
    first = member.text("/account/webhooks?status=delivered")
    assert [host for host in "abc" if f"https://{host}.example/" in first] == ["b", "c"]
    assert "https://c.example/" in member.text("/account/webhooks")
    (older,) = re.findall(r'rel="next" href="/console([^"]+)"', first)
    second = member.text(html.unescape(older))
    assert [host for host in "abc" if f"https://{host}.example/" in second] == ["a"]
    assert 'rel="next"' not in second


def assert_appears(operator: Person, text: str) -> None:
    """Wait until the overview, which reads deliveries rarely, contains the text."""
    ends = time.monotonic() + HANG_SECONDS
    while text not in operator.text("/"):
        assert time.monotonic() < ends, operator.text("/")
        time.sleep(1)
