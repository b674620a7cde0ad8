"""Workers of a Ray cluster: start an actor in every slot, poll its progress, and release surplus actors."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ray.exceptions import OutOfMemoryError, RayActorError, RayError

from cluster.ray_cluster import RayCluster
from cluster.slots import Growth, Slot, kept_slots, slots_of
from cluster.worker.render_actor import ActorReport
from farm_core.settings import Settings
from farm_core.telemetry import logs
from scheduler.ports import Advanced, WorkerState
from scheduler.report_queue import ReportQueue

_log = logs.logger(__name__)

RECONCILE_SECONDS: Final = 1.0
POLL_SECONDS: Final = 0.25
IDLE_POLL_SECONDS: Final = 1.0
"""Poll interval of an actor without assignments of this scheduler. It is also the longest interval of any actor."""
POLLS_PER_SECOND: Final = 64
"""Total rate at which busy actors are polled. A poll costs the scheduler and the actor about 1 ms each."""
RETRY_SECONDS: Final = 5.0
START_SECONDS: Final = 120.0
FEW_CORES: Final = 4
FIRST_SECONDS: Final = 10.0
"""Time for which the other workers of a node with few cores wait for its first one. The farm is ready with one worker, and its
API and scheduler start at the same time."""
REQUEST_SECONDS: Final = 30.0
"""Interval at which a request to the autoscaler is repeated, because it is lost when Ray's head restarts."""
ANSWER_SECONDS: Final = 15.0
"""Timeout of one call to an actor or the cluster."""
ACTOR_ENDED: Final = (RayActorError, OutOfMemoryError)
"""Errors of calls to an actor that has ended. The second one if Ray ended it because the machine was short of memory."""


@dataclass(slots=True)
class RayWorker:
    """A ready actor, with the assignments that this scheduler has sent to it."""

    slot: Slot
    actor: Any
    state: WorkerState
    tokens: dict[str, int] = field(default_factory=dict)
    """Frames done by the token of each assignment, in order of submission."""
    active: str | None = None
    """Token of the assignment that was being drawn at the last poll. It may belong to another scheduler."""
    fatal: str | None = None
    """Token of the assignment that killed the actor, empty if this scheduler sent none. Other assignments are not to blame."""
    condemned: bool = False
    """True after this scheduler has killed the actor because it hung."""
    leaving: bool = False
    """True while the actor is surplus. It gets no assignments and ends when it is idle."""
    asked: float = 0.0
    """Time of the last poll, on the monotonic clock."""
    answered: bool = True
    """False while the last poll has no answer."""


