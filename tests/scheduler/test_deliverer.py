"""Webhooks: content, retries, records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select, text
from sqlmodel import col

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import repository
from farm_core.jobs.status import DeliveryStatus
from farm_core.webhooks import repository as webhooks
from farm_core.webhooks.models import Delivery
from farm_core.webhooks.schedule import TIMES_SECONDS, Outcome, outcome
from tests.clock import ManualClock
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, Gate, farm
from tests.scheduler.sender import deliverer, ended_job

ROUNDS = 100
"""Enough that two senders at once often read the webhook before either takes it."""


class Receiver:
    """HTTP server that answers with the given statuses in order and records what it receives."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.requests: list[tuple[dict[str, str], dict[str, object]]] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.requests.append((headers, body))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def receiver(*statuses: int) -> AsyncIterator[Receiver]:
    receiving = Receiver(*statuses)
    server = await asyncio.start_server(receiving.serve, "127.0.0.1", 0)
    receiving.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    async with server:
        yield receiving


async def delivered(under_test: FarmUnderTest, job_id: str) -> Delivery:
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            async with under_test.database.work() as session:
                found = await session.execute(select(Delivery).where(col(Delivery.job_id) == job_id))
                delivery = found.scalar_one()
            if any("begun" not in one for one in delivery.attempts):
                return delivery
            await asyncio.sleep(0.02)


@pytest.mark.service
async def test_a_finished_job_has_one_webhook_with_exactly_the_body_and_headers(
    database_url: str, tmp_path: Path
) -> None:
    async with receiver(204) as hook, farm(database_url, tmp_path) as under_test:
        job = await under_test.ended(await under_test.create(callback_url=hook.url))
        delivery = await delivered(under_test, job.id)
        assert delivery.status == "delivered"
        ((headers, body),) = hook.requests
        assert headers["content-type"] == "application/json"
        assert headers["x-service-event"] == "render.finished"
        assert headers["x-service-job-id"] == job.id
        assert body.keys() == {"jobId", "status", "videoUrl", "error", "renderDurationMs"}
        assert (body["jobId"], body["status"], body["error"]) == (job.id, "completed", None)
        assert str(body["videoUrl"]).startswith("http://farm/files/results/")
        assert body["renderDurationMs"] == job.render_duration_ms


@pytest.mark.service
async def test_the_link_of_a_webhook_ends_with_results_that_are_kept_for_less_than_a_week(
    database_url: str, tmp_path: Path
) -> None:
    async with receiver(204) as hook, farm(database_url, tmp_path, result_days=2) as under_test:
        job = await under_test.ended(await under_test.create(callback_url=hook.url))
        await delivered(under_test, job.id)
        ((_, body),) = hook.requests
        (expires,) = parse_qs(urlsplit(str(body["videoUrl"])).query)["expires"]
        assert job.finished_at is not None
        assert int(expires) <= (job.finished_at + timedelta(days=2, seconds=1)).timestamp()


@pytest.mark.service
async def test_a_cancelled_job_has_a_webhook_too(database_url: str, tmp_path: Path) -> None:
    gate = Gate()

    async with receiver(200) as hook, farm(database_url, tmp_path, gate) as under_test:
        job_id = await under_test.create(callback_url=hook.url)
        await gate.reached()
        async with under_test.database.work() as session:
            await repository.cancel(session, job_id)
        gate.open()
        await delivered(under_test, job_id)
        assert [body["status"] for _, body in hook.requests] == ["cancelled"]


@pytest.mark.service
async def test_a_client_error_is_final(database_url: str, tmp_path: Path) -> None:
    async with receiver(410) as hook, farm(database_url, tmp_path) as under_test:
        job = await under_test.ended(await under_test.create(callback_url=hook.url))
        assert (await delivered(under_test, job.id)).status == "dropped"


DUE, DELIVERED, DROPPED = DeliveryStatus.due, DeliveryStatus.delivered, DeliveryStatus.dropped


@pytest.mark.parametrize(
    ("attempt", "answer", "expected"),
    [
        (1, 200, Outcome(DELIVERED)),
        (3, 299, Outcome(DELIVERED)),
        (1, 404, Outcome(DROPPED)),
        (1, 500, Outcome(DUE, 5)),
        (2, 503, Outcome(DUE, 20)),
        (3, 500, Outcome(DROPPED)),
        (1, None, Outcome(DUE, 5)),
        (2, None, Outcome(DUE, 20)),
        (3, None, Outcome(DROPPED)),
        (1, 302, Outcome(DUE, 5)),
    ],
)
def test_attempts_are_made_at_0_5_and_25_seconds(attempt: int, answer: int | None, expected: Outcome) -> None:
    assert outcome(attempt, answer) == expected


