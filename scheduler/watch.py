"""Watches over what is in flight: that its leases hold, that it moves, and how far it is."""

from __future__ import annotations

import time

from farm_core.jobs import tasks
from farm_core.telemetry import logs
from scheduler.flights import Flight, Flights
from scheduler.pace import Pace
from scheduler.parts import Parts
from scheduler.ports import SegmentOrder
from scheduler.service import Service

_log = logs.logger(__name__)


class FlightKeeper(Service):
    """Renews leases, stops what is no longer ours, kills what hangs, copies what straggles."""

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
