"""Accounts, as an operator sees them."""

from __future__ import annotations

import re

import pytest

from farm_core.usage.period import period_of
from tests.console.people import Person

pytestmark = pytest.mark.service


def names(page: str) -> list[str]:
    return re.findall(r'<a [^>]*href="/console/accounts/acc_[a-z0-9]+">(ada|boss)[^<]*</a></td>', page)


def test_the_accounts_that_use_most_come_first(operator: Person, member: Person) -> None:
    world = operator.api.world
    world.database.execute(
        "INSERT INTO usage (account_id, period, rendered_ms) VALUES (%s, %s, 90000), (%s, '2001-01', 990000)",
        (member.api.account_id, period_of(world.clock.now()), operator.api.account_id),
    )
    world.database.execute(
        "UPDATE account_queues SET stored_bytes = 5000000 WHERE account_id = %s", (operator.api.account_id,)
    )
    assert names(operator.text("/accounts"))[:2] == ["ada", "boss"]
    assert names(operator.text("/accounts?order=storage"))[:2] == ["boss", "ada"]
    by_minutes = operator.text("/accounts?order=minutes")
    assert names(by_minutes)[:2] == ["ada", "boss"]
    assert "1.5 min" in by_minutes
    assert "16.5 min" not in by_minutes
    member.api.job()
    world.database.execute("UPDATE account_queues SET queued = 5 WHERE account_id = %s", (operator.api.account_id,))
    assert names(operator.text("/accounts?order=queued"))[:2] == ["boss", "ada"]
    assert operator.get("/accounts?order=nothing").status_code == 400


def test_limits_are_named_in_words_and_as_the_api_names_them(operator: Person, member: Person) -> None:
    shown = operator.text(f"/accounts/{member.api.account_id}")
    assert "Largest upload, in bytes <code>maxUploadBytes</code>" in shown


def test_every_key_can_be_found_and_revoked(member: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.account.endpoints.KEYS_MAX", 2)
    for number in range(3):
        member.api.new_key(name=f"Key {number}")
    first, second = member.text("/account"), member.text("/account?keys_from=2")
    assert re.findall(r"Key \d</div>", first) == ["Key 2</div>", "Key 1</div>"]
    assert "/console/account?keys_from=2#keys" in first
    assert re.findall(r"Key \d</div>", second) == ["Key 0</div>"]
    assert '>Revoke<span class="hidden-text"> Key 0</span>' in second
    (revoke,) = re.findall(r'action="/console(/account/keys/[^"]+)"', second)
    answer = member.post(revoke)
    assert answer.headers["location"] == "/console/account?keys_from=2#keys"
    assert "revoked" in member.text("/account?keys_from=2")
