"""Takes in what workers report, and writes what follows from it. A report whose lease is gone changes nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy.exc import SQLAlchemyError

from farm_core.jobs import tasks, workers
from farm_core.jobs.judge import Fail, Failure, FailureKind
from farm_core.jobs.repository import transition
from farm_core.jobs.tasks import TaskResult
from farm_core.storage.port import StorageUnavailable
from farm_core.telemetry import logs
from scheduler import metrics
from scheduler.assembler import Assembler
from scheduler.dispatcher import Dispatcher
from scheduler.flights import Flight, Flights
from scheduler.pace import Pace
from scheduler.parts import Parts
from scheduler.ports import Advanced, AssembleOrder, Ended, Finished, Report, SegmentOrder
from scheduler.service import Service, in_a_line

_log = logs.logger(__name__)

BLAMED = (FailureKind.crash, FailureKind.stall)


class Collector(Service):
    """Waits for reports and settles them."""

    every_seconds = 0.0
    wait_seconds = 0.5

    def __init__(self, parts: Parts, flights: Flights, pace: Pace, dispatcher: Dispatcher) -> None:
        super().__init__()
        self.parts = parts
        self.flights = flights
        self.pace = pace
        self.dispatcher = dispatcher
        self.assembler = Assembler(parts)
        self._unsettled: list[Report] = []

    async def turn(self) -> int:
        """Settles what has been reported; what could not be written is kept for the next turn, within reason."""
        self._unsettled += await self.parts.executor.reports(self.wait_seconds)
        settled = len(self._unsettled)
        if not settled:
            return 0
        try:
            await self._settle(self._unsettled)
        except (SQLAlchemyError, OSError, StorageUnavailable):
            raise
        except Exception as error:
            # Not a store's absence: trying again would not help. The leases end, and the tasks are tried anew.
            _log.error("reports dropped", error=in_a_line(error), reports=settled)
            self._drop()
        self._unsettled = []
        self.dispatcher.wake()
        return settled

    def _drop(self) -> None:
        for report in self._unsettled:
            if not isinstance(report, Advanced):
                self.flights.land(report.token)

    async def _settle(self, reports: Sequence[Report]) -> None:
        """Writes each kind in its own way. A report whose flight has landed was written before, or was another's."""
        segments: dict[str, tuple[Flight, SegmentOrder, Finished]] = {}
        assemblies: dict[str, tuple[Flight, AssembleOrder, Finished]] = {}
        for report in reports:
            flight = self.flights.get(report.token)
            match report, flight:
                case _, None:
                    continue
                case Advanced(), Flight():
                    flight.frames_done, flight.advanced = report.frames_done, time.monotonic()
                case Finished(), Flight(order=SegmentOrder() as order):
                    segments.setdefault(flight.lease, (flight, order, report))
                case Finished(), Flight(order=AssembleOrder() as assembly):
                    assemblies[flight.lease] = (flight, assembly, report)
                case Ended(), Flight():
                    await self._ended(flight, report)
        if segments:
            await self._rendered(list(segments.values()))
        await asyncio.gather(*(self._assembled(*entry) for entry in assemblies.values()))

    async def _rendered(self, entries: Sequence[tuple[Flight, SegmentOrder, Finished]]) -> None:
        """Accepts rendered segments, all in one transaction."""
        results = [TaskResult(flight.lease, report.key, _record(report)) for flight, _, report in entries]
        async with self.parts.database.connection() as connection:
            now = self.parts.clock.now()
            counted = await tasks.finish_tasks(connection, now, results)
            await workers.use_segments(connection, now, {report.key: report.bytes for _, _, report in entries})
            await workers.praise_workers(connection, {report.worker for _, _, report in entries})
        for flight, order, report in entries:
            if flight.lease not in counted:
                _log.info("result discarded", job_id=order.job_id, task=order.task_id)
            if not report.cached:
                size = order.picture.width, order.picture.height
                self.pace.learn(order.job_id, order.frame_count, *size, report.seconds)
            metrics.segment(report, order.frame_count)
            self._land_all(flight)

    async def _assembled(self, flight: Flight, order: AssembleOrder, report: Finished) -> None:
        await self.assembler.settle(order, flight.lease, report)
        self.pace.forget(order.job_id)
        self._land_all(flight)

    async def _ended(self, flight: Flight, report: Ended) -> None:
        twins = [other for other in self.flights.of_lease(flight.lease) if other is not flight]
        if twins and report.failure.kind is not FailureKind.document:
            await self._blamed(report.failure)
        else:
            await self._judged(flight, report)
        self.flights.land(report.token)
        if report.failure.kind is FailureKind.document:
            self._land_all(flight)

    async def _judged(self, flight: Flight, report: Ended) -> None:
        now, job_id = self.parts.clock.now(), flight.order.job_id
        metrics.FAILURES.labels(str(report.failure.kind)).inc()
        _log.info("attempt failed", job_id=job_id, task=flight.order.task_id, kind=str(report.failure.kind))
        async with self.parts.database.work() as session:
            if report.missing:
                await tasks.lose_segments(session, now, job_id, report.missing)
                await workers.forget_segments(session, report.missing)
            verdict = await tasks.judge_task(session, now, flight.lease, report.failure)
            if verdict is not None and isinstance(verdict.verdict, Fail):
                await transition(session, job_id, "fail", error=verdict.verdict.public_message)
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


