"""Posts webhooks: three attempts, each to an address that is checked again and connected to exactly as checked.

An attempt is recorded as begun between the connection and the first byte of the request, and its sender journal what comes after
that. Where it dies, the next one goes by the journal: an attempt whose request did not go out has failed, an answer that was noted
counts, and what was sent and not yet answered is not posted again (`docs/decisions/0008`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final

import orjson
from opentelemetry.trace import Span, SpanKind
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.net.addresses import UrlRefused
from farm_core.net.fetch import FetchFailed, guarded_post
from farm_core.telemetry import logs, traces
from farm_core.webhooks import repository
from farm_core.webhooks.repository import DueDelivery
from farm_core.webhooks.schedule import TIMEOUT_SECONDS, TIMES_SECONDS, outcome
from scheduler import metrics
from scheduler.delivery_journal import DeliveryJournal, JournalEntry
from scheduler.dependencies import Dependencies
from scheduler.service import RETRY_SECONDS, Service, in_a_line

_log = logs.logger(__name__)

POSTS_MAX: Final = 32
SENDER_DIED: Final = "The sender died while it posted; the receiver may have it, so it is not posted again."
NOT_SENT: Final = "The sender died before it had sent the request."
NO_ANSWER: Final = "No answer came, and the sender died before it could tell of it."


class LeaseLost(Exception):
    """Another sender has the delivery."""


class Deliverer(Service):
    """Keep up to POSTS_MAX posts in flight."""

    every_seconds = 1.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__()
        self.dependencies = dependencies
        self.journal = _notes(dependencies)
        self.posts: set[asyncio.Task[None]] = set()

    async def tick(self) -> int:
        """Begin to post due webhooks."""
        room = POSTS_MAX - len(self.posts)
        if room <= 0:
            return 0
        async with self.dependencies.database.work() as session:
            due = await repository.claim_deliveries(session, self.dependencies.clock.now(), room, self.journal.place)
            next_at = await repository.next_due(session)
        for delivery in due:
            post = asyncio.create_task(self._posted(delivery), name=delivery.id)
            self.posts.add(post)
            post.add_done_callback(self._ended)
        self.every_seconds = self._pause(next_at.timestamp() if next_at else None, idle=not due)
        return 0

    async def stop(self) -> None:
        """Begin no more posts, and wait for those in flight. Each has its own time limit."""
        await super().stop()
        await asyncio.gather(*self.posts, return_exceptions=True)

    def _pause(self, next_at: float | None, *, idle: bool) -> float:
        """Return the seconds until the next post is due, at most one.

        A due post that is not claimed waits for a post of its account to end.
        """
        least = 0.25 if idle else 0.02
        wait = 1.0 if next_at is None else next_at - self.dependencies.clock.now().timestamp()
        return min(1.0, wait if wait > 0 else least)

    def _ended(self, post: asyncio.Task[None]) -> None:
        self.posts.discard(post)
        self.wake()

    async def _posted(self, delivery: DueDelivery) -> None:
        """Post the webhook. Its log lines and its span name the request that created the job."""
        about = {"job_id": delivery.job_id, "attempt": delivery.attempt}
        with (
            logs.bound(job_id=delivery.job_id, request_id=delivery.trace.request_id),
            traces.linked("webhook", delivery.trace.traceparent, SpanKind.CLIENT, **about) as span,
        ):
            await self._settled(delivery, span)

    async def _settled(self, delivery: DueDelivery, span: Span) -> None:
        began = time.monotonic()
        try:
            answer, again, problem = await self._answer(delivery)
        except LeaseLost:
            return
        result = outcome(delivery.attempt, answer, again=again)
        metrics.WEBHOOK_ATTEMPTS.labels(str(result.status)).inc()
        record = {
            "at": self.dependencies.clock.now().isoformat(), "status": answer, "error": problem,
            "ms": round((time.monotonic() - began) * 1000),
        }  # fmt: skip
        span.set_attributes({"http.response.status_code": answer or 0, "farm.outcome": str(result.status)})
        _log.info("webhook", attempt=delivery.attempt, outcome=str(result.status), **record)
        await self._written(lambda session, now: repository.end_attempt(session, now, delivery, result, record))
        self.journal.forget(_post(delivery))

    async def _answer(self, delivery: DueDelivery) -> tuple[int | None, bool, str | None]:
        """Return the answer's status (or None), whether a repeat can help, and the error."""
        if delivery.begun:
            return self._left(delivery)
        if delivery.attempt > len(TIMES_SECONDS):
            return None, False, "The last attempt was begun, and its sender did not live to tell of it."
        headers = {
            "Content-Type": "application/json",
            "X-Service-Event": "render.finished",
            "X-Service-Job-Id": delivery.job_id,
        }
        body, guard, post = orjson.dumps(dict(delivery.body)), self.dependencies.callback_guard, _post(delivery)

        async def begun() -> None:
            self.journal.begin(post)
            place = self.journal.place
            if not await self._written(lambda session, now: repository.begin_attempt(session, now, delivery, place)):
                raise LeaseLost

        def sent() -> None:
            self.journal.sent(post)

        try:
            status = await guarded_post(delivery.url, body, headers, TIMEOUT_SECONDS, guard, begun, sent)
        except UrlRefused as refusal:
            return None, False, str(refusal)
        except FetchFailed as failure:
            self.journal.answered(post, None)
            return None, True, failure.message
        self.journal.answered(post, status)
        return status, True, None

    def _left(self, delivery: DueDelivery) -> tuple[int | None, bool, str | None]:
        """Return the same as `_answer` for an attempt whose sender died, from its journal.

        Nothing is known if the sender used another journal.
        """
        if delivery.place != self.journal.place:
            return None, False, SENDER_DIED
        match self.journal.read(_post(delivery)):
            case JournalEntry(sent=False):
                return None, True, NOT_SENT
            case JournalEntry(status=int(status)):
                return status, True, None
            case JournalEntry(failed=True):
                return None, True, NO_ANSWER
            case _:
                return None, False, SENDER_DIED

    async def _written(self, write: Callable[[AsyncSession, datetime], Awaitable[bool]]) -> bool:
        """Return the result of `write` once it is committed.

        Repeat it while Postgres is away: only this process knows it.
        """
        while True:
            try:
                async with self.dependencies.database.work() as session:
                    return await write(session, self.dependencies.clock.now())
            except (SQLAlchemyError, OSError) as error:
                if self._stopping:
                    raise
                _log.warning("webhook not recorded yet", error=in_a_line(error))
                await asyncio.sleep(RETRY_SECONDS)


def _notes(dependencies: Dependencies) -> DeliveryJournal:
    """DeliveryJournal that the next sender on this machine can read; this process's own where nothing can be written there."""
    try:
        return DeliveryJournal(dependencies.settings.data_folder / "webhooks")
    except OSError as error:
        _log.warning("webhooks are noted for this process alone", error=type(error).__name__)
        return DeliveryJournal(dependencies.scratch / "webhooks")


def _post(delivery: DueDelivery) -> str:
    """Names an attempt among the journal."""
    return f"{delivery.id}.{delivery.attempt}"
