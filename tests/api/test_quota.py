"""Usage, reservations, quotas and rates."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
import redis

from farm_core import rates
from tests.api.world import World

pytestmark = pytest.mark.service
FIELDS = {
    "period", "renderJobs", "renderDurationMs", "renderedMinutes", "reservedRenderMinutes", "apiRequests",
    "assetProcessingBytes", "activeApiKeys", "limits",
}  # fmt: skip


def test_a_fresh_account_has_used_nothing(own_world: World) -> None:
    usage = own_world.account().usage()
    assert set(usage) == FIELDS
    assert usage["period"] == "2026-01"
    assert usage["limits"] == {
        "apiEnabled": True, "monthlyRenderMinutes": 60, "monthlyApiRequests": 1000, "maxActiveApiKeys": 5,
        "maxUploadBytes": 104857600,
    }  # fmt: skip
    assert all(usage[name] == 0 for name in FIELDS - {"period", "limits"})


def test_minutes_are_reserved_at_creation_from_the_templates_duration(world: World) -> None:
    ada = world.account()
    ada.render(ada.template(durationSeconds=90))
    usage = ada.usage()
    assert (usage["reservedRenderMinutes"], usage["renderedMinutes"], usage["renderJobs"]) == (1.5, 0, 1)


def test_a_cancelled_or_failed_job_costs_nothing(world: World) -> None:
    ada = world.account()
    template = ada.template(durationSeconds=90)
    cancelled, failed = (ada.render(template).json()["jobId"] for _ in range(2))
    ada.post(f"/renders/{cancelled}/cancel")
    world.move(failed, "failed", error="It broke.")
    usage = ada.usage()
    assert (usage["reservedRenderMinutes"], usage["renderedMinutes"]) == (0, 0)


def test_a_job_that_would_exceed_the_quota_is_refused(world: World) -> None:
    ada = world.account(monthlyRenderMinutes=2)
    template = ada.template(durationSeconds=60)
    jobs = [ada.render(template).json()["jobId"] for _ in range(2)]
    answer = ada.render(template)
    body = answer.json()
    assert (answer.status_code, body["code"], body["kind"], body["limit"], body["used"]) == (
        403, "quota_exceeded", "render_minutes", 2, 2,
    )  # fmt: skip
    assert body["message"].startswith("This takes 1 render minutes; 2 of this month's 2 are used or reserved.")
    ada.post(f"/renders/{jobs[0]}/cancel")
    assert ada.render(template).status_code == 201


def test_the_quota_is_exact_under_fifty_concurrent_creations(world: World) -> None:
    ada = world.account(monthlyRenderMinutes=1)
    template = ada.template(durationSeconds=6)
    with ThreadPoolExecutor(25) as pool:
        answers = list(pool.map(lambda _: ada.render(template), range(50)))
    assert sorted(answer.status_code for answer in answers) == [201] * 10 + [403] * 40
    usage = ada.usage()
    assert (usage["reservedRenderMinutes"], usage["renderJobs"]) == (1, 10)


def test_a_lowered_limit_applies_at_once(world: World) -> None:
    ada = world.account()
    template = ada.template()
    world.limit(ada.account_id, monthlyRenderMinutes=0)
    assert ada.render(template).json()["code"] == "quota_exceeded"
    world.limit(ada.account_id, plan="free")
    assert ada.render(template).json()["code"] == "upgrade_required"


def test_counters_reset_when_the_utc_month_rolls_over(own_world: World) -> None:
    ada = own_world.account()
    key = ada.new_key()
    running = ada.job()
    own_world.database.execute("UPDATE usage SET rendered_ms = 120000, render_duration_ms = 5, asset_bytes = 9")
    own_world.clock.advance((datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC) - own_world.clock.now()).total_seconds())
    key.get("/renders")
    january = ada.usage()
    assert (january["period"], january["apiRequests"], january["renderedMinutes"]) == ("2026-01", 1, 2)
    own_world.clock.advance(1)
    february = ada.usage()
    assert february["period"] == "2026-02"
    reset = {name: february[name] for name in FIELDS - {"period", "limits", "activeApiKeys", "reservedRenderMinutes"}}
    assert set(reset.values()) == {0}
    assert february["reservedRenderMinutes"] == 0.05
    ada.post(f"/renders/{running}/cancel")
    assert ada.usage()["reservedRenderMinutes"] == 0


@pytest.mark.usefixtures("long_window")
def test_sixty_renders_a_minute_may_be_created(start: Callable[..., World]) -> None:
    world = start(automation_renders_per_minute=3)
    ada, bob = world.account(), world.account("bob")
    template = ada.template()
    for _ in range(5):
        assert ada.render(template, inputs={}).status_code == 400
    assert [ada.render(template).status_code for _ in range(3)] == [201] * 3
    answer = ada.render(template)
    body = answer.json()
    assert (answer.status_code, body["code"]) == (429, "rate_limit_exceeded")
    assert 1 <= body["retryAfterSeconds"] <= rates.WINDOW_SECONDS
    assert answer.headers["Retry-After"] == str(body["retryAfterSeconds"])
    assert bob.render(bob.template()).status_code == 201
    assert ada.get("/renders").status_code == 200


def test_the_default_rates_are_the_interfaces(world: World) -> None:
    fields = type(world.settings).model_fields
    assert fields["automation_renders_per_minute"].default == 60
    assert fields["automation_requests_per_minute_per_ip"].default == 300


def requests_until_refused(world: World) -> int:
    for count in range(20):
        answer = world.client.get("/api/v1/usage")
        if answer.status_code == 429:
            assert answer.json()["code"] == "rate_limit_exceeded"
            assert int(answer.headers["Retry-After"]) >= 1
            return count
        assert answer.status_code == 401
    pytest.fail("20 requests were answered")


@pytest.mark.usefixtures("long_window")
def test_an_address_may_make_so_many_requests_a_minute_probes_aside(start: Callable[..., World]) -> None:
    world = start(automation_requests_per_minute_per_ip=5)
    assert requests_until_refused(world) == 5
    assert world.client.get("/api/health").status_code == 200


@pytest.mark.usefixtures("long_window")
def test_the_rate_is_counted_by_all_processes_together(start: Callable[..., World]) -> None:
    first, second = (start(automation_requests_per_minute_per_ip=6) for _ in range(2))
    for _ in range(3):
        first.client.get("/api/v1/usage")
        second.client.get("/api/v1/usage")
    assert [world.client.get("/api/v1/usage").status_code for world in (first, second)] == [429, 429]


@pytest.mark.usefixtures("long_window")
@pytest.mark.parametrize("redis_url", ["redis://127.0.0.1:1", "unix:///nowhere.sock"])
def test_without_redis_the_rate_goes_on_being_limited(start: Callable[..., World], redis_url: str) -> None:
    world = start(automation_requests_per_minute_per_ip=5, redis_url=redis_url)
    assert requests_until_refused(world) == 5


def test_a_redis_that_goes_away_and_comes_back_is_used_again(
    start: Callable[..., World], redis_url: str, settings: Any
) -> None:
    world = start(automation_requests_per_minute_per_ip=1_000)
    world.client.get("/api/v1/usage")
    with redis.Redis.from_url(redis_url) as client:
        assert client.keys("rate:*") == [b"rate:address:127.0.0.1"]
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert world.client.get("/api/v1/usage").status_code == 401


def test_unchanged_lists_and_usage_answer_304(world: World) -> None:
    ada = world.account()
    ada.job()
    versions = f"/templates/{ada.template()}/versions"
    for path in ("/usage", "/renders", "/templates", "/keys", "/animations", versions):
        first = ada.get(path)
        tag = first.headers["ETag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = ada.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag), path
        assert ada.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    before = ada.get("/renders").headers["ETag"]
    ada.job()
    assert ada.get("/renders", headers={"If-None-Match": before}).status_code == 200