def _record(report: Finished) -> dict[str, object]:
    record = asdict(report)
    del record["token"], record["key"], record["segments_sha256"]
    return record


class FlightKeeper(Service):
    """Renews leases, stops what is no longer ours, kills what hangs, copies what straggles, tells how far jobs are."""

    every_seconds = tasks.LEASE_SECONDS / 5

    def __init__(self, parts: Parts, flights: Flights, pace: Pace) -> None:
        super().__init__()
        self.parts = parts
        self.flights = flights
        self.pace = pace

    async def turn(self) -> int:
        """One round over everything in flight."""
        await self._renew()
        for flight in self.flights:
            if isinstance(flight.order, SegmentOrder):
                self._watch(flight, flight.order)
        return 0

    async def _renew(self) -> None:
        leases = self.flights.leases()
        if not leases:
            return
        async with self.parts.database.connection() as session:
            held = await tasks.renew_tasks(session, self.parts.clock.now(), sorted(leases))
        for flight in self.flights:
            if flight.lease in leases - held:
                self.flights.land(flight.order.token)
                self.parts.executor.cancel(flight.order.token)

    def _watch(self, flight: Flight, order: SegmentOrder) -> None:
        now = time.monotonic()
        size = order.picture.width, order.picture.height
        if self.pace.stalled(order.job_id, *size, now - flight.advanced) and self._is_first_at_worker(flight):
            _log.warning("worker hangs", worker=flight.worker_id, job_id=order.job_id)
            flight.advanced = now
            self.parts.executor.restart(flight.worker_id)
        elif not self._has_copy(flight) and self.pace.straggles(order.job_id, order.frame_count, now - flight.started):
            self._copy(flight, order)

    def _is_first_at_worker(self, flight: Flight) -> bool:
        """An order that waits behind another shows no frames, and is not to blame."""
        return all(o.started >= flight.started for o in self.flights if o.worker_id == flight.worker_id)

    def _has_copy(self, flight: Flight) -> bool:
        return len(self.flights.of_lease(flight.lease)) > 1

    def _copy(self, flight: Flight, order: SegmentOrder) -> None:
        """Gives the order to an idle worker of the same renderer as well; the first result counts."""
        busy = {other.worker_id for other in self.flights}
        living = {worker.id: worker for worker in self.parts.executor.workers()}
        if flight.worker_id not in living:
            return
        renderer = living[flight.worker_id].renderer
        idle = sorted(name for name, worker in living.items() if name not in busy and worker.renderer == renderer)
        if idle:
            now = time.monotonic()
            copy = SegmentOrder(
                order.task_id, f"{order.token}.copy", order.job_id, order.document_key, order.media, order.picture,
                order.first_frame, order.frame_count,
            )  # fmt: skip
            _log.info("straggler copied", job_id=order.job_id, task=order.task_id, worker=idle[0])
            self.flights.add(Flight(copy, flight.lease, idle[0], now, now))
            self.parts.executor.submit(copy, idle[0])


class ProgressTeller(Service):
    """Writes how far jobs are, a few times a second, in one statement for all of them."""

    every_seconds = 0.4

    def __init__(self, parts: Parts, flights: Flights) -> None:
        super().__init__()
        self.parts = parts
        self.flights = flights
        self._told: dict[str, int] = {}

    async def turn(self) -> int:
        """Writes what has changed since the last turn."""
        frames = self.flights.frames_by_job()
        news = {job_id: count for job_id, count in sorted(frames.items()) if self._told.get(job_id) != count}
        self._told = frames
        if news:
            async with self.parts.database.connection() as session:
                await tasks.advance_jobs(session, news)
        return 0
