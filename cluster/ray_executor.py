"""The scheduler's executor on Ray: named, long-lived actors with a warm renderer, any number of schedulers on the same ones.

This module and `render_actor.py` are the only ones that use Ray. They hold no state that must last: when the cluster is gone,
`gone` is set, and the process starts again; Postgres knows what was running.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Final

import ray
from ray.exceptions import RayActorError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cluster.liveness import Liveness, wait_until_reachable
from cluster.render_actor import ActorReport, RenderActor
from cluster.slots import Growth, Slot, kept_slots, slots_of
from farm_core.jobs.judge import Failure, FailureKind, stall
from farm_core.settings import Settings
from farm_core.telemetry import logs
from scheduler.ports import (
    Advanced,
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

NAMESPACE: Final = "farm"
CONNECT_SECONDS: Final = 20.0
RECONCILE_SECONDS: Final = 1.0
POLL_SECONDS: Final = 0.25
IDLE_POLL_SECONDS: Final = 1.0
"""Time between two polls of an actor that holds no assignment of this scheduler, and the longest time between two of any."""
POLLS_PER_SECOND: Final = 64
"""Polls of actors at work. Each costs the scheduler and the actor about 1 ms of processor time."""
RETRY_SECONDS: Final = 5.0
START_SECONDS: Final = 120.0
ASK_SECONDS: Final = 30.0
"""Time after which a request to the autoscaler is repeated: it forgets requests when the head restarts."""
ANSWER_SECONDS: Final = 15.0
"""Time that an actor or the cluster has for one answer."""
QUESTION_THREADS: Final = 8
"""Threads for Ray's blocking calls: more than can wait for a busy cluster before it is given up."""
START_THREADS: Final = 8


@dataclass(slots=True)
class _Worker:
    """An actor that is ready, and the assignments of this scheduler that it holds."""

    slot: Slot
    actor: Any
    state: WorkerState
    tokens: dict[str, int] = field(default_factory=dict)
    """Frames shown by each assignment, in the order in which they were given."""
    active: str | None = None
    """The assignment whose frame was being drawn when the actor was last asked, perhaps another scheduler's."""
    fatal: str | None = None
    """Token of the assignment that killed it. Those that waited behind it are lost without fault."""
    condemned: bool = False
    """True once this scheduler has killed it because it hung."""
    leaving: bool = False
    """True while the queue is too short for it: it gets no more assignments, and ends when it is idle."""
    asked: float = 0.0
    """When the actor was last asked how far it is."""


