"""The scheduler's executor on Ray: named, long-lived actors with a warm renderer, any number of schedulers on the same ones.

`ray_cluster.py` makes Ray's own calls, `ray_workers.py` keeps the actors, and this module carries assignments to them. They hold
no state that must last: when the cluster is gone, `gone` is set, and the process starts again; Postgres knows what was running.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from ray.exceptions import ActorUnavailableError, RayActorError, RayError

from cluster.ray_cluster import RayCluster
from cluster.ray_workers import RayWorker, RayWorkers
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
        """Send the assignment to the actor. Its report comes when it ends."""
        worker = self._workers.get(worker_id)
        if worker is None:
            self._reports.put(Ended(assignment.token, _lost(worker_id)))
            return
        worker.tokens[assignment.token] = 0
        self._spawn(self._execute(assignment, worker))

    async def still(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        """Draw a still at the actor. A lost actor is a failure of kind `lost`; it has ended by itself if no scheduler has killed it."""
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
        """Ask the actor that has the assignment to stop at its next frame."""
        for worker in self._workers:
            if token in worker.tokens:
                worker.actor.cancel.remote(token)

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Kill the actor; its slot is filled again."""
        worker = self._workers.get(worker_id)
        if worker is not None:
            worker.condemned = True
            worker.fatal = "" if is_blameless else worker.fatal
            self._spawn(self._cluster.kill(worker.actor))

    def demand(self, open_tasks: int) -> None:
        """Ask the cluster's autoscaler for as many workers as the queue needs. Surplus workers leave once they are idle."""
        count = self._workers.workers_to_request(open_tasks)
        if count is not None:
            self._spawn(self._cluster.request_workers(count))

    async def close(self) -> None:
        """Leave the cluster; the actors stay for other schedulers, and end with the cluster."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, self._workers.close(), return_exceptions=True)
        await self._cluster.leave()

    async def _execute(self, assignment: TaskAssignment, worker: RayWorker) -> None:
        try:
            report: Report = await worker.actor.execute.options(name=_title(assignment)).remote(assignment)
        except RayActorError as error:
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

    async def _failure(self, worker: RayWorker, token: str, error: RayActorError) -> Failure:
        """Return why an assignment ended with its worker: it killed or hung it, it waited there, or the machine or cluster is gone."""
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
    """Return True if a scheduler has killed the actor. If it was another one, that one knows why, and nothing of this one's is to blame."""
    return "ray.kill" in str(error)


def _culprit(worker: RayWorker) -> str:
    """Return the token of the assignment that a worker died of: the active one, else the oldest.

    Empty if it is another scheduler's, or a still.
    """
    if worker.active is None or worker.active in worker.tokens:
        return worker.active or next(iter(worker.tokens))
    return ""


def _title(assignment: TaskAssignment) -> str:
    """Return the assignment's name in Ray's dashboard."""
    if isinstance(assignment, SegmentAssignment):
        last = assignment.first_frame + assignment.frame_count - 1
        return f"{assignment.job_id} frames {assignment.first_frame}-{last}"
    return f"{assignment.job_id} assembly"
