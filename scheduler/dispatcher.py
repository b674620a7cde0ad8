"""Leases waiting tasks to free workers and gives out their orders."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from sqlalchemy import RowMapping

from farm_core.ids import new_id
from farm_core.jobs import tasks, workers
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.tasks import Lease
from scheduler.assignment import FreeWorker, OpenJob, OpenTask, assign
from scheduler.flights import Flight, Flights
from scheduler.parts import Parts
from scheduler.ports import AssembleOrder, Order, Picture, SegmentOrder, WorkerState
from scheduler.service import Service

DEPTH: Final = 2
"""Orders that a worker may hold: the next one lies there already when one is done. Bounds what is in flight."""


class Dispatcher(Service):
    """Fills free workers, fairest first."""

    every_seconds = 1.0

    def __init__(self, parts: Parts, flights: Flights) -> None:
        super().__init__()
        self.parts = parts
        self.flights = flights

    async def turn(self) -> int:
        """One round of assignments: everything that can go out now."""
        living = {worker.id: worker for worker in self.parts.executor.workers()}
        if not living:
            return 0
        orders = await self._leased(living)
        for order, worker_id in orders:
            now = time.monotonic()
            self.flights.add(Flight(order, order.token, worker_id, now, now))
            self.parts.executor.submit(order, worker_id)
        return 0

    async def _leased(self, living: dict[str, WorkerState]) -> list[tuple[Order, str]]:
        now = self.parts.clock.now()
        async with self.parts.database.connection() as session:
            loads = await workers.usable_workers(session, now, list(living))
            copies = self.flights.copies_by_worker()
            free = [
                FreeWorker(name, living[name].renderer, DEPTH - load - copies[name], load + copies[name])
                for name, load in loads.items()
            ]
            room = sum(max(0, worker.room) for worker in free)
            if room == 0:
                return []
            open_jobs = jobs_of(await tasks.open_work(session, now, room))
            made = assign(open_jobs, free, now)
            if not made:
                return []
            leases = [Lease(a.task_id, a.job_id, new_id("lease"), a.worker_id, a.renderer) for a in made]
            rows = await tasks.lease_tasks(session, now, leases)
            return [(await self._order(session, row), row["worker"]) for row in rows]

    async def _order(self, session: Any, row: RowMapping) -> Order:
        picture = Picture(
            row["width"], row["height"], row["fps"], row["job_frame_count"], row["composition_id"], row["duration_seconds"]
        )  # fmt: skip
        if TaskKind(row["kind"]) is TaskKind.assemble:
            keys = await tasks.segment_keys(session, row["job_id"])
            video_key = f"results/{row['plan_key'] or row['job_id']}.mp4"
            return AssembleOrder(row["task_id"], row["lease_token"], row["job_id"], keys, picture, video_key)
        return SegmentOrder(
            row["task_id"], row["lease_token"], row["job_id"], row["document_key"], row["media"] or {}, picture,
            row["first_frame"], row["frame_count"],
        )  # fmt: skip


def jobs_of(rows: Sequence[RowMapping]) -> list[OpenJob]:
    """The rows of `open_work`, a job's tasks together."""
    return [_job(list(group)) for _, group in groupby(rows, key=lambda row: row["id"])]


def _job(rows: list[RowMapping]) -> OpenJob:
    first = rows[0]
    return OpenJob(
        first["id"], first["account_id"], first["fps"], first["created_at"], first["renderer"],
        first["leased_frames"], first["open_frames"], tuple(_heads(rows)),
    )  # fmt: skip


def _heads(rows: Iterable[RowMapping]) -> Iterable[OpenTask]:
    for row in rows:
        yield OpenTask(row["task_id"], TaskKind(row["kind"]), row["frame_count"], row["avoid_worker"])