class RayExecutor:
    """Executor that keeps an actor in every slot of the cluster and submits assignments to them."""

    def __init__(self, settings: Settings, address: str) -> None:
        self.gone = asyncio.Event()
        self._settings = settings
        self._address = address
        self._workers: dict[str, _Worker] = {}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._start_turns: dict[str, asyncio.Semaphore] = {}
        """By node: bounds the workers that start at a time."""
        self._reports = ReportQueue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._growth: Growth | None = None
        self._asked_for: tuple[float, int] | None = None
        self._liveness = Liveness(address)
        # Separate threads: slow starts must not delay the questions that show whether the cluster lives.
        self._questions = ThreadPoolExecutor(QUESTION_THREADS, "ray-question")
        self._starts = ThreadPoolExecutor(START_THREADS, "worker-start")

    async def start(self) -> None:
        """Join the cluster and start to fill its slots. Raises ConnectionError if it does not answer."""
        await wait_until_reachable(self._address, CONNECT_SECONDS)
        await asyncio.wait_for(self._ask(_join, self._address), CONNECT_SECONDS)
        if self._settings.workers_max is not None:
            self._growth = Growth(self._settings, len(await self._ask(_named)), time.monotonic())
        await self._reconcile()
        self._spawn(self._keep_reconciled())
        self._spawn(self._keep_polling())

    def workers(self) -> Sequence[WorkerState]:
        """Return the actors that are ready."""
        return [worker.state for worker in self._workers.values() if not (worker.condemned or worker.leaving)]

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Send the assignment to the actor. Its report comes when it ends."""
        worker = self._workers.get(worker_id)
        if worker is None:
            self._reports.put(Ended(assignment.token, Failure(FailureKind.lost, "The worker is gone.", worker_id)))
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
        return DrawnStill(failure=Failure(FailureKind.lost, "The worker is gone.", worker_id), worker_ends=ended)

    async def reports(self, wait_seconds: float) -> list[Report]:
        """Return the reports since the last call."""
        return await self._reports.take(wait_seconds)

    def cancel(self, token: str) -> None:
        """Ask the actor that has the assignment to stop at its next frame."""
        for worker in self._workers.values():
            if token in worker.tokens:
                worker.actor.cancel.remote(token)

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Kill the actor; its slot is filled again."""
        worker = self._workers.get(worker_id)
        if worker is not None:
            worker.condemned = True
            worker.fatal = "" if is_blameless else worker.fatal
            self._spawn(self._ask(ray.kill, worker.actor))

    def demand(self, open_tasks: int) -> None:
        """Ask the cluster's autoscaler for as many workers as the queue needs. Surplus workers leave once they are idle."""
        if self._growth is None:
            return
        now = time.monotonic()
        self._growth.demand(open_tasks, now)
        target = self._growth.target_workers
        if self._asked_for is None or self._asked_for[1] != target or now - self._asked_for[0] > ASK_SECONDS:
            self._asked_for = now, target
            self._spawn(self._ask(_ask_for, target, self._settings))

    async def close(self) -> None:
        """Leave the cluster; the actors stay for other schedulers, and end with the cluster."""
        self._closing = True
        for task in (*self._tasks, *self._starting.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._starting.values(), return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ask(ray.shutdown), 5)
        for pool in (self._questions, self._starts):
            pool.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------------------------------------------- assignments

    async def _execute(self, assignment: TaskAssignment, worker: _Worker) -> None:
        try:
            report: Report = await worker.actor.execute.options(name=_title(assignment)).remote(assignment)
        except RayActorError as error:
            report = Ended(assignment.token, await self._failure(worker, assignment.token, error))
        except RayError as error:
            _log.warning("assignment lost", **about(assignment), error=type(error).__name__)
            report = Ended(assignment.token, Failure(FailureKind.lost, "The worker is gone.", worker.state.id))
        worker.tokens.pop(assignment.token, None)
        if isinstance(report, Ended) and report.worker_ends:
            worker.fatal = ""
        if worker.active == assignment.token:
            worker.active = None
        self._reports.put(report)

    async def _failure(self, worker: _Worker, token: str, error: RayActorError) -> Failure:
        """Return why an assignment ended with its worker: it killed or hung it, it waited there, or the machine or cluster is gone."""
        if worker.fatal is None:
            worker.fatal = _culprit(worker)
        if self._workers.get(worker.state.id) is worker:
            del self._workers[worker.state.id]
        name = worker.state.id
        if worker.fatal != token:
            return Failure(FailureKind.lost, "The worker is gone.", name)
        if worker.condemned:
            return stall(name, self._settings.frame_seconds_max)
        if _was_killed(error):
            return Failure(FailureKind.lost, "The worker is gone.", name)
        if isinstance(error, ray.exceptions.ActorUnavailableError) or not await self._lives(worker.slot.node_id):
            return Failure(FailureKind.lost, "The worker is gone.", name)
        _log.warning("worker died", worker=name, error=str(error).split("\n", 1)[0])
        return Failure(FailureKind.crash, "The worker died.", name)

    async def _lives(self, node_id: str) -> bool:
        try:
            nodes = await asyncio.wait_for(self._ask(ray.nodes), 5)
        except (TimeoutError, RayError, ConnectionError):
            return False
        return any(node["NodeID"] == node_id and node["Alive"] for node in nodes)

    # ------------------------------------------------------------------------------------------------- workers

    async def _keep_reconciled(self) -> None:
        while not self._closing:
            await asyncio.sleep(RECONCILE_SECONDS)
            try:
                await asyncio.wait_for(self._reconcile(), ANSWER_SECONDS)
            except (TimeoutError, RayError, ConnectionError, RuntimeError, ValueError) as error:
                _log.warning("cluster does not answer", error=type(error).__name__)
                if await self._liveness.is_gone():
                    self.gone.set()

    async def _reconcile(self) -> None:
        """Compare the slots that should have an actor with those that have, start what is missing, and let surplus actors go."""
        nodes = await self._ask(ray.nodes)
        self._liveness.heard()
        slots = {slot.name: slot for slot in slots_of(nodes, self._settings)}
        kept = slots if self._growth is None else await self._slots_to_keep(slots, self._growth.target_workers)
        for name in set(self._workers) - set(slots):
            self._workers.pop(name).actor.leave.remote()
        for name, slot in kept.items():
            if name not in self._workers and name not in self._starting:
                self._starting[name] = asyncio.create_task(self._start_worker(slot), name=name)
        for name, worker in list(self._workers.items()):
            worker.leaving = name not in kept
        await asyncio.gather(
            *(self._release_if_idle(worker) for worker in list(self._workers.values()) if worker.leaving)
        )
        if not any(node["Alive"] for node in nodes):
            self.gone.set()

    async def _slots_to_keep(self, slots: dict[str, Slot], target_workers: int) -> dict[str, Slot]:
        """Return the slots that should have an actor in a fleet that follows the queue. Join actors of ended schedulers, so that they can leave."""
        taken = set(await self._ask(_named))
        for name in taken & set(slots):
            if name not in self._workers and name not in self._starting:
                self._starting[name] = asyncio.create_task(self._start_worker(slots[name]), name=name)
        return {slot.name: slot for slot in kept_slots(list(slots.values()), target_workers, taken)}

    async def _release_if_idle(self, worker: _Worker) -> None:
        """End a surplus actor unless it holds assignments of any scheduler."""
        if worker.tokens:
            return
        with contextlib.suppress(TimeoutError, RayError):
            if await asyncio.wait_for(worker.actor.leave_if_idle.remote(), ANSWER_SECONDS):
                self._workers.pop(worker.state.id, None)
                _log.info("worker released", worker=worker.state.id)

    async def _start_worker(self, slot: Slot) -> None:
        try:
            async with self._start_turns.setdefault(slot.node_id, asyncio.Semaphore(slot.starts_max)):
                loop = asyncio.get_running_loop()
                actor = await loop.run_in_executor(self._starts, _actor, slot, self._settings)
                report: ActorReport = await asyncio.wait_for(actor.describe.remote(), START_SECONDS)
            self._workers[slot.name] = _Worker(slot, actor, _state(slot, report))
            _log.info("worker ready", worker=slot.name, device=report.device, encoder=report.encoder)
        except (TimeoutError, RayError, ValueError) as error:
            _log.warning("worker did not start", worker=slot.name, error=str(error).strip().rsplit("\n", 1)[-1])
            await asyncio.sleep(RETRY_SECONDS)
        finally:
            self._starting.pop(slot.name, None)

    async def _keep_polling(self) -> None:
        while not self._closing:
            await asyncio.sleep(POLL_SECONDS)
            await asyncio.gather(*(self._poll(worker) for worker in self._due(time.monotonic())))

    def _due(self, now: float) -> list[_Worker]:
        """Return the actors to ask now. The more actors work, the less often each is asked: at least once a second, like idle ones."""
        workers = list(self._workers.values())
        at_work = sum(1 for worker in workers if worker.tokens)
        pause = min(IDLE_POLL_SECONDS, max(POLL_SECONDS, at_work / POLLS_PER_SECOND))
        due = [worker for worker in workers if now - worker.asked >= (pause if worker.tokens else IDLE_POLL_SECONDS)]
        for worker in due:
            worker.asked = now
        return due

    async def _poll(self, worker: _Worker) -> None:
        """Ask an actor for its progress. Replace an idle actor that uses too much memory."""
        try:
            report: ActorReport = await asyncio.wait_for(worker.actor.report.remote(), ANSWER_SECONDS)
        except RayActorError:
            self._workers.pop(worker.state.id, None)
            return
        except (TimeoutError, RayError):
            return
        moved = time.monotonic() - report.quiet_seconds
        worker.state = replace(
            worker.state,
            memory_bytes=report.memory_bytes,
            frames_done=report.frames_done,
            active=report.active,
            moved=moved,
            heard=time.monotonic(),
        )
        worker.active = report.active
        for token, frames in report.progress.items():
            if frames > worker.tokens.get(token, frames):
                worker.tokens[token] = frames
                self._reports.put(Advanced(token, frames))
        if report.memory_bytes > self._settings.worker_memory_bytes and not worker.tokens:
            _log.info("worker recycled", worker=worker.state.id, memory_bytes=report.memory_bytes)
            worker.actor.leave.remote()
            self._workers.pop(worker.state.id, None)

    async def _ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Call Ray, which blocks, on a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._questions, question, *arguments)

    def _spawn(self, coroutine: Any) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _join(address: str) -> None:
    ray.init(
        address=address, namespace=NAMESPACE, logging_level="ERROR", log_to_driver=False, configure_logging=False,
    )  # fmt: skip


