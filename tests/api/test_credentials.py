"""Authentication: forms of credentials, scopes, order of errors, counts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import jwt
import pytest

from farm_core.accounts import tokens
from farm_core.secret import farm_secret
from tests.api.world import ALL_SCOPES, Someone, World

pytestmark = pytest.mark.service

ROUTES = [
    ("GET", "/templates", "templates:read"),
    ("GET", "/templates/tpl_none", "templates:read"),
    ("POST", "/templates", "templates:write"),
    ("POST", "/templates/import", "templates:write"),
    ("DELETE", "/templates/tpl_none", "templates:write"),
    ("POST", "/renders", "renders:write"),
    ("GET", "/renders", "renders:read"),
    ("GET", "/renders/job_none", "renders:read"),
    ("POST", "/renders/job_none/cancel", "renders:write"),
    ("GET", "/renders/job_none/download", "renders:read"),
    ("POST", "/assets", "renders:write"),
    ("GET", "/usage", "usage:read"),
    ("GET", "/animations", "templates:read"),
    ("GET", "/animations/pre_none", "templates:read"),
    ("POST", "/animations", "templates:write"),
    ("DELETE", "/animations/pre_none", "templates:write"),
]
KEY_ROUTES = [("GET", "/keys"), ("POST", "/keys"), ("DELETE", "/keys/key_none")]


def secret_of(caller: Someone) -> str:
    return caller.headers["Authorization"].removeprefix("Bearer ")


def with_headers(caller: Someone, **headers: str) -> Someone:
    return Someone(caller.world, {name.replace("_", "-"): value for name, value in headers.items()}, caller.account_id)


def test_every_route_refuses_a_caller_without_a_valid_credential(world: World) -> None:
    ada = world.account()
    expired = tokens.issue(farm_secret(world.settings), ada.account_id, -10)
    nobody = tokens.issue(farm_secret(world.settings), "acc_nobody", 60)
    forged = tokens.issue(b"another secret, long enough for HS256", ada.account_id, 60)
    unsigned = jwt.encode({"iss": tokens.ISSUER, "sub": ada.account_id, "exp": 9_999_999_999}, "", algorithm="none")
    bad: list[dict[str, str]] = [
        {}, {"Authorization": "Bearer"}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer pm_live_" + "a" * 40},
        {"X-API-Key": "pm_live_" + "b" * 40}, {"X-API-Key": secret_of(ada)}, {"Authorization": secret_of(ada)},
        *({"Authorization": f"Bearer {token}"} for token in (expired, nobody, forged, unsigned, "a.b.c", "eyJ")),
    ]  # fmt: skip
    for headers in bad:
        answer = Someone(world, headers, "").get("/usage")
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer"), headers
    for method, path in [*KEY_ROUTES, *(route[:2] for route in ROUTES)]:
        assert Someone(world, {}, "").ask(method, path).status_code == 401, path


def test_a_token_made_while_the_clock_was_ahead_is_valid_once_it_is_right(world: World) -> None:
    ada, now = world.account(), datetime.now(UTC)
    claims = {
        "iss": tokens.ISSUER,
        "sub": ada.account_id,
        "iat": now + timedelta(hours=5),
        "exp": now + timedelta(days=1),
    }
    token = jwt.encode(claims, farm_secret(world.settings), algorithm="HS256")
    assert Someone(world, {"Authorization": f"Bearer {token}"}, "").get("/usage").status_code == 200


@pytest.mark.parametrize(
    "changes",
    [{"exp": None}, {"exp": 1}, {"sub": None}, {"iss": "another-farm"}, {"iss": None}, {"nbf": 4_000_000_000}],
)
def test_a_token_counts_only_with_all_its_claims(world: World, changes: dict[str, object]) -> None:
    claims = {"iss": tokens.ISSUER, "sub": world.account().account_id, "exp": 4_000_000_000} | changes
    stated = {name: value for name, value in claims.items() if value is not None}
    token = jwt.encode(stated, farm_secret(world.settings), algorithm="HS256")
    assert Someone(world, {"Authorization": f"Bearer {token}"}, "").get("/usage").status_code == 401


def test_a_suspended_account_is_refused_with_either_credential_and_nothing_is_counted(world: World) -> None:
    ada = world.account()
    key = ada.new_key()
    change = "UPDATE accounts SET suspended_at = {} WHERE id = %s"
    world.database.execute(change.format("now()"), (ada.account_id,))
    for caller in (ada, key):
        answer = caller.get("/usage")
        assert (answer.status_code, answer.json()["message"]) == (403, "This account is suspended.")
    world.database.execute(change.format("NULL"), (ada.account_id,))
    assert ada.usage()["apiRequests"] == 0


def test_a_refusal_says_what_is_wrong_with_the_credential(world: World) -> None:
    ada = world.account()
    for headers, words in (
        ({}, "`Authorization: Bearer <API key or session token>` or `X-API-Key: <API key>`"),
        ({"Authorization": "Basic YTpi"}, "`Authorization: Bearer"),
        ({"Authorization": "Bearer junk"}, "send an API key, which begins with pm_live_."),
        ({"X-API-Key": "pm_live_junk"}, "no such API key"),
    ):
        assert words in Someone(world, headers, "").get("/usage").json()["message"], headers
    elsewhere = world.client.get("/v1/renders", headers={"X-API-Key": "pm_live_junk"}).json()["message"]
    assert elsewhere == "API keys work only on routes under /api/v1."
    expired = world.client.get("/files/results/a.mp4?expires=1&signature=ab").json()["message"]
    assert expired.endswith("Read the render again for a new one, or upload the file again.")
    key = ada.new_key()
    ada.delete(f"/keys/{ada.get('/keys').json()['items'][0]['id']}")
    assert "revoked" in key.get("/usage").json()["message"]


def test_a_session_token_works_on_every_route(world: World) -> None:
    ada = world.account()
    for method, path in [*KEY_ROUTES, *(route[:2] for route in ROUTES)]:
        assert ada.ask(method, path).status_code not in (401, 403), path


def test_both_forms_of_presenting_a_key_work(world: World) -> None:
    key = world.account().new_key()
    assert key.get("/usage").status_code == 200
    assert with_headers(key, X_API_Key=secret_of(key)).get("/usage").status_code == 200
    for other in ("Basic YTpi", ""):
        both = with_headers(key, X_API_Key=secret_of(key), Authorization=other)
        assert both.get("/usage").status_code == 200, "a proxy's own credential is none of ours"
    junk = with_headers(key, X_API_Key=secret_of(key), Authorization="Bearer junk")
    assert junk.get("/usage").status_code == 401
    assert with_headers(key, Authorization=f"bearer {secret_of(key)}").get("/usage").status_code == 200


def test_a_key_works_only_where_it_holds_the_scope(world: World) -> None:
    ada = world.account(maxActiveApiKeys=50)
    for method, path, scope in ROUTES:
        lacking = ada.new_key([other for other in ALL_SCOPES if other != scope])
        answer = lacking.ask(method, path)
        assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope"), path
        assert answer.json()["required"] == scope
        assert ada.new_key([scope]).ask(method, path).status_code not in (401, 403), path


def test_keys_are_managed_by_sessions_only(world: World) -> None:
    key = world.account().new_key()
    for method, path in KEY_ROUTES:
        answer = key.ask(method, path)
        assert (answer.status_code, answer.json()["code"]) == (403, "session_required"), path


def test_a_downgrade_applies_from_the_next_request(world: World) -> None:
    ada = world.account()
    key = ada.new_key()
    assert key.get("/usage").status_code == 200
    world.limit(ada.account_id, plan="free")
    answer = key.get("/usage")
    assert (answer.status_code, answer.json()["code"]) == (403, "upgrade_required")
    world.limit(ada.account_id, plan="pro")
    assert key.get("/usage").status_code == 200
    world.limit(ada.account_id, apiEnabled=False)
    assert key.get("/usage").json()["code"] == "upgrade_required"


def test_a_revoked_key_stops_with_the_next_request(world: World) -> None:
    ada = world.account()
    made = ada.post("/keys", json={"scopes": ALL_SCOPES}).json()
    key = Someone(world, {"X-API-Key": made["secret"]}, ada.account_id)
    assert key.get("/usage").status_code == 200
    assert ada.delete(f"/keys/{made['id']}").json() == {"revoked": True}
    assert key.get("/usage").status_code == 401
    assert ada.usage()["apiRequests"] == 1


def test_an_expired_key_stops_at_its_moment(own_world: World) -> None:
    expires = (own_world.clock.now() + timedelta(hours=1)).isoformat()
    ada = own_world.account()
    key = ada.new_key(expiresAt=expires)
    assert key.get("/usage").status_code == 200
    own_world.clock.advance(3600)
    assert key.get("/usage").status_code == 401
    assert own_world.database.execute("SELECT api_requests FROM usage").fetchall() == [(1,)]


def test_refusals_come_in_order(world: World) -> None:
    """Order: 401, then session_required or upgrade_required, then insufficient_scope, then the quota, then the body."""
    ada = world.account(monthlyApiRequests=2)
    key = ada.new_key(["usage:read"])
    malformed = {"content": b"{", "headers": {"Content-Type": "application/json"}}
    assert Someone(world, {}, "").post("/renders", **malformed).status_code == 401
    assert key.post("/renders", **malformed).json()["code"] == "insufficient_scope"
    assert key.get("/usage").status_code == 200
    assert key.post("/renders", **malformed).json()["code"] == "insufficient_scope"
    assert key.get("/usage").json()["code"] == "quota_exceeded"
    assert key.get("/keys").json()["code"] == "session_required"
    world.limit(ada.account_id, plan="free")
    assert key.post("/renders", **malformed).json()["code"] == "upgrade_required"


def test_only_requests_by_key_are_counted_whatever_becomes_of_them(own_world: World) -> None:
    ada = own_world.account()
    key = ada.new_key()
    for path in ("/usage", "/renders", "/renders/job_none", "/keys"):
        key.get(path)
    key.post("/renders", json={})
    for _ in range(3):
        assert ada.usage()["apiRequests"] == 5
    summary = ada.get("/keys").json()["items"][0]
    assert summary["requestCount"] == 5
    assert summary["lastUsedAt"] == "2026-01-01T00:00:00.000Z"


def test_the_request_quota_is_exact_under_concurrency(world: World) -> None:
    ada = world.account(monthlyApiRequests=20)
    key = ada.new_key()
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: key.get("/usage"), range(40)))
    assert sorted(answer.status_code for answer in answers) == [200] * 20 + [403] * 20
    refused = next(answer.json() for answer in answers if answer.status_code == 403)
    assert (refused["code"], refused["kind"], refused["limit"], refused["used"]) == (
        "quota_exceeded", "api_requests", 20, 20,
    )  # fmt: skip
    assert refused["message"].startswith("All 20 API requests of this month are used.")
    assert ada.usage()["apiRequests"] == 20
    assert ada.get("/keys").json()["items"][0]["requestCount"] == 20


def test_a_limit_of_no_requests_refuses_the_first_one(world: World) -> None:
    ada = world.account(monthlyApiRequests=0)
    assert ada.new_key().get("/usage").json()["code"] == "quota_exceeded"
    assert ada.usage()["apiRequests"] == 0


def test_a_limit_of_null_is_unlimited(world: World) -> None:
    ada = world.account(monthlyApiRequests=None, maxUploadBytes=None, monthlyRenderMinutes=None, maxActiveApiKeys=None)
    key = ada.new_key()
    limits = key.usage()["limits"]
    assert limits == {
        "apiEnabled": True, "monthlyRenderMinutes": None, "monthlyApiRequests": None, "maxActiveApiKeys": None,
        "maxUploadBytes": None,
    }  # fmt: skip


def test_live_keys_are_rejected_outside_v1(world: World) -> None:
    ada = world.account()
    key = ada.new_key()
    own = {"X-API-Key": secret_of(key)}
    for path in ("/api/auth/me", "/api/projects", "/api/assets", "/files/assets/x/y.png", "/api/keys", "/"):
        for headers in (key.headers, own, {**ada.headers, **own}):
            assert world.client.get(path, headers=headers).status_code == 403, path
    assert world.client.get("/api/projects").status_code == 404
    assert world.client.get("/api/v1", headers=own).status_code == 404


def test_open_routes_need_no_credential(world: World) -> None:
    for path in ("/api/health", "/metrics", "/api/openapi.json", "/api/docs"):
        assert world.client.get(path).status_code == 200, path
    ready = world.client.get("/api/ready")
    assert ready.status_code == 503
    assert ready.json() == {
        "ready": False, "checks": {"postgres": True, "redis": True, "storage": True, "workers": False},
    }  # fmt: skip


def test_tokens_may_be_signed_by_a_key_of_a_jwks_address(
    start: Callable[..., World], httpserver_jwks: tuple[str, Callable[[str], str]]
) -> None:
    address, sign = httpserver_jwks
    world = start(jwt_jwks_url=address)
    ada = world.account()
    signed = with_headers(ada, Authorization=f"Bearer {sign(ada.account_id)}")
    assert signed.get("/usage").status_code == 200
    assert ada.get("/usage").status_code == 401


def test_keys_of_tokens_that_cannot_be_had_are_no_fault_of_the_callers(
    start: Callable[..., World], httpserver_jwks: tuple[str, Callable[[str], str]]
) -> None:
    _, sign = httpserver_jwks
    world = start(jwt_jwks_url="http://127.0.0.1:1/jwks.json")
    ada = world.account()
    answer = with_headers(ada, Authorization=f"Bearer {sign(ada.account_id)}").get("/usage")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert with_headers(ada, Authorization="Bearer junk").get("/usage").status_code == 401
