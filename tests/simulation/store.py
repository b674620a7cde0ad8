"""Tables of jobs and tasks in memory, with the guards of `queries.sql`: a write counts only while its token is valid."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import islice

from farm_core.jobs.judge import Fail, Failure, Retry, judge
from farm_core.jobs.plan import TaskKind, plan
from farm_core.jobs.status import JOB_EDGES, JOB_TERMINAL, TASK_EDGES, JobStatus, TaskStatus, writes_with
from scheduler.placement import PlaceableJob, PlaceableTask, Placement

LEASE_SECONDS = 15.0
FPS = 30.0


@dataclass(slots=True)
class SimTask:
    """A row of the tasks table."""

    id: str
    job: SimJob
    kind: TaskKind
    frame_count: int
    status: TaskStatus = TaskStatus.pending
    failures: int = 0
    token: str | None = None
    lease_until: float = 0.0
    not_before: float = 0.0
    head: PlaceableTask = field(init=False)
    """The waiting task in the form that placement uses."""

    def __post_init__(self) -> None:
        self.avoid(None)

    def avoid(self, worker: str | None) -> None:
        """Let another worker take the task, if one can."""
        self.head = PlaceableTask(self.id, self.kind, self.frame_count, worker)

    def move(self, event: str) -> None:
        """Follow an edge of the state table, or fail the simulation."""
        self.status = TASK_EDGES[self.status, event]


@dataclass(slots=True)
class SimJob:
    """A row of the jobs table, with the writes that it caused."""

    id: str
    account: str
    created: float
    seconds: float
    poison: bool = False
    status: JobStatus = JobStatus.queued
    renderer: str | None = None
    tasks: list[SimTask] = field(default_factory=list)
    waiting: deque[SimTask] = field(default_factory=deque)
    leased_frames: int = 0
    open_frames: int = 0
    first_lease: float | None = None
    ended: float | None = None
    written: Counter[str] = field(default_factory=Counter)

    @property
    def is_active(self) -> bool:
        """Return True while the job's minutes are reserved."""
        return self.status not in JOB_TERMINAL


class SimStore:
    """Postgres as schedulers see it."""

    def __init__(self) -> None:
        self.active = 0
        self.jobs: dict[str, SimJob] = {}
        self.queued: deque[SimJob] = deque()
        self.processing: dict[str, SimJob] = {}
        self.leases: dict[str, SimTask] = {}

    def create(self, job: SimJob) -> None:
        """Create a job."""
        self.jobs[job.id] = job
        self.queued.append(job)
        self.active += 1

    def claim(self, jobs_max: int) -> int:
        """Claim and plan jobs."""
        claimed = 0
        while self.queued and claimed < jobs_max:
            job = self.queued.popleft()
            if job.status is not JobStatus.queued:
                continue
            self._move(job, "claim")
            frames = max(1, round(job.seconds * FPS))
            for planned in plan(frames, FPS, 1280, 720):
                task = SimTask(f"{job.id}.{planned.index}", job, planned.kind, planned.frame_count)
                job.tasks.append(task)
                if planned.kind is TaskKind.render:
                    job.open_frames += planned.frame_count
                    job.waiting.append(task)
            self.processing[job.id] = job
            claimed += 1
        return claimed

    def open_work(self, now: float, heads_max: int) -> list[PlaceableJob]:
        """Return the rows of the query of that name."""
        found = []
        for job in self.processing.values():
            heads = self._heads(job, now, heads_max)
            if heads:
                place = job.created + (job.open_frames / FPS if job.open_frames else -1e6)
                found.append(PlaceableJob(job.id, job.account, place, job.renderer, job.leased_frames, tuple(heads)))
        return found

    def _heads(self, job: SimJob, now: float, heads_max: int) -> list[PlaceableTask]:
        if job.open_frames == 0:
            task = job.tasks[-1]
            return [task.head] if task.status is TaskStatus.pending and task.not_before <= now else []
        return list(islice((task.head for task in job.waiting if task.not_before <= now), heads_max))

    def lease(self, assignment: Placement, token: str, now: float) -> SimTask | None:
        """Lease the task if it still waits and its job's renderer matches; return it."""
        job = self.jobs[assignment.job_id]
        task = job.tasks[int(assignment.task_id.rpartition(".")[2])]
        if job.status is not JobStatus.processing or task.status is not TaskStatus.pending:
            return None
        if job.renderer not in (None, assignment.renderer):
            return None
        job.renderer = assignment.renderer
        job.first_lease = now if job.first_lease is None else job.first_lease
        task.move("lease")
        task.token, task.lease_until = token, now + LEASE_SECONDS
        self.leases[token] = task
        job.leased_frames += task.frame_count
        if task.kind is TaskKind.render:
            job.waiting.remove(task)
        return task

    def renew(self, tokens: list[str], now: float) -> set[str]:
        """Return the leases that are still valid."""
        held = {token for token in tokens if token in self.leases}
        for token in held:
            self.leases[token].lease_until = now + LEASE_SECONDS
        return held

    def finish(self, token: str, now: float) -> bool:
        """Accept a result once."""
        task = self._unleased(token)
        if task is None:
            return False
        task.move("finish")
        if task.kind is TaskKind.render:
            task.job.open_frames -= task.frame_count
        else:
            self._end(task.job, "complete", now)
        return True

    def fail(self, token: str, failure: Failure, now: float) -> bool:
        """Judge a failed attempt."""
        task = self._unleased(token)
        if task is None:
            return False
        match judge(task.failures, failure):
            case Fail():
                task.move("fail")
                self._end(task.job, "fail", now)
            case Retry(after_seconds=after, avoid_worker=avoid, failures=failures):
                task.failures, task.not_before = failures, now + after
                task.avoid(avoid)
                self._retry(task)
        return True

    def rescue(self, now: float) -> int:
        """Free tasks whose lease expired."""
        expired = [token for token, task in self.leases.items() if task.lease_until < now]
        for token in expired:
            task = self._unleased(token)
            assert task is not None, "it was listed"
            self._retry(task)
        return len(expired)

    def cancel(self, job: SimJob, now: float) -> bool:
        """Cancel a job that has not ended."""
        if not job.is_active:
            return False
        self._end(job, "cancel", now)
        return True

    def _unleased(self, token: str) -> SimTask | None:
        task = self.leases.pop(token, None)
        if task is not None:
            task.token = None
            task.job.leased_frames -= task.frame_count
        return task

    def _retry(self, task: SimTask) -> None:
        task.move("retry")
        if task.kind is TaskKind.render:
            task.job.waiting.appendleft(task)

    def _end(self, job: SimJob, event: str, now: float) -> None:
        self._move(job, event)
        self.active -= 1
        job.ended = now
        self.processing.pop(job.id, None)
        for task in job.tasks:
            if task.status in (TaskStatus.pending, TaskStatus.leased):
                if task.token is not None:
                    self._unleased(task.token)
                task.move("withdraw")
        job.waiting.clear()

    def _move(self, job: SimJob, event: str) -> None:
        after = JOB_EDGES.get((job.status, event))
        assert after is not None, f"{job.id} cannot {event} when {job.status}"
        job.status = after
        job.written.update(writes_with(after))
