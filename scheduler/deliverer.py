"""Post webhooks, with up to three attempts each. Each attempt checks the address again and connects only to the
checked address.

After connecting and before sending, the sender commits that the attempt has begun. It then records in a journal when
the request is sent and when it is answered. If the sender dies, the next sender reads the journal. An attempt that
was not sent counts as failed, a recorded answer counts, and a request that was sent without an answer is not posted
again (`docs/decisions/0008`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, NamedTuple

import orjson
from opentelemetry.trace import Span, SpanKind
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.net.addresses import UrlRefused
from farm_core.net.fetch import FetchFailed, SendingHooks, guarded_post
from farm_core.telemetry import logs, traces
from farm_core.telemetry.logs import in_a_line
from farm_core.webhooks import repository
from farm_core.webhooks.repository import DueDelivery
from farm_core.webhooks.schedule import TIMEOUT_SECONDS, TIMES_SECONDS, outcome
from scheduler import metrics
from scheduler.delivery_journal import DeliveryJournal, JournalEntry
from scheduler.dependencies import Dependencies
from scheduler.service import RETRY_SECONDS, Service

_log = logs.logger(__name__)

POSTS_MAX: Final = 32
SENDER_DIED: Final = "The sender died while it posted; the receiver may have it, so it is not posted again."
NOT_SENT: Final = "The sender died before it had sent the request."
NO_ANSWER: Final = "No answer came, and the sender died before it recorded that."


class _Answer(NamedTuple):
    """End of an attempt: HTTP status if the receiver answered, error, and `is_retryable` if another attempt can succeed."""

    status: int | None = None
    error: str | None = None
    is_retryable: bool = True


class LeaseLost(Exception):
    """Another sender has taken over the delivery."""


class Deliverer(Service):
    """Keep up to POSTS_MAX posts in flight."""

    every_seconds = 1.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__(dependencies)
        self.journal = _journal(dependencies)
        self.posts: set[asyncio.Task[None]] = set()

    async def tick(self) -> int:
        """Start posting due webhooks."""
        room = POSTS_MAX - len(self.posts)
        if room <= 0:
            return 0
        async with self.dependencies.database.work() as session:
            due = await repository.claim_deliveries(session, self.dependencies.clock.now(), room, self.journal.name)
            next_at = await repository.next_due(session)
        for delivery in due:
            post = asyncio.create_task(self._post_traced(delivery), name=delivery.id)
            self.posts.add(post)
            post.add_done_callback(self._forget)
        self.every_seconds = self._pause(next_at.timestamp() if next_at else None, idle=not due)
        return 0

    async def stop(self) -> None:
        """Start no more posts, and wait for those in flight. Each post has its own time limit."""
        await super().stop()
        await asyncio.gather(*self.posts, return_exceptions=True)

    def _pause(self, next_at: float | None, *, idle: bool) -> float:
        """Return the seconds until the next post is due, at most one.

        If a due post was not claimed, its account has too many posts in flight; the end of one of them wakes the
        service.
        """
        least = 0.25 if idle else 0.02
        wait = 1.0 if next_at is None else next_at - self.dependencies.clock.now().timestamp()
        return min(1.0, wait if wait > 0 else least)

    def _forget(self, post: asyncio.Task[None]) -> None:
        self.posts.discard(post)
        self.wake()

    async def _post_traced(self, delivery: DueDelivery) -> None:
        """Post the webhook. Its log lines and its span name the request that created the job."""
        about = {"job_id": delivery.job_id, "attempt": delivery.attempt}
        with (
            logs.bound(job_id=delivery.job_id, request_id=delivery.trace.request_id),
            traces.linked("webhook", delivery.trace.traceparent, SpanKind.CLIENT, **about) as span,
        ):
            await self._post_and_record(delivery, span)

    async def _post_and_record(self, delivery: DueDelivery, span: Span) -> None:
        began = time.monotonic()
        try:
            answer = await self._answer(delivery)
        except LeaseLost:
            return
        result = outcome(delivery.attempt, answer.status, is_retryable=answer.is_retryable)
        metrics.WEBHOOK_ATTEMPTS.labels(str(result.status)).inc()
        record = {
            "at": self.dependencies.clock.now().isoformat(), "status": answer.status, "error": answer.error,
            "ms": round((time.monotonic() - began) * 1000),
        }  # fmt: skip
        span.set_attributes({"http.response.status_code": answer.status or 0, "farm.outcome": str(result.status)})
        _log.info("webhook", attempt=delivery.attempt, outcome=str(result.status), **record)
        await self._commit(lambda session, now: repository.end_attempt(session, now, delivery, result, record))
        self.journal.forget(_attempt_name(delivery))

    async def _answer(self, delivery: DueDelivery) -> _Answer:
        """Post the webhook, or return the journal's answer if another sender began the attempt. Raises LeaseLost."""
        if delivery.begun:
            return self._answer_from_journal(delivery)
        if delivery.attempt > len(TIMES_SECONDS):
            return _Answer(
                error="The last attempt was begun, and its sender died before it recorded the end.", is_retryable=False
            )
        headers = {
            "Content-Type": "application/json",
            "X-Service-Event": "render.finished",
            "X-Service-Job-Id": delivery.job_id,
        }
        body, guard, post = orjson.dumps(dict(delivery.body)), self.dependencies.callback_guard, _attempt_name(delivery)

        async def record_begun() -> None:
            self.journal.begin(post)
            journal = self.journal.name
            if not await self._commit(lambda session, now: repository.begin_attempt(session, now, delivery, journal)):
                raise LeaseLost

        def record_sent() -> None:
            self.journal.sent(post)

        try:
            hooks = SendingHooks(record_begun, record_sent)
            status = await guarded_post(delivery.url, body, headers, TIMEOUT_SECONDS, guard, hooks)
        except UrlRefused as refusal:
            return _Answer(error=str(refusal), is_retryable=False)
        except FetchFailed as failure:
            self.journal.answered(post, None)
            return _Answer(error=failure.message)
        except OSError as error:  # this machine lacks descriptors: the attempt is repeated when its lease expires
            _log.warning("webhook not posted", error=in_a_line(error))
            raise LeaseLost from error
        self.journal.answered(post, status)
        return _Answer(status)

    def _answer_from_journal(self, delivery: DueDelivery) -> _Answer:
        """Return the end of an attempt whose sender died. The end is unknown if that sender used another journal."""
        if delivery.journal != self.journal.name:
            return _Answer(error=SENDER_DIED, is_retryable=False)
        match self.journal.read(_attempt_name(delivery)):
            case JournalEntry(sent=False):
                return _Answer(error=NOT_SENT)
            case JournalEntry(status=int(status)):
                return _Answer(status)
            case JournalEntry(failed=True):
                return _Answer(error=NO_ANSWER)
            case _:
                return _Answer(error=SENDER_DIED, is_retryable=False)

    async def _commit(self, write: Callable[[AsyncSession, datetime], Awaitable[bool]]) -> bool:
        """Commit `write`, and return its result. Repeat it while Postgres is away: only this process knows the answer."""
        while True:
            try:
                async with self.dependencies.database.work() as session:
                    return await write(session, self.dependencies.clock.now())
            except (SQLAlchemyError, OSError) as error:
                if self._stopping:
                    raise
                _log.warning("webhook not recorded yet", error=in_a_line(error))
                await asyncio.sleep(RETRY_SECONDS)


def _journal(dependencies: Dependencies) -> DeliveryJournal:
    """Return the journal of the data folder, which other senders on this machine share, or else a journal for this
    process only."""
    try:
        return DeliveryJournal(dependencies.settings.data_folder / "webhooks")
    except OSError as error:
        _log.warning("the journal of webhooks is for this process alone", error=type(error).__name__)
        return DeliveryJournal(dependencies.scratch / "webhooks")


def _attempt_name(delivery: DueDelivery) -> str:
    """Return the name of an attempt in the journal."""
    return f"{delivery.id}.{delivery.attempt}"
