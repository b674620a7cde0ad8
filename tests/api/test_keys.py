"""`/v1/keys`."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.api.world import World

pytestmark = pytest.mark.service
SUMMARY = {"id", "name", "prefix", "scopes", "createdAt", "lastUsedAt", "requestCount", "expiresAt", "revokedAt"}


def test_a_new_key_has_defaults_and_shows_its_secret_once(own_world: World) -> None:
    ada = own_world.account()
    answer = ada.post("/keys", json={})
    made = answer.json()
    assert answer.status_code == 201
    assert set(made) == SUMMARY | {"secret"}
    assert made["name"] == "API key"
    assert made["scopes"] == ["renders:read", "renders:write", "templates:read", "usage:read"]
    assert re.fullmatch(r"pm_live_[A-Za-z0-9_-]{40}", made["secret"])
    assert made["prefix"] == made["secret"][:12]
    assert (made["lastUsedAt"], made["requestCount"], made["expiresAt"], made["revokedAt"]) == (None, 0, None, None)
    row = ada.get("/keys").json()["items"][0]
    assert set(row) == SUMMARY
    stored = own_world.database.execute("SELECT secret_hash, api_keys::text FROM api_keys").fetchall()
    assert stored[0][0] == hashlib.sha256(made["secret"].encode()).hexdigest()
    assert made["secret"] not in stored[0][1]


def test_a_key_may_be_made_without_a_body(world: World) -> None:
    made = world.account().post("/keys")
    assert (made.status_code, made.json()["name"], len(made.json()["scopes"])) == (201, "API key", 4)


def test_null_stands_for_the_default_of_a_key(world: World) -> None:
    made = world.account().post("/keys", json={"name": None, "scopes": None, "expiresAt": None})
    assert (made.status_code, made.json()["name"], len(made.json()["scopes"])) == (201, "API key", 4)


def test_a_key_is_as_asked_for(own_world: World) -> None:
    ada = own_world.account()
    expires = (own_world.clock.now() + timedelta(days=30)).isoformat().replace("+00:00", "Z")
    made = ada.post("/keys", json={"name": "n" * 100, "scopes": ["templates:write"], "expiresAt": expires}).json()
    assert (made["name"], made["scopes"]) == ("n" * 80, ["templates:write"])
    assert made["expiresAt"] == "2026-01-31T00:00:00.000Z"


@pytest.mark.parametrize(
    "written",
    [
        "2030-01-01T00:00:00.000Z", "20300101T010000+0100", "2029-12-31t23:00:00-01:00", "2030-01-01T00:00:00",
        "2030-01-01",
    ],
)  # fmt: skip
def test_an_expiry_is_any_iso_8601_time_and_shown_in_utc(world: World, written: str) -> None:
    made = world.account().post("/keys", json={"expiresAt": written}).json()
    assert made["expiresAt"] == "2030-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "body",
    [
        {"expiresAt": "2025-12-31T23:59:59Z"}, {"expiresAt": "2026-01-01T00:00:00Z"}, {"expiresAt": "tomorrow"},
        {"expiresAt": "2025-12-31T23:59:59"}, {"expiresAt": 20300101}, {"expiresAt": 4102444800}, {"expiresAt": "4102444800"}, {"expiresAt": True},
        {"expiresAt": "9999-12-31T23:59:59-01:00"}, {"scopes": ["renders:admin"]}, {"scopes": "renders:read"}, {"name": 7}, [], "x",
    ],
)  # fmt: skip
def test_a_malformed_request_makes_no_key(world: World, body: object) -> None:
    ada = world.account()
    assert ada.post("/keys", json=body).status_code == 400
    assert ada.get("/keys").json()["total"] == 0


def test_an_expiry_in_the_past_is_named_like_every_other_fault(world: World) -> None:
    refused = world.account().post("/keys", json={"expiresAt": "2025-12-31T23:59:59Z"}).json()
    assert refused["errors"] == [{"field": "expiresAt", "message": "must be in the future"}]
    assert refused["message"] == ["expiresAt: must be in the future"]


def test_the_cap_of_active_keys_is_exact_under_concurrency(world: World) -> None:
    ada = world.account(maxActiveApiKeys=3)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ada.post("/keys", json={}), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [403] * 5
    refused = next(answer.json() for answer in answers if answer.status_code == 403)
    assert (refused["code"], refused["limit"]) == ("key_limit_reached", 3)


def test_revoked_and_expired_keys_do_not_count_as_active(own_world: World) -> None:
    ada = own_world.account(maxActiveApiKeys=2)
    first = ada.post("/keys", json={}).json()
    ada.post("/keys", json={"expiresAt": (own_world.clock.now() + timedelta(hours=1)).isoformat()})
    assert ada.usage()["activeApiKeys"] == 2
    ada.delete(f"/keys/{first['id']}")
    own_world.clock.advance(3601)
    assert ada.usage()["activeApiKeys"] == 0
    assert ada.post("/keys", json={}).status_code == 201
    assert ada.get("/keys").json()["total"] == 3


def test_a_plan_without_api_access_mints_no_keys(world: World) -> None:
    answer = world.account(plan="free").post("/keys", json={})
    assert (answer.status_code, answer.json()["code"]) == (403, "upgrade_required")


def test_another_accounts_key_cannot_be_revoked(own_world: World) -> None:
    ada, bob = own_world.account(), own_world.account("bob")
    made = ada.post("/keys", json={}).json()
    assert bob.delete(f"/keys/{made['id']}").status_code == 404
    assert bob.get("/keys").json()["total"] == 0
    assert ada.delete("/keys/key_unknown").status_code == 404
    first = ada.delete(f"/keys/{made['id']}")
    own_world.clock.advance(60)
    assert ada.delete(f"/keys/{made['id']}").json() == first.json() == {"revoked": True}
    assert ada.get("/keys").json()["items"][0]["revokedAt"] == "2026-01-01T00:00:00.000Z"
