"""Take requests for stills from Redis, prepare their documents, and have a worker draw them before its segments."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

import orjson

from farm_core.accounts import repository as accounts
from farm_core.accounts.plans import limits_of
from farm_core.errors import QuotaExceeded
from farm_core.jobs.claims import ClaimedJob
from farm_core.jobs.judge import FailureKind
from farm_core.lru_dict import LruDict
from farm_core.stills.exchange import TOO_MANY, ExchangeAway, QueuedStill, StillAnswer, StillExchange
from farm_core.stills.subject import StillSubject
from farm_core.storage.port import StorageUnavailable
from farm_core.telemetry import logs
from farm_core.telemetry.logs import in_a_line
from farm_core.usage.stored import check_storage_quota
from scheduler import metrics
from scheduler.freezer import Freezer
from scheduler.ingest import IngestFailed, ingest
from scheduler.isolation import rules
from scheduler.isolation.isolation import Isolation
from scheduler.isolation.state import Trust
from scheduler.media_gate import ACCOUNT_PREPARATIONS_MAX
from scheduler.ports import StillAssignment, VideoFormat
from scheduler.service import Service
from scheduler.still_drawing import TOO_SLOW, NoWorker, StillDrawing
from scheduler.still_turns import StillTurns, WaitingStill

_log = logs.logger(__name__)

AT_ONCE_MAX: Final = 16
"""Maximum number of requests that this scheduler prepares and draws at once."""
WORKER_STILLS_MAX: Final = 4
"""Maximum number of stills at one worker: its actor accepts no more."""
PREPARATION_SECONDS: Final = 1.0
"""Time from which a preparation holds no place: it waits for a media server."""
FETCHING_MAX: Final = 256
"""Maximum number of preparations without a place: each has open files."""
PREPARED_MAX: Final = 256
PREPARED_SECONDS: Final = 120.0
"""Time for which fetched media are reused, so that a person who edits a text does not wait for another fetch."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A frozen document and its media, valid until a time of the monotonic clock."""

    document_key: str
    media: Mapping[str, str]
    until: float