class RayWorkers:
    """Keep an actor in every slot of the cluster. An autoscaled fleet fills only the slots that the queue needs.

    Progress goes to `reports`. `gone` is set when the cluster is dead.
    """

    def __init__(self, settings: Settings, cluster: RayCluster, reports: ReportQueue, gone: asyncio.Event) -> None:
        self._settings = settings
        self._cluster = cluster
        self._reports = reports
        self._gone = gone
        self._workers: dict[str, RayWorker] = {}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._start_turns: dict[str, asyncio.Semaphore] = {}
        """Limit of concurrent worker starts, by node."""
        self._first_starts: dict[str, asyncio.Task[None]] = {}
        """First start of a worker, by node."""
        self._loops: list[asyncio.Task[None]] = []
        self._polls: set[asyncio.Task[None]] = set()
        self._growth: Growth | None = None
        self._requested: tuple[float, int] | None = None
        """Time and size of the last request to the autoscaler."""

    def __iter__(self) -> Iterator[RayWorker]:
        return iter(self._workers.values())

    def get(self, worker_id: str) -> RayWorker | None:
        """Return the worker, or None if it has gone."""
        return self._workers.get(worker_id)

    def remove(self, worker: RayWorker) -> None:
        """Remove a worker whose actor has ended, unless a new actor has its slot already. The slot is filled again."""
        if self._workers.get(worker.state.id) is worker:
            del self._workers[worker.state.id]

    async def start(self) -> None:
        """Start the loops that fill the slots and poll the actors."""
        if self._settings.workers_max is not None:
            living = len(await self._cluster.actor_names())
            self._growth = Growth(self._settings, living, time.monotonic())
        await self._reconcile()
        self._loops = [asyncio.create_task(self._keep_reconciled()), asyncio.create_task(self._keep_polling())]

    async def close(self) -> None:
        """Stop polling and starting actors. Live actors stay."""
        running = [*self._loops, *self._starting.values(), *self._polls]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def workers_to_request(self, open_tasks: int) -> int | None:
        """Record the queue's length. Return the number of workers to request from the autoscaler if a request is due."""
        if self._growth is None:
            return None
        now = time.monotonic()
        self._growth.demand(open_tasks, now)
        target = self._growth.target_workers
        if self._requested is not None and self._requested[1] == target and now - self._requested[0] <= REQUEST_SECONDS:
            return None
        self._requested = now, target
        return target

    async def _keep_reconciled(self) -> None:
        while True:
            await asyncio.sleep(RECONCILE_SECONDS)
            try:
                await asyncio.wait_for(self._reconcile(), ANSWER_SECONDS)
            except (TimeoutError, RayError, ConnectionError, RuntimeError, ValueError) as error:
                _log.warning("cluster does not answer", error=type(error).__name__)
                if await self._cluster.is_gone():
                    self._gone.set()

    async def _reconcile(self) -> None:
        """Start missing actors and release surplus ones."""
        nodes = await self._cluster.nodes()
        slots = {slot.name: slot for slot in slots_of(nodes, self._settings)}
        kept = slots if self._growth is None else await self._slots_to_keep(slots, self._growth.target_workers)
        for name in set(self._workers) - set(slots):
            self._workers.pop(name).actor.leave.remote()
        nodes_present = {slot.node_id for slot in slots.values()}
        self._start_turns = {node: turns for node, turns in self._start_turns.items() if node in nodes_present}
        self._first_starts = {node: start for node, start in self._first_starts.items() if node in nodes_present}
        for slot in kept.values():
            self._begin_start(slot)
        for name, worker in list(self._workers.items()):
            worker.leaving = name not in kept
        leaving = [worker for worker in self._workers.values() if worker.leaving]
        await asyncio.gather(*(self._release_if_idle(worker) for worker in leaving))
        if not any(node["Alive"] for node in nodes):
            self._gone.set()

    async def _slots_to_keep(self, slots: dict[str, Slot], target_workers: int) -> dict[str, Slot]:
        """Return the slots of an autoscaled fleet that should have an actor.

        Connect to actors that ended schedulers have left, so that they can be released.
        """
        taken = await self._cluster.actor_names()
        for name in taken & set(slots):
            self._begin_start(slots[name])
        return {slot.name: slot for slot in kept_slots(list(slots.values()), target_workers, taken)}

    async def _release_if_idle(self, worker: RayWorker) -> None:
        """End a surplus actor unless it has assignments of any scheduler."""
        if worker.tokens:
            return
        with contextlib.suppress(TimeoutError, RayError):
            if await asyncio.wait_for(worker.actor.leave_if_idle.remote(), ANSWER_SECONDS):
                self._workers.pop(worker.state.id, None)
                _log.info("worker released", worker=worker.state.id)

    def _begin_start(self, slot: Slot) -> None:
        """Start the slot's actor unless it exists or is being started."""
        if slot.name not in self._workers and slot.name not in self._starting:
            start = self._starting[slot.name] = asyncio.create_task(self._start_worker(slot), name=slot.name)
            self._first_starts.setdefault(slot.node_id, start)

    async def _start_worker(self, slot: Slot) -> None:
        try:
            first = self._first_starts.get(slot.node_id)
            if slot.starts_max <= FEW_CORES and first not in (None, asyncio.current_task()):
                await asyncio.wait([first], timeout=FIRST_SECONDS)
            async with self._start_turns.setdefault(slot.node_id, asyncio.Semaphore(slot.starts_max)):
                actor = await self._cluster.actor(slot)
                report: ActorReport = await asyncio.wait_for(actor.describe.remote(), START_SECONDS)
            self._workers[slot.name] = RayWorker(slot, actor, _state(slot, report))
            _log.info("worker ready", worker=slot.name, device=report.device, encoder=report.encoder)
        except (TimeoutError, RayError, ValueError) as error:
            _log.warning("worker did not start", worker=slot.name, error=_reason(error))
            await asyncio.sleep(RETRY_SECONDS)
        finally:
            self._starting.pop(slot.name, None)

    async def _keep_polling(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            for worker in self._due(time.monotonic()):
                # A separate task: an actor that does not answer must not delay the others.
                poll = asyncio.create_task(self._poll(worker))
                self._polls.add(poll)
                poll.add_done_callback(self._polls.discard)

    def _due(self, now: float) -> list[RayWorker]:
        """Return the actors to poll now. Busy actors share POLLS_PER_SECOND; each is polled at least once a second."""
        workers = list(self._workers.values())
        at_work = sum(1 for worker in workers if worker.tokens)
        pause = min(IDLE_POLL_SECONDS, max(POLL_SECONDS, at_work / POLLS_PER_SECOND))
        free = [worker for worker in workers if worker.answered]
        due = [worker for worker in free if now - worker.asked >= (pause if worker.tokens else IDLE_POLL_SECONDS)]
        for worker in due:
            worker.asked, worker.answered = now, False
        return due

    async def _poll(self, worker: RayWorker) -> None:
        """Poll an actor's progress. Replace an idle actor that uses too much memory."""
        try:
            report: ActorReport = await asyncio.wait_for(worker.actor.report.remote(), ANSWER_SECONDS)
        except ACTOR_ENDED as error:
            if isinstance(error, OutOfMemoryError):
                _log.warning("worker ended: the machine is short of memory", worker=worker.state.id)
            self.remove(worker)
            return
        except (TimeoutError, RayError):
            return
        finally:
            worker.answered = True
        now = time.monotonic()
        worker.state = replace(
            worker.state, memory_bytes=report.memory_bytes, disk_free_bytes=report.disk_free_bytes,
            frames_done=report.frames_done, active=report.active, progressed_at=now - report.quiet_seconds, answered_at=now,
        )  # fmt: skip
        worker.active = report.active
        for token, frames in report.progress.items():
            if frames > worker.tokens.get(token, frames):
                worker.tokens[token] = frames
                self._reports.put(Advanced(token, frames))
        if report.memory_bytes > self._settings.worker_memory_bytes and not worker.tokens:
            _log.info("worker recycled", worker=worker.state.id, memory_bytes=report.memory_bytes)
            worker.actor.leave.remote()
            self._workers.pop(worker.state.id, None)


def _reason(error: Exception) -> str:
    """Return the cause of a failed start: the last line of Ray's error, which is only advice if memory was short."""
    if isinstance(error, OutOfMemoryError):
        return "the machine is short of memory"
    return str(error).strip().rsplit("\n", 1)[-1]


def _state(slot: Slot, report: ActorReport) -> WorkerState:
    return WorkerState(
        slot.name, slot.node_name, report.renderer, report.device, report.encoder, report.memory_bytes, report.frames_done,
        disk_free_bytes=report.disk_free_bytes, backend=report.backend, answered_at=time.monotonic(),
    )  # fmt: skip
