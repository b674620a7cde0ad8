"""Exchange of stills through Redis: one list of requests, and one list per asking process for its answers.

Redis can lose any of them: the caller waits a few seconds, and can ask again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, cast

import orjson
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from farm_core.ids import new_id
from farm_core.redis import stop_if_cancelled
from farm_core.stills.options import Frames, StillFormat
from farm_core.stills.subject import StillSubject
from farm_core.turns import others_first

WAIT_SECONDS: Final = 20
"""Time limit of an answer: the first request may have to fetch media and open a large document."""
_CONNECT_SECONDS: Final = 5
"""Time limit for connecting: dozens of callers connect at once, and a busy machine takes seconds for them."""
ANSWER_SECONDS: Final = 5
"""Time limit for an answer of Redis to a command that waits for nothing. A paused server accepts connections and does not answer."""
_POLL_SECONDS: Final = 1
CONNECTIONS_MAX: Final = 64
"""Connections of a process. A command waits for a free one; requests that wait for their answer share one."""
ACCOUNT_ASKING_MAX: Final = 32
"""Requests of an account that wait in one process."""
TOO_MANY: Final = "Too many stills of this account wait."
_QUEUE: Final = "stills:requests"
_QUEUE_MAX: Final = 500
STRIKE_SECONDS: Final = 600
STRIKES_MAX: Final = 3
"""Number of workers that the account's stills may block before no more are drawn. The bar ends STRIKE_SECONDS after
the last one."""


@dataclass(frozen=True, slots=True)
class QueuedStill:
    """A request for a still in Redis. `deadline` is on this process's monotonic clock; Redis' clock converts it
    between hosts. `inbox` is the list for the answer."""

    id: str
    deadline: float
    subject: StillSubject
    frames: Frames
    format: StillFormat
    inbox: str = ""


@dataclass(frozen=True, slots=True)
class StillAnswer:
    """A picture, or a `failure` message for callers. `lasting`: the document or its media cause the failure, not the
    farm. `is_limit`: the account has asked for too much."""

    picture: bytes = b""
    failure: str | None = None
    lasting: bool = False
    is_limit: bool = False
    warnings: tuple[str, ...] = ()


class ExchangeAway(Exception):
    """Redis did not answer."""


class StillExchange:
    """Both sides of the exchange. Each side waits in Redis for `_POLL_SECONDS` at a time, on one connection."""

    def __init__(self, redis_url: str) -> None:
        connections = BlockingConnectionPool.from_url(
            redis_url, max_connections=CONNECTIONS_MAX, timeout=ANSWER_SECONDS, socket_timeout=_POLL_SECONDS + ANSWER_SECONDS,
            socket_connect_timeout=_CONNECT_SECONDS,
        )  # fmt: skip
        self._redis = Redis.from_pool(connections)
        self._inbox = f"stills:answers:{new_id('inbox')}"
        self._asking: dict[str, dict[str, QueuedStill]] = {}
        """Requests that wait for an answer, by account and id, the oldest first."""
        self._waiters: dict[str, asyncio.Future[StillAnswer]] = {}
        """Where the answer of each request is awaited, by id."""
        self._receiving: asyncio.Task[None] | None = None

    async def ask(self, request: QueuedStill) -> StillAnswer | None:
        """Send the request and wait for its answer. Return None if there is none in time. Raises ExchangeAway.

        Only the newest ACCOUNT_ASKING_MAX requests of an account wait: the oldest one gets an answer with `is_limit`. A request that is
        not awaited any longer is not drawn.
        """
        asking = self._asking.setdefault(request.subject.account_id, {})
        asking[request.id] = request
        waiter = self._waiters[request.id] = asyncio.get_running_loop().create_future()
        try:
            if len(asking) > ACCOUNT_ASKING_MAX:
                await self._refuse(asking.pop(next(iter(asking))))
            return await self._ask(request, waiter)
        except asyncio.CancelledError:
            await self._leave(request)
            raise
        finally:
            self._waiters.pop(request.id, None)
            asking.pop(request.id, None)
            if not asking and self._asking.get(request.subject.account_id) is asking:
                del self._asking[request.subject.account_id]

    async def _ask(self, request: QueuedStill, waiter: asyncio.Future[StillAnswer]) -> StillAnswer | None:
        async with _quick():
            deadline = await self._time() + request.deadline - time.monotonic()
            stored = orjson.dumps(asdict(request) | {"deadline": deadline, "inbox": self._inbox}).decode()
            if await self._redis.rpush(_QUEUE, stored) > _QUEUE_MAX:
                await self._redis.lrem(_QUEUE, -1, stored)
                return None
        stop_if_cancelled()
        if self._receiving is None or self._receiving.done():
            self._receiving = asyncio.create_task(self._receive())
        async with others_first():
            await asyncio.wait({waiter}, timeout=WAIT_SECONDS)
        if waiter.cancelled():
            raise ExchangeAway
        return waiter.result() if waiter.done() else None

    async def _receive(self) -> None:
        """Hand out answers until nobody waits. Without Redis, cancel all waiters."""
        try:
            while self._waiters:
                found = await self._redis.blpop([self._inbox], timeout=_POLL_SECONDS)
                stop_if_cancelled()
                if found is not None:
                    still_id, _, answer = cast(bytes, found[1]).partition(b"\n")
                    self._hand_over(still_id.decode(), _answer(answer))
        except (RedisError, OSError):
            for waiter in self._waiters.values():
                waiter.cancel()

    def _hand_over(self, still_id: str, answer: StillAnswer) -> None:
        waiter = self._waiters.pop(still_id, None)
        if waiter is not None and not waiter.done():
            waiter.set_result(answer)

    async def _refuse(self, request: QueuedStill) -> None:
        """Answer a request of this process for which a newer one takes the place."""
        self._hand_over(request.id, StillAnswer(failure=TOO_MANY, is_limit=True))
        await self._leave(request)

    async def _leave(self, request: QueuedStill) -> None:
        """Tell the schedulers that nobody waits for the picture, if Redis is there."""
        with suppress(ExchangeAway):
            async with _quick():
                await self._redis.set(_left_key(request.id), b"", ex=WAIT_SECONDS)

    async def has_left(self, request: QueuedStill) -> bool:
        """Return True if nobody waits for the picture any longer. Raises ExchangeAway."""
        async with _quick():
            return bool(await self._redis.exists(_left_key(request.id)))

    async def next_request(self) -> QueuedStill | None:
        """Take the next request whose caller still waits. Return None if there is none for a second. Raises
        ExchangeAway."""
        try:
            found = await self._redis.blpop([_QUEUE], timeout=_POLL_SECONDS)
            if found is None:
                return None
        except (RedisError, OSError) as error:
            raise ExchangeAway from error
        request = _request(orjson.loads(found[1]))
        async with _quick():
            left = min(WAIT_SECONDS, request.deadline - await self._time())
        return replace(request, deadline=time.monotonic() + left) if left > 0 else None

    async def _time(self) -> float:
        """Return Redis' time in seconds since 1970. The clocks of hosts can differ too much for a still's deadline."""
        seconds, microseconds = await self._redis.time()
        return float(seconds) + microseconds / 1e6

    async def waiting(self) -> int:
        """Return the number of requests that no scheduler has taken, or 0 while Redis is away."""
        with suppress(ExchangeAway):
            async with _quick():
                return int(await self._redis.llen(_QUEUE))
        return 0

    async def answer(self, request: QueuedStill, answer: StillAnswer) -> None:
        """Send the answer to the waiting caller. Raises ExchangeAway."""
        async with _quick(), self._redis.pipeline(transaction=True) as pipeline:
            pipeline.rpush(request.inbox, request.id.encode() + b"\n" + _stored(answer))
            pipeline.expire(request.inbox, WAIT_SECONDS)
            await pipeline.execute()

    async def strike(self, account_id: str) -> None:
        """Record that a still of the account blocked or killed a worker, if Redis is there."""
        place = f"stills:strikes:{account_id}"
        with suppress(ExchangeAway):
            async with _quick(), self._redis.pipeline(transaction=True) as pipeline:
                pipeline.incr(place)
                pipeline.expire(place, STRIKE_SECONDS)
                await pipeline.execute()

    async def barred_seconds(self, account_id: str) -> int:
        """Return the seconds until stills of the account are drawn again, or 0. Raises ExchangeAway."""
        place = f"stills:strikes:{account_id}"
        async with _quick():
            strikes = int(await self._redis.get(place) or 0)
            left = max(1, await self._redis.ttl(place)) if strikes >= STRIKES_MAX else 0
            if left > STRIKE_SECONDS:  # Redis stores the time of expiry, and its clock was set back
                await self._redis.delete(place)
                return 0
            return left

    async def cached(self, key: str) -> StillAnswer | None:
        """Return the cached answer, or None if there is none. Raises ExchangeAway."""
        async with _quick():
            found = cast("bytes | None", await self._redis.get(f"stills:cached:{key}"))
        return None if found is None else _answer(found)

    async def cache(self, key: str, answer: StillAnswer, seconds: int) -> None:
        """Cache an answer, if Redis is there."""
        with suppress(ExchangeAway):
            async with _quick():
                await self._redis.set(f"stills:cached:{key}", _stored(answer), ex=seconds)

    async def close(self) -> None:
        """Close the connections."""
        if self._receiving is not None:
            self._receiving.cancel()
            await asyncio.gather(self._receiving, return_exceptions=True)
        await self._redis.aclose()


@asynccontextmanager
async def _quick() -> AsyncIterator[None]:
    """Raise ExchangeAway if the commands of the block fail or take more than ANSWER_SECONDS."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            yield
    except (RedisError, OSError) as error:  # a timeout is an OSError
        raise ExchangeAway from error


def queued_still(subject: StillSubject, frames: Frames, format: StillFormat) -> QueuedStill:
    """Return a new request that expires after WAIT_SECONDS."""
    return QueuedStill(new_id("still"), time.monotonic() + WAIT_SECONDS, subject, frames, format)


def _left_key(still_id: str) -> str:
    return f"stills:left:{still_id}"


def _request(stored: dict[str, Any]) -> QueuedStill:
    frames = {**stored["frames"], "indices": tuple(stored["frames"]["indices"])}
    return QueuedStill(
        **{**stored, "subject": StillSubject(**stored["subject"]), "frames": Frames(**frames)},
    )


def _stored(answer: StillAnswer) -> bytes:
    head: bytes = orjson.dumps(asdict(replace(answer, picture=b"")) | {"picture": ""})
    return head + b"\n" + answer.picture


def _answer(data: bytes) -> StillAnswer:
    head, _, picture = data.partition(b"\n")
    fields = orjson.loads(head)
    return StillAnswer(**{**fields, "picture": picture, "warnings": tuple(fields["warnings"])})
