"""One scheduler: all its services, started and stopped in order. Any number of them may run on one database."""

from __future__ import annotations

import asyncio

from farm_core.jobs import tasks
from farm_core.telemetry import logs
from scheduler.claimer import Claimer, ClaimKeeper
from scheduler.collector import Collector
from scheduler.deliverer import Deliverer
from scheduler.dispatcher import Dispatcher
from scheduler.flights import Flights
from scheduler.listener import Listener
from scheduler.maintenance.rescuer import Rescuer, Roll
from scheduler.maintenance.retention import ResultReaper, ScratchReaper, SegmentReaper, UploadReaper
from scheduler.pace import Pace
from scheduler.parts import Parts
from scheduler.service import Service
from scheduler.watch import FlightKeeper, ProgressTeller

_log = logs.logger(__name__)

DRAIN_SECONDS = 20.0


class Scheduler:
    """Decides what runs where and when, and remembers nothing that Postgres does not."""

    def __init__(self, parts: Parts, database_url: str) -> None:
        self.parts = parts
        self.flights = Flights()
        pace = Pace()
        self.dispatcher = Dispatcher(parts, self.flights)
        self.claimer = Claimer(parts)
        self.collector = Collector(parts, self.flights, pace, self.dispatcher, self.claimer)
        self.flight_keeper = FlightKeeper(parts, self.flights, pace)
        self.deliverer = Deliverer(parts)
        self.roll = Roll(parts, self.dispatcher)
        self.rescuer = Rescuer(parts, self.dispatcher)
        self.takers: tuple[Service, ...] = (self.claimer, self.dispatcher)
        self.keepers: tuple[Service, ...] = (
            self.collector, self.flight_keeper, ClaimKeeper(parts, self.claimer), ProgressTeller(parts, self.flights),
            self.deliverer, self.roll, self.rescuer, UploadReaper(parts), SegmentReaper(parts), ResultReaper(parts),
            ScratchReaper(parts),
        )  # fmt: skip
        self.listener = Listener(
            database_url,
            {
                "jobs": (self.claimer,),
                "tasks": (self.dispatcher,),
                "withdrawn": (self.flight_keeper, self.dispatcher),
                "deliveries": (self.deliverer,),
            },
        )

    async def start(self) -> None:
        """Makes the workers ready and starts every service."""
        await self.parts.executor.start()
        for service in (*self.keepers, *self.takers):
            service.start()
        self.listener.start()

    async def stop(self) -> None:
        """Drains: takes on nothing more, lets what is in flight end for a bounded time, hands the rest back."""
        await self.listener.stop()
        await asyncio.gather(*(service.stop() for service in self.takers))
        await self._drained()
        await asyncio.gather(*(service.stop() for service in self.keepers))
        await self._hand_back()
        await self.parts.executor.close()
        await self.parts.database.close()

    async def _drained(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + DRAIN_SECONDS
        while len(self.flights) and loop.time() < deadline:
            self.collector.turned.clear()
            try:
                await asyncio.wait_for(self.collector.turned.wait(), deadline - loop.time())
            except TimeoutError:
                break

    async def _hand_back(self) -> None:
        """Tasks that are still out wait again at once instead of when their leases end."""
        for flight in self.flights:
            self.parts.executor.cancel(flight.order.token)
        if len(self.flights):
            async with self.parts.database.work() as session:
                await tasks.hand_back_tasks(session, sorted(self.flights.leases()))