@pytest.mark.service
async def test_attempts_after_a_server_error_are_5_and_25_seconds_after_the_first_however_slow_answers_are(
    database_url: str, tmp_path: Path
) -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    clock = ManualClock(start)

    async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        clock.advance(3)
        writer.write(b"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    database = Database(database_url, ping=False)
    server = await asyncio.start_server(slowly, "127.0.0.1", 0)
    async with server:
        await ended_job(database, tmp_path, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook")
        due = []
        for _ in range(3):
            sender = deliverer(database, tmp_path, clock)
            await sender.tick()
            await sender.stop()
            async with database.work() as session:
                delivery = (await session.execute(select(Delivery))).scalar_one()
            due.append((delivery.due_at - start).total_seconds())
            clock.advance((delivery.due_at - clock.now()).total_seconds())
        assert (due, delivery.status) == ([5, 25, 25], "dropped")
        assert [attempt["status"] for attempt in delivery.attempts] == [503] * 3
    await database.close()


@pytest.mark.service
@pytest.mark.parametrize("before", [0, 1])
async def test_a_clock_that_goes_back_puts_off_no_attempt(database_url: str, tmp_path: Path, before: int) -> None:
    clock = ManualClock(datetime.now(UTC) + timedelta(seconds=5))

    async with receiver(503, 200) as hook:
        database = Database(database_url, ping=False)
        await ended_job(database, tmp_path, hook.url)
        for _ in range(before):
            await tick(database, tmp_path, clock)
        clock.advance(-6 * 3600)
        for seconds in (0, 4, 1):
            clock.advance(seconds)
            await tick(database, tmp_path, clock)
        assert len(hook.requests) == 2
        await database.close()


async def tick(database: Database, folder: Path, clock: ManualClock) -> None:
    """Post the due webhooks."""
    sender = deliverer(database, folder, clock)
    await sender.tick()
    await sender.stop()


@pytest.mark.service
async def test_a_webhook_that_waits_for_its_next_attempt_delays_no_new_one_and_leaves_nothing_in_the_journal(
    database: Database, tmp_path: Path
) -> None:
    async with receiver(503) as hook:
        await ended_job(database, tmp_path, hook.url)
        sender = deliverer(database, tmp_path, ManualClock(datetime.now(UTC)))
        await sender.tick()
        await asyncio.gather(*sender.posts)
        await sender.tick()
        assert (len(hook.requests), sender.every_seconds) == (1, 1.0), "the next attempt is due in 5 s"
    assert [path.name for path in sender.dependencies.settings.data_folder.glob("webhooks/*")] == ["place"]


@pytest.mark.service
async def test_a_webhook_whose_senders_died_before_each_attempt_is_dropped_after_the_third(
    database: Database, tmp_path: Path
) -> None:
    async with receiver(204) as hook:
        await ended_job(database, tmp_path, hook.url)
        for minutes in range(len(TIMES_SECONDS)):
            async with database.work() as session:
                assert await webhooks.claim_deliveries(session, utc_now() + timedelta(minutes=minutes), 9, "journal")
        await tick(database, tmp_path, ManualClock(datetime.now(UTC) + timedelta(hours=1)))
        assert hook.requests == []
    async with database.reading() as session:
        delivery = (await session.scalars(select(Delivery))).one()
    assert (delivery.status, "sender died" in delivery.attempts[-1]["error"]) == ("dropped", True)


@pytest.mark.service
async def test_a_sender_whose_lease_was_claimed_by_another_begins_and_ends_no_attempt(
    database: Database, tmp_path: Path
) -> None:
    await ended_job(database, tmp_path, "http://receiver.example/hook")
    async with database.work() as session:
        (former,) = await webhooks.claim_deliveries(session, utc_now(), 9, "journal")
        (latter,) = await webhooks.claim_deliveries(session, utc_now() + timedelta(minutes=5), 9, "journal")
        accepted, record = outcome(1, 204), {"status": 204}
        assert not await webhooks.begin_attempt(session, utc_now(), former, "journal")
        assert not await webhooks.end_attempt(session, utc_now(), former, accepted, record)
        assert await webhooks.begin_attempt(session, utc_now(), latter, "journal")
        assert await webhooks.end_attempt(session, utc_now(), latter, accepted, record)
        assert not await webhooks.end_attempt(session, utc_now(), latter, accepted, record)
        assert (await session.scalars(select(Delivery))).one().attempts == [record]


@pytest.mark.service
async def test_a_begun_attempt_is_taken_over_late_and_sooner_by_the_sender_with_its_journal(
    database: Database, tmp_path: Path
) -> None:
    await ended_job(database, tmp_path, "http://receiver.example/hook")
    begun_at = utc_now()
    for journal, seconds in (("own", webhooks.LEASE_SECONDS), ("other", webhooks.BEGUN_LEASE_SECONDS)):
        for later, claimed in ((0, 0), (seconds - 1, 0), (seconds + 1, 1)):
            async with database.work() as session:
                if not later:
                    (one,) = await webhooks.claim_deliveries(session, begun_at + timedelta(hours=1), 9, "own")
                    assert await webhooks.begin_attempt(session, begun_at, one, "own")
                now = begun_at + timedelta(seconds=later)
                assert len(await webhooks.claim_deliveries(session, now, 9, journal)) == claimed, (journal, later)


@pytest.mark.service
async def test_of_senders_that_claim_a_webhook_at_once_one_gets_it(database: Database, tmp_path: Path) -> None:
    await ended_job(database, tmp_path, "http://receiver.example/hook")
    async with database.work() as first, database.work() as second:
        assert len(await webhooks.claim_deliveries(first, utc_now(), 9, "journal")) == 1
        await second.execute(text("SET LOCAL lock_timeout = '1s'"))
        assert await webhooks.claim_deliveries(second, utc_now(), 9, "journal") == []


def test_an_address_that_may_not_be_reached_is_not_tried_again() -> None:
    assert outcome(1, None, is_retryable=False) == Outcome(DROPPED)


@pytest.mark.service
async def test_a_sender_that_looked_for_webhooks_before_another_claimed_one_does_not_claim_it(
    database: Database, tmp_path: Path
) -> None:
    await ended_job(database, tmp_path, "http://receiver.example/hook")

    async def claim() -> int:
        async with database.work() as session:
            return len(await webhooks.claim_deliveries(session, utc_now(), 9, "journal"))

    for _ in range(ROUNDS):
        async with database.work() as session:
            await session.execute(
                text("UPDATE deliveries SET attempt = 0, lease_token = NULL, lease_expires_at = NULL")
            )
        assert sum(await asyncio.gather(*(claim() for _ in range(4)))) == 1