def _named() -> list[str]:
    """Return the names of all live actors, whichever scheduler started them."""
    return [str(name) for name in ray.util.list_named_actors()]


def _ask_for(workers: int, settings: Settings) -> None:
    from ray.autoscaler.sdk import request_resources  # noqa: PLC0415 - slow, and most farms are of one size

    share = 1 / settings.workers_per_gpu
    request_resources(bundles=[{"CPU": 1} if settings.gl_software else {"GPU": share}] * workers)


def _actor(slot: Slot, settings: Settings) -> Any:
    """Return the slot's actor: the one that has its name, or a new one. It outlives this scheduler."""
    options: dict[str, Any] = {"num_gpus": slot.gpus} if slot.gpus else {"num_cpus": slot.cpus}
    kind: Any = RenderActor
    handle = kind.options(
        name=slot.name, namespace=NAMESPACE, get_if_exists=True, lifetime="detached", max_restarts=0, max_task_retries=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(slot.node_id, soft=False), **options,
    )  # fmt: skip
    return handle.remote(slot.name, settings, slot.raster_threads)


def _was_killed(error: RayError) -> bool:
    """Return True if a scheduler has killed the actor. If it was another one, that one knows why, and nothing of this one's is to blame."""
    return "ray.kill" in str(error)


def _culprit(worker: _Worker) -> str:
    """Return the token of the assignment that a worker died of: the active one, else the oldest.

    Empty if it is another scheduler's, or a still.
    """
    if worker.active is None or worker.active in worker.tokens:
        return worker.active or next(iter(worker.tokens))
    return ""


def _title(assignment: TaskAssignment) -> str:
    """Return the assignment's name in Ray's dashboard."""
    if isinstance(assignment, SegmentAssignment):
        return (
            f"{assignment.job_id} frames {assignment.first_frame}-{assignment.first_frame + assignment.frame_count - 1}"
        )
    return f"{assignment.job_id} assembly"


def _state(slot: Slot, report: ActorReport) -> WorkerState:
    return WorkerState(
        slot.name, slot.node_name, report.renderer, report.device, report.encoder, report.memory_bytes, report.frames_done,
        backend=report.backend, heard=time.monotonic(),
    )  # fmt: skip
