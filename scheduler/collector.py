"""Process the reports of workers. Ignore a report whose lease is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from farm_core.jobs import notices, tasks, workers
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.events import write_event
from farm_core.jobs.judge import WAITING, Fail, Failure, FailureKind
from farm_core.jobs.status import JobStatus
from farm_core.jobs.tasks import RenderedSegment
from farm_core.progress.changes import changed
from farm_core.telemetry import logs
from farm_core.telemetry.logs import in_a_line
from motion.notices import of_lines
from scheduler import metrics
from scheduler.duration_estimator import DurationEstimator
from scheduler.group_commit import write_together
from scheduler.isolation import learning, rules
from scheduler.isolation.isolation import Isolation
from scheduler.job_completion import Assembled, complete_jobs
from scheduler.ports import (
    Advanced,
    AssemblyAssignment,
    Ended,
    Finished,
    Report,
    SegmentAssignment,
    TaskAssignment,
    about,
)
from scheduler.running_tasks import RunningTask
from scheduler.service import Service

_log = logs.logger(__name__)

CLAIM_SECONDS: Final = 0.03
"""Delay of the next claim after a job ends. A claim scans the whole queue, so one claim serves several ended jobs."""

AssignmentT = TypeVar("AssignmentT", bound=TaskAssignment)
ReportT = TypeVar("ReportT", bound=Finished | Ended)


@dataclass(frozen=True, slots=True)
class _TaskEnd(Generic[AssignmentT, ReportT]):
    """A running task and the report that ends it."""

    running_task: RunningTask
    assignment: AssignmentT
    report: ReportT


@dataclass(frozen=True, slots=True)
class _TaskEnds:
    """Reports of one tick. Results are stored by lease: the first result of an assignment or its copy counts. All
    failures count."""

    rendered: dict[str, _TaskEnd[SegmentAssignment, Finished]] = field(default_factory=dict)
    assembled: dict[str, _TaskEnd[AssemblyAssignment, Finished]] = field(default_factory=dict)
    ended: list[_TaskEnd[TaskAssignment, Ended]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rendered) + len(self.assembled) + len(self.ended)


class Collector(Service):
    """Wait for the reports of workers, and write those of one tick together."""

    every_seconds = 0.0
    wait_seconds = 0.5

    def __init__(
        self,
        isolation: Isolation,
        estimator: DurationEstimator,
        dispatcher: Service,
        claimer: Service,
    ) -> None:
        super().__init__(isolation.dependencies)
        self.isolation = isolation
        self.running_tasks = isolation.running_tasks
        self.estimator = estimator
        self.dispatcher = dispatcher
        self.claimer = claimer
        self._unwritten: list[Report] = []
        self._storage_lines = logs.OnceAMinute()

    async def tick(self) -> int:
        """Write the reports that have arrived. Keep them for the next tick if a store is away. Return the number of
        ended tasks."""
        self._unwritten += await self.dependencies.executor.reports(self.wait_seconds)
        ends = self._read_reports(self._unwritten)
        await self._complete(ends)
        self._unwritten = []
        if len(ends):
            self.dispatcher.wake()
        if ends.assembled or ends.ended:
            self.claimer.wake_within(CLAIM_SECONDS)
        return len(ends)

    def _read_reports(self, reports: Iterable[Report]) -> _TaskEnds:
        """Record progress, and return the ends of tasks. Skip tasks that are already complete: an earlier tick or
        another scheduler wrote them."""
        ends = _TaskEnds()
        for report in reports:
            match report, self.running_tasks.get(report.token):
                case _, None:
                    continue
                case Advanced(), RunningTask() as running_task:
                    running_task.frames_done = report.frames_done
                    running_task.advanced = self.dependencies.clock.monotonic()
                case Finished(), RunningTask(assignment=SegmentAssignment() as assignment) as running_task:
                    ends.rendered.setdefault(running_task.lease, _TaskEnd(running_task, assignment, report))
                case Finished(), RunningTask(assignment=AssemblyAssignment() as assembly) as running_task:
                    ends.assembled.setdefault(running_task.lease, _TaskEnd(running_task, assembly, report))
                case Ended(), RunningTask() as running_task:
                    ends.ended.append(_TaskEnd(running_task, running_task.assignment, report))
        return ends

    async def _complete(self, ends: _TaskEnds) -> None:
        """Write all kinds of reports. If a store is away, raise its error only after trying every kind."""
        outcomes = await asyncio.gather(
            write_together(self._finish_segments, list(ends.rendered.values())),
            write_together(self._complete_jobs, list(ends.assembled.values())),
            self._handle_failures(ends.ended),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            for end, error in outcome:
                self._drop(end, error)

    def _drop(self, end: _TaskEnd[Any, Any], error: Exception) -> None:
        """Drop a report that cannot be written although the stores answer.

        The task's lease expires, and the task is tried again.
        """
        _log.error("report dropped", **about(end.assignment), error=in_a_line(error))
        self.running_tasks.complete(end.report.token)

    async def _finish_segments(self, ends: Sequence[_TaskEnd[SegmentAssignment, Finished]]) -> None:
        """Record rendered segments as done."""
        now = self.dependencies.clock.now()
        segments = [_segment(end.running_task, end.report) for end in ends]
        counted = await self.dependencies.database.single(
            lambda connection: tasks.finish_tasks(connection, now, segments)
        )
        for end in ends:
            assignment, report = end.assignment, end.report
            if end.running_task.lease not in counted:
                _log.info("result discarded", **about(assignment))
            if not report.cached:
                self.estimator.learn(assignment.job_id, assignment.frame_count, report.seconds)
                monotonic, account_id = self.dependencies.clock.monotonic(), assignment.account_id
                self.isolation.evidence = learning.with_segment(self.isolation.evidence, monotonic, account_id)
            metrics.segment(report, assignment.frame_count)
            self._complete_lease(end.running_task)

    async def _complete_jobs(self, ends: Sequence[_TaskEnd[AssemblyAssignment, Finished]]) -> None:
        await complete_jobs(self.dependencies, [_assembled(end) for end in ends])
        for end in ends:
            self.estimator.forget(end.assignment.job_id)
            self._complete_lease(end.running_task)

    async def _handle_failures(
        self, ends: Sequence[_TaskEnd[TaskAssignment, Ended]]
    ) -> list[tuple[_TaskEnd[TaskAssignment, Ended], Exception]]:
        """Handle failed tasks one by one, each in its own transaction."""
        return [refused for end in ends for refused in await write_together(self._handle_failure, [end])]

    async def _handle_failure(self, ends: Sequence[_TaskEnd[TaskAssignment, Ended]]) -> None:
        """Judge a failed task. If a copy of it still runs, only count the failure against the worker."""
        (end,) = ends
        running_task, failure = end.running_task, end.report.failure
        copies = [other for other in self.running_tasks.of_lease(running_task.lease) if other is not running_task]
        if copies and failure.kind is not FailureKind.document:
            await self._blame(failure, running_task)
        else:
            await self._judge(running_task, end.report)
        self.running_tasks.complete(end.report.token)
        if failure.kind is FailureKind.document:
            self._complete_lease(running_task)

    async def _judge(self, running_task: RunningTask, report: Ended) -> None:
        now, job_id = self.dependencies.clock.now(), running_task.assignment.job_id
        metrics.FAILURES.labels(str(report.failure.kind)).inc()
        if report.failure.kind not in WAITING or self._storage_lines.is_due():
            _log.info("attempt failed", **about(running_task.assignment), kind=str(report.failure.kind))
        percent = await self.dependencies.progress.percent(job_id)
        async with self.dependencies.database.work() as session:
            verdict = await tasks.judge_task(session, now, running_task.lease, report.failure)
            if report.missing:
                await workers.forget_segments(session, report.missing)
            if report.missing and verdict is not None:
                await tasks.lose_segments(session, now, job_id, report.missing)
            if isinstance(verdict, Fail):
                ending = Ending(job_id, error=verdict.public_message, percent=percent)
                ended = await end_jobs(session, now, "fail", [ending])
                change = changed(job_id, running_task.assignment.account_id, JobStatus.failed, percent)
                self.dependencies.changes.publish_after_commit(session, [change for _ in ended])
            if report.worker_ends and report.failure.kind in (FailureKind.document, FailureKind.space):
                # The assignment took too much memory: this is the job's fault, and a strike against its account
                # (`CircuitBreaker`).
                detail = {"kind": str(FailureKind.crash), "worker": running_task.worker_id}
                await write_event(session, now, job_id, "restart worker", detail)
        await self._blame(report.failure, running_task)

    async def _blame(self, failure: Failure, running_task: RunningTask) -> None:
        evidence, monotonic = self.isolation.evidence, self.dependencies.clock.monotonic()
        account_id = running_task.assignment.account_id
        if failure.worker is None or not rules.counts_against_worker(evidence, monotonic, failure.kind, account_id):
            return
        async with self.dependencies.database.work() as session:
            now = self.dependencies.clock.now()
            until = await workers.blame_worker(session, now, failure.worker, account_id)
        if until is not None:
            _log.warning("worker quarantined", worker=failure.worker, until=until.isoformat())

    def _complete_lease(self, running_task: RunningTask) -> None:
        """Remove all running tasks of a lease, and stop the slower one of an assignment and its copy."""
        for other in self.running_tasks.of_lease(running_task.lease):
            self.running_tasks.complete(other.assignment.token)
            if other is not running_task:
                self.dependencies.executor.cancel(other.assignment.token)


def _assembled(end: _TaskEnd[AssemblyAssignment, Finished]) -> Assembled:
    return Assembled(end.assignment, end.running_task.webhook_origin, end.running_task.lease, end.report)


def _segment(running_task: RunningTask, report: Finished) -> RenderedSegment:
    record = {
        "worker": report.worker, "bytes": report.bytes, "seconds": report.seconds, "sha256": report.sha256,
        "cached": report.cached, "stages_ms": report.stages_ms, "warnings": notices.records(of_lines(report.warnings)),
    }  # fmt: skip
    return RenderedSegment(running_task.lease, report.key, report.bytes, report.worker, record)
