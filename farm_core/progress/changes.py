"""Changes of jobs, published to subscribers: progress by render workers, states by the service that committed them.

    async for change in listen(redis, account_id):
        if change is None:  # connected, for the first time or again: changes may have been missed, so read everything
            ...

Publishing is best effort. Listeners read the state from Postgres and `ProgressReader`; a change says when to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import suppress
from typing import Final, Required, TypedDict, cast

import orjson
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.progress import store
from farm_core.progress.store import channel
from farm_core.redis import stop_if_cancelled
from farm_core.telemetry import logs

_log = logs.logger(__name__)

POLL_SECONDS: Final = 15.0
RETRY_SECONDS: Final = 1.0


class JobChange(TypedDict, total=False):
    """A change of a job. `status` is set after a change of state; workers set the other fields while they render a
    segment."""

    job_id: Required[str]
    account_id: Required[str]
    status: str
    progress: float
    """From 0 to 99 while the job runs, 100 when it is completed."""
    frames_done: int
    frame_count: int
    segment: int
    """Index of the task."""
    started: float
    """Start of the attempt, seconds since 1970."""


def changed(job_id: str, account_id: str, status: str, progress: float | None = None) -> JobChange:
    """Return a change of state. The progress of a completed job is 100."""
    change = JobChange(job_id=job_id, account_id=account_id, status=str(status))
    if progress is not None or status == "completed":
        change["progress"] = 100.0 if progress is None else progress
    return change


class ChangePublisher:
    """Publish changes of state after their commit. It never raises and never blocks its caller: Redis can be away."""

    def __init__(self, redis: Redis | None) -> None:
        self._redis = redis
        self._tasks: set[asyncio.Task[None]] = set()

    def publish(self, changes: Iterable[JobChange]) -> None:
        """Publish in the background. Call this on the event loop, after the commit."""
        if self._redis is not None and (messages := list(changes)):
            task = asyncio.get_running_loop().create_task(self._publish(self._redis, messages))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def publish_after_commit(self, session: AsyncSession, changes: Sequence[JobChange]) -> None:
        """Publish after the session's transaction has committed."""
        event.listen(session.sync_session, "after_commit", lambda _: self.publish(changes), once=True)

    async def close(self) -> None:
        """Wait for the running publications, and close the client's connections."""
        await asyncio.gather(*self._tasks)
        if self._redis is not None:
            await self._redis.aclose()

    async def _publish(self, redis: Redis, changes: Sequence[JobChange]) -> None:
        with suppress(RedisError, OSError):
            pipeline = redis.pipeline(transaction=False)
            for change in changes:
                pipeline.publish(channel(change["account_id"]), orjson.dumps(change))
                if change.get("status") in _ENDED:
                    pipeline.hset(store.key(change["job_id"]), "ended", "1")
                    pipeline.pexpire(store.key(change["job_id"]), store.ENDED_MS)
            await pipeline.execute()


async def listen(redis: Redis, account_id: str | None) -> AsyncGenerator[JobChange | None, None]:
    """Yield the changes of one account's jobs or of all jobs, and None after each connection.

    Runs until the consumer stops it, and reconnects by itself. Each listener has its own connection, outside the
    client's pool.
    """
    pool = redis.connection_pool
    own = Redis(connection_pool=ConnectionPool(pool.connection_class, max_connections=2, **pool.connection_kwargs))
    is_away = False
    try:
        while True:
            try:
                async with own.pubsub(ignore_subscribe_messages=True) as subscription:
                    await _subscribe(subscription, account_id)
                    stop_if_cancelled()
                    if is_away:
                        is_away = False
                        _log.info("listening to changes again")
                    yield None
                    while True:
                        change = await _next_change(subscription)
                        stop_if_cancelled()
                        if change is not None:
                            yield change
            except (RedisError, OSError) as error:
                if not is_away:
                    is_away = True
                    _log.info("listening to changes again soon", error=type(error).__name__)
                stop_if_cancelled()
                await asyncio.sleep(RETRY_SECONDS)
    finally:
        await own.aclose()
        await own.connection_pool.disconnect()


_ENDED: Final = frozenset({"completed", "failed", "cancelled"})


async def _subscribe(subscription: PubSub, account_id: str | None) -> None:
    if account_id is None:
        await subscription.psubscribe(channel("*"))
    else:
        await subscription.subscribe(channel(account_id))


async def _next_change(subscription: PubSub) -> JobChange | None:
    """Return the next change, or None after POLL_SECONDS without one. A ping then tests the connection."""
    message = await subscription.get_message(timeout=POLL_SECONDS)
    if message is None:
        await subscription.ping()
        return None
    is_change = message["type"] in ("message", "pmessage")  # the answer to a ping is a message too
    return cast(JobChange, orjson.loads(message["data"])) if is_change else None
