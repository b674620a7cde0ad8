"""Takes in what workers report, and writes what follows from it. A report whose lease is gone changes nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Generic, TypeVar

from farm_core.jobs import tasks, workers
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.judge import Fail, Failure, FailureKind
from farm_core.jobs.tasks import RenderedSegment
from farm_core.telemetry import logs
from scheduler import metrics
from scheduler.assembler import Assembled, Assembler
from scheduler.batch import together
from scheduler.flights import Flight, Flights
from scheduler.pace import Pace
from scheduler.parts import Parts
from scheduler.ports import Advanced, AssembleOrder, Ended, Finished, Order, Report, SegmentOrder
from scheduler.service import Service, in_a_line

_log = logs.logger(__name__)

CLAIM_SECONDS: Final = 0.03
"""Jobs that have ended make room for others of their accounts. A claim looks at the whole queue: it is worth a few of them."""

BLAMED = (FailureKind.crash, FailureKind.stall)

GivenOrder = TypeVar("GivenOrder", bound=Order)
Answer = TypeVar("Answer", bound=Finished | Ended)


@dataclass(frozen=True, slots=True)
class _Landing(Generic[GivenOrder, Answer]):
    """The end of a flight that was waited for."""

    flight: Flight
    order: GivenOrder
    report: Answer


@dataclass(frozen=True, slots=True)
class _Landings:
    """By their leases: of an order and its copy, the first result counts. Each failure counts."""

    rendered: dict[str, _Landing[SegmentOrder, Finished]] = field(default_factory=dict)
    assembled: dict[str, _Landing[AssembleOrder, Finished]] = field(default_factory=dict)
    ended: list[_Landing[Order, Ended]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rendered) + len(self.assembled) + len(self.ended)


class Collector(Service):
    """Waits for reports and settles them, those of one turn together."""

    every_seconds = 0.0
    wait_seconds = 0.5

    def __init__(self, parts: Parts, flights: Flights, pace: Pace, dispatcher: Service, claimer: Service) -> None:
        super().__init__()
        self.parts = parts
        self.flights = flights
        self.pace = pace
        self.dispatcher = dispatcher
        self.claimer = claimer
        self.assembler = Assembler(parts)
        self._unsettled: list[Report] = []

    async def turn(self) -> int:
        """Settles what has been reported; what could not be written, a store being away, is kept for the next turn."""
        self._unsettled += await self.parts.executor.reports(self.wait_seconds)
        landings = self._landings(self._unsettled)
        await self._settle(landings)
        self._unsettled = []
        if len(landings):
            self.dispatcher.wake()
        if landings.assembled or landings.ended:
            self.claimer.wake_within(CLAIM_SECONDS)
        return len(landings)

    def _landings(self, reports: Iterable[Report]) -> _Landings:
        """What is to be written. A report whose flight has landed was written before, or was another's."""
        landings = _Landings()
        for report in reports:
            match report, self.flights.get(report.token):
                case _, None:
                    continue
                case Advanced(), Flight() as flight:
                    flight.frames_done, flight.advanced = report.frames_done, time.monotonic()
                case Finished(), Flight(order=SegmentOrder() as order) as flight:
                    landings.rendered.setdefault(flight.lease, _Landing(flight, order, report))
                case Finished(), Flight(order=AssembleOrder() as assembly) as flight:
                    landings.assembled.setdefault(flight.lease, _Landing(flight, assembly, report))
                case Ended(), Flight() as flight:
                    landings.ended.append(_Landing(flight, flight.order, report))
        return landings

    async def _settle(self, landings: _Landings) -> None:
        """Writes each kind in its own way; raises where a store is away, when all have been tried."""
        outcomes = await asyncio.gather(
            together(self._rendered, list(landings.rendered.values())),
            together(self._assembled, list(landings.assembled.values())),
            self._each_ended(landings.ended),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            for landing, error in outcome:
                self._drop(landing, error)

    def _drop(self, landing: _Landing[Any, Any], error: Exception) -> None:
        """Not a store's absence: trying again would not help. The lease ends, and the task is tried anew."""
        _log.error("report dropped", job_id=landing.order.job_id, task=landing.order.task_id, error=in_a_line(error))
        self.flights.land(landing.report.token)

    async def _rendered(self, landings: Sequence[_Landing[SegmentOrder, Finished]]) -> None:
        """Accepts rendered segments."""
        now, segments = self.parts.clock.now(), [_segment(landing.flight, landing.report) for landing in landings]
        counted = await self.parts.database.single(lambda connection: tasks.finish_tasks(connection, now, segments))
        for landing in landings:
            order, report = landing.order, landing.report
            if landing.flight.lease not in counted:
                _log.info("result discarded", job_id=order.job_id, task=order.task_id)
            if not report.cached:
                size = order.picture.width, order.picture.height
                self.pace.learn(order.job_id, order.frame_count, *size, report.seconds)
            metrics.segment(report, order.frame_count)
            self._land_all(landing.flight)

    async def _assembled(self, landings: Sequence[_Landing[AssembleOrder, Finished]]) -> None:
        await self.assembler.settle([_assembled(one) for one in landings])
        for landing in landings:
            self.pace.forget(landing.order.job_id)
            self._land_all(landing.flight)

    async def _each_ended(
        self, landings: Sequence[_Landing[Order, Ended]]
    ) -> list[tuple[_Landing[Order, Ended], Exception]]:
        return [refused for landing in landings for refused in await together(self._ended, [landing])]

    async def _ended(self, landings: Sequence[_Landing[Order, Ended]]) -> None:
        for landing in landings:
            flight, failure = landing.flight, landing.report.failure
            twins = [other for other in self.flights.of_lease(flight.lease) if other is not flight]
            if twins and failure.kind is not FailureKind.document:
                await self._blamed(failure)
            else:
                await self._judged(flight, landing.report)
            self.flights.land(landing.report.token)
            if failure.kind is FailureKind.document:
                self._land_all(flight)

    async def _judged(self, flight: Flight, report: Ended) -> None:
        now, job_id = self.parts.clock.now(), flight.order.job_id
        metrics.FAILURES.labels(str(report.failure.kind)).inc()
        _log.info("attempt failed", job_id=job_id, task=flight.order.task_id, kind=str(report.failure.kind))
        async with self.parts.database.work() as session:
            verdict = await tasks.judge_task(session, now, flight.lease, report.failure)
            if report.missing:
                await workers.forget_segments(session, report.missing)
            if report.missing and verdict is not None:
                await tasks.lose_segments(session, now, job_id, report.missing)
            if verdict is not None and isinstance(verdict.verdict, Fail):
                await end_jobs(session, now, "fail", [Ending(job_id, error=verdict.verdict.public_message)])
        await self._blamed(report.failure)

    async def _blamed(self, failure: Failure) -> None:
        if failure.kind not in BLAMED or failure.worker is None:
            return
        async with self.parts.database.work() as session:
            until = await workers.blame_worker(session, self.parts.clock.now(), failure.worker)
        if until is not None:
            _log.warning("worker quarantined", worker=failure.worker, until=until.isoformat())

    def _land_all(self, flight: Flight) -> None:
        """The lease is settled: the order's copy, or the order whose copy was quicker, may stop."""
        for other in self.flights.of_lease(flight.lease):
            self.flights.land(other.order.token)
            if other is not flight:
                self.parts.executor.cancel(other.order.token)


def _assembled(landing: _Landing[AssembleOrder, Finished]) -> Assembled:
    assert landing.flight.job is not None, "an assembly is given out with its job"
    return Assembled(landing.order, landing.flight.job, landing.flight.lease, landing.report)


def _segment(flight: Flight, report: Finished) -> RenderedSegment:
    record = asdict(report)
    del record["token"], record["key"], record["segments_sha256"]
    return RenderedSegment(flight.lease, report.key, report.bytes, report.worker, record)
