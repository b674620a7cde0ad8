"""The scheduler's executor on Ray. Schedulers share named, long-lived actors with a warm renderer.

`ray_cluster.py` calls Ray, `ray_workers.py` manages the actors, and this module sends assignments to them. None of them has
durable state: when the cluster dies, `gone` is set and the process restarts. Postgres stores the running tasks.
"""

from __future__ import annotations

import cluster.quick_ray  # noqa: F401  # isort: skip
import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from ray.exceptions import ActorUnavailableError, RayError

from cluster.ray_cluster import RayCluster
from cluster.ray_workers import ACTOR_ENDED, RayWorker, RayWorkers
from farm_core.jobs.judge import Failure, FailureKind, stall
from farm_core.settings import Settings
from farm_core.telemetry import logs
from scheduler.ports import (
    DrawnStill,
    Ended,
    Report,
    SegmentAssignment,
    StillAssignment,
    TaskAssignment,
    WorkerState,
    about,
)
from scheduler.report_queue import ReportQueue

_log = logs.logger(__name__)


class RayExecutor:
    """Executor that submits assignments to the actors of a Ray cluster."""

    def __init__(self, settings: Settings, address: str) -> None:
        self.gone = asyncio.Event()
        self._settings = settings
        self._reports = ReportQueue()
        self._cluster = RayCluster(settings, address)
        self._workers = RayWorkers(settings, self._cluster, self._reports, self.gone)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Join the cluster and start to fill its slots. Raises ConnectionError if it does not answer."""
        await self._cluster.join()
        await self._workers.start()

    def workers(self) -> Sequence[WorkerState]:
        """Return the actors that are ready."""
        return [worker.state for worker in self._workers if not (worker.condemned or worker.leaving)]

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Send the assignment to the actor. `reports` returns its report when it ends."""
        worker = self._workers.get(worker_id)
        if worker is None:
            self._reports.put(Ended(assignment.token, _lost(worker_id)))
            return
        worker.tokens[assignment.token] = 0
        self._spawn(self._execute(assignment, worker))

    async def still(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        """Draw a still on the actor. A dead actor gives a failure of kind `lost`. Set `worker_ends` if no scheduler killed it."""
        worker, ended = self._workers.get(worker_id), False
        try:
            if worker is not None:
                drawn: DrawnStill = await worker.actor.still.options(name="still").remote(assignment)
                if drawn.worker_ends:
                    worker.fatal = ""
                return drawn
        except RayError as error:
            _log.info("still lost", still=assignment.id, error=type(error).__name__)
            ended = not _was_killed(error)
        return DrawnStill(failure=_lost(worker_id), worker_ends=ended)

    async def reports(self, wait_seconds: float) -> list[Report]:
        """Return the reports since the last call."""
        return await self._reports.take(wait_seconds)

    def cancel(self, token: str) -> None:
        """Ask the assignment's actor to stop it at the next frame."""
        for worker in self._workers:
            if token in worker.tokens:
                worker.actor.cancel.remote(token)

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Kill the actor. A new actor takes its slot."""
        worker = self._workers.get(worker_id)
        if worker is not None:
            worker.condemned = True
            worker.fatal = "" if is_blameless else worker.fatal
            self._spawn(self._cluster.kill(worker.actor))

    def demand(self, open_tasks: int) -> None:
        """Request the workers that the queue needs from the autoscaler. Surplus workers end once they are idle."""
        count = self._workers.workers_to_request(open_tasks)
        if count is not None:
            self._spawn(self._cluster.request_workers(count))

    async def close(self) -> None:
        """Leave the cluster. Actors stay for other schedulers until the cluster ends."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, self._workers.close(), return_exceptions=True)
        await self._cluster.leave()

    async def _execute(self, assignment: TaskAssignment, worker: RayWorker) -> None:
        try:
            report: Report = await worker.actor.execute.options(name=_title(assignment)).remote(assignment)
        except ACTOR_ENDED as error:
            report = Ended(assignment.token, await self._failure(worker, assignment.token, error))
        except RayError as error:
            _log.warning("assignment lost", **about(assignment), error=type(error).__name__)
            report = Ended(assignment.token, _lost(worker.state.id))
        worker.tokens.pop(assignment.token, None)
        if isinstance(report, Ended) and report.worker_ends:
            worker.fatal = ""
        if worker.active == assignment.token:
            worker.active = None
        self._reports.put(report)

    async def _failure(self, worker: RayWorker, token: str, error: RayError) -> Failure:
        """Return the failure of an assignment whose worker died: crash or stall if the assignment is to blame, otherwise lost."""
        if worker.fatal is None:
            worker.fatal = _culprit(worker)
        self._workers.remove(worker)
        worker_id = worker.state.id
        if worker.fatal != token:
            return _lost(worker_id)
        if worker.condemned:
            return stall(worker_id, self._settings.frame_seconds_max)
        if _was_killed(error) or isinstance(error, ActorUnavailableError):
            return _lost(worker_id)
        if not await self._cluster.has_node(worker.slot.node_id):
            return _lost(worker_id)
        _log.warning("worker died", worker=worker_id, error=str(error).split("\n", 1)[0])
        return Failure(FailureKind.crash, "The worker died.", worker_id)

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _lost(worker_id: str) -> Failure:
    return Failure(FailureKind.lost, "The worker is gone.", worker_id)


def _was_killed(error: RayError) -> bool:
    """Return True if a scheduler killed the actor. If another scheduler did, no assignment of this one is to blame."""
    return "ray.kill" in str(error)


def _culprit(worker: RayWorker) -> str:
    """Return the token of the assignment that probably killed the worker: the active one, otherwise the oldest.

    Return an empty string if the active assignment is a still or belongs to another scheduler.
    """
    if worker.active is None or worker.active in worker.tokens:
        return worker.active or next(iter(worker.tokens))
    return ""


def _title(assignment: TaskAssignment) -> str:
    """Return the assignment's title for Ray's dashboard."""
    if isinstance(assignment, SegmentAssignment):
        last = assignment.first_frame + assignment.frame_count - 1
        return f"{assignment.job_id} frames {assignment.first_frame}-{last}"
    return f"{assignment.job_id} assembly"