class StillService(Service):
    """Prepare and draw up to `AT_ONCE_MAX` requests at once.

    Media that take longer than `PREPARATION_SECONDS` to arrive hold no place: their request waits beside the others, and is queued again.
    """

    every_seconds = 0.2

    def __init__(self, isolation: Isolation) -> None:
        super().__init__(isolation.dependencies)
        self._freezer = Freezer(isolation.dependencies)
        self._turns = StillTurns()
        self._drawing = StillDrawing(isolation)
        self._serving: set[asyncio.Task[None]] = set()
        self._preparing: set[asyncio.Task[_Prepared]] = set()
        self._fetching = Counter[str]()
        """Number of preparations that wait for media, by account."""
        self._prepared: LruDict[str, _Prepared] = LruDict(PREPARED_MAX)

    async def tick(self) -> int:
        """Take the next request; wait at most a second for it. Return 1, so that the next tick follows at once.

        Requests that wait for their account's turn are moved out of Redis, where they would block other accounts.
        """
        exchange = self.dependencies.stills
        if exchange is None:
            return 0
        if not self.dependencies.executor.workers():
            return 0
        self._begin(exchange)
        request = await exchange.next_request()
        if request is not None and (left := self._turns.add(WaitingStill(request))) is not None:
            await self._hand_over(exchange, left.request, StillAnswer(failure=TOO_MANY, is_limit=True))
        self._begin(exchange)
        return 1

    def _begin(self, exchange: StillExchange) -> None:
        """Start as many requests as there is room for. `scheduler/isolation/rules.py` says how many of them an account can have."""
        workers = len(self.dependencies.executor.workers())
        room = min(AT_ONCE_MAX, WORKER_STILLS_MAX * workers)
        at_once = partial(self._at_once, workers, max(1, room // 2))
        while not self._stopping and len(self._serving) < room:
            still = self._turns.begin(time.monotonic(), at_once)
            if still is None:
                return
            task = asyncio.create_task(self._serve(exchange, still), name=still.request.id)
            self._serving.add(task)
            task.add_done_callback(partial(self._end, exchange, still))

    def _at_once(self, workers: int, half_of_room: int, account_id: str) -> int:
        """Return how many stills of the account can be in progress now."""
        if self._fetching[account_id] >= ACCOUNT_PREPARATIONS_MAX:
            return 0
        trusted, under_way = self._drawing.trust(account_id), Counter[Trust]()
        for other, count in self._turns.under_way.items():
            under_way[self._drawing.trust(other)] += count
        if trusted is not Trust.quick and under_way[Trust.slow] + under_way[Trust.unknown] >= half_of_room:
            return 0  # they wait for a part of the workers
        if trusted is Trust.slow and under_way[Trust.slow] >= rules.slow_stills_at_once(workers):
            return 0
        return min(half_of_room, rules.stills_at_once(trusted, workers))

    def _end(self, exchange: StillExchange, still: WaitingStill, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        self._turns.end(still)
        self._begin(exchange)

    async def stop(self) -> None:
        """Stop taking requests, and cancel those in progress."""
        await super().stop()
        tasks = [*self._serving, *self._preparing]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._freezer.drain()

    async def _serve(self, exchange: StillExchange, still: WaitingStill) -> None:
        request, began = still.request, time.perf_counter()
        if still.preparing is None:
            if await self._has_left(exchange, request):
                return
            still.preparing = asyncio.create_task(self._prepare(request))
            self._preparing.add(still.preparing)
            still.preparing.add_done_callback(self._preparing.discard)
            done, _ = await asyncio.wait({still.preparing}, timeout=PREPARATION_SECONDS)
            if not done and self._fetching.total() < FETCHING_MAX:
                self._fetching[still.account_id] += 1
                still.preparing.add_done_callback(partial(self._fetched, exchange, still))
                return
        answer = await self._answer(exchange, request, still.preparing)
        metrics.still(answer.failure is None, time.perf_counter() - began)
        await self._hand_over(exchange, request, answer)

    def _fetched(self, exchange: StillExchange, still: WaitingStill, preparing: asyncio.Task[_Prepared]) -> None:
        """Queue a request again whose media took long."""
        self._fetching[still.account_id] -= 1
        if not self._fetching[still.account_id]:
            del self._fetching[still.account_id]
        if not preparing.cancelled():
            preparing.exception()  # retrieved here, because the caller may have left
            self._turns.add_first(still)
            self._begin(exchange)

    async def _has_left(self, exchange: StillExchange, request: QueuedStill) -> bool:
        """Return True if the caller has closed its connection, or has been refused."""
        try:
            return await exchange.has_left(request)
        except ExchangeAway:
            return False

    async def _hand_over(self, exchange: StillExchange, request: QueuedStill, answer: StillAnswer) -> None:
        try:
            await exchange.answer(request, answer)
        except ExchangeAway as error:
            _log.warning("still not delivered", still=request.id, error=in_a_line(error))

    async def _answer(
        self, exchange: StillExchange, request: QueuedStill, preparing: asyncio.Task[_Prepared]
    ) -> StillAnswer:
        try:
            drawn = await self._drawing.draw(_assignment(request, await preparing))
        except IngestFailed as failure:
            return StillAnswer(failure=str(failure), lasting=True)
        except NoWorker:
            return StillAnswer(failure="No render worker is there right now. Try again.")
        except StorageUnavailable:
            return StillAnswer(failure="Storage could not be reached.")
        except Exception as error:
            # Outer boundary of a request: the caller gets an error, and can ask again.
            _log.warning("still failed", still=request.id, error=in_a_line(error))
            return StillAnswer(failure="The still could not be drawn.")
        if drawn.failure is None:
            return StillAnswer(drawn.picture, warnings=drawn.warnings)
        if drawn.failure is TOO_SLOW or drawn.worker_ends:
            await exchange.strike(request.subject.account_id)  # if a worker died, it is the second one
        return StillAnswer(failure=drawn.failure.public_message, lasting=drawn.failure.kind is FailureKind.document)

    async def _check_storage_quota(self, account_id: str) -> None:
        """Raise IngestFailed if the account's storage is full."""
        async with self.dependencies.database.reading() as session:
            account = await accounts.account(session, account_id)
            try:
                await check_storage_quota(
                    session, account_id, limits_of(account).max_storage_bytes if account else None
                )
            except QuotaExceeded as full:
                raise IngestFailed(str(full)) from None

    async def _prepare(self, request: QueuedStill) -> _Prepared:
        """Return the document with inputs applied. Raises IngestFailed and the errors of ingest."""
        subject, now = request.subject, time.monotonic()
        if subject.frozen:
            return _Prepared(subject.document_key, subject.media, now)
        key = hashlib.sha256(orjson.dumps(asdict(subject), option=orjson.OPT_SORT_KEYS)).hexdigest()
        known = self._prepared.get(key)
        if known is None or known.until < now:
            await self._check_storage_quota(subject.account_id)
            frozen = await ingest(self.dependencies, self._freezer, _as_job(request.id, subject))
            known = _Prepared(frozen.document_key, frozen.media, time.monotonic() + PREPARED_SECONDS)
            self._prepared[key] = known
        return known


def _as_job(still_id: str, subject: StillSubject) -> ClaimedJob:
    """Return the still in the form of a claimed job, which ingest needs. No such job exists."""
    return ClaimedJob(
        id=still_id, lease_token="", attempt=1, failures=0, account_id=subject.account_id, origin=subject.origin, inputs=subject.inputs,
        width=0, height=0, fps=subject.fps, frame_count=subject.frame_count, document_key=None, media={}, template_id="",
        template_document_key=subject.document_key, template_inputs=subject.template_inputs,
        template_targets=subject.template_targets, composition_id=subject.composition_id,
        duration_seconds=subject.duration_seconds, format="mp4", transparent=False, has_sound=False, request_id=None,
        traceparent=None, stored_bytes=0, storage_limit=None,
    )  # fmt: skip


def _assignment(request: QueuedStill, prepared: _Prepared) -> StillAssignment:
    subject, frames = request.subject, request.frames
    video_format = VideoFormat(
        width=frames.width, height=frames.height, fps=subject.fps, frame_count=subject.frame_count,
        composition_id=subject.composition_id, duration_seconds=subject.duration_seconds,
        still_scale=frames.width / max(1, round(subject.width)),
    )  # fmt: skip
    return StillAssignment(
        id=request.id, account_id=subject.account_id, document_key=prepared.document_key, media=prepared.media,
        video_format=video_format, frames=frames.indices, columns=frames.columns, format=request.format,
        seconds_max=request.deadline - time.monotonic(),
    )  # fmt: skip
