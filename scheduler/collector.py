"""Process the reports of workers. A report whose lease is gone changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from farm_core.jobs import notices, tasks, workers
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.judge import Fail, Failure, FailureKind
from farm_core.jobs.status import JobStatus
from farm_core.jobs.tasks import RenderedSegment
from farm_core.progress.changes import changed
from farm_core.telemetry import logs
from motion.notices import of_lines
from scheduler import metrics
from scheduler.batch import together
from scheduler.dependencies import Dependencies
from scheduler.duration_estimator import DurationEstimator
from scheduler.job_completion import Assembled, JobCompleter
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
from scheduler.running_tasks import RunningTask, RunningTasks
from scheduler.service import Service, in_a_line

_log = logs.logger(__name__)

CLAIM_SECONDS: Final = 0.03
"""Jobs that have ended make room for others of their accounts. A claim looks at the whole queue: it is worth a few of them."""

BLAMED = (FailureKind.crash, FailureKind.stall)

GivenOrder = TypeVar("GivenOrder", bound=TaskAssignment)
Answer = TypeVar("Answer", bound=Finished | Ended)


@dataclass(frozen=True, slots=True)
class _Landing(Generic[GivenOrder, Answer]):
    """End of a running task."""

    running_task: RunningTask
    assignment: GivenOrder
    report: Answer


@dataclass(frozen=True, slots=True)
class _Landings:
    """Ends by lease: of an assignment and its copy the first result counts. Every failure counts."""

    rendered: dict[str, _Landing[SegmentAssignment, Finished]] = field(default_factory=dict)
    assembled: dict[str, _Landing[AssemblyAssignment, Finished]] = field(default_factory=dict)
    ended: list[_Landing[TaskAssignment, Ended]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rendered) + len(self.assembled) + len(self.ended)


class Collector(Service):
    """Wait for reports and process those of one turn together."""

    every_seconds = 0.0
    wait_seconds = 0.5

    def __init__(
        self,
        dependencies: Dependencies,
        running_tasks: RunningTasks,
        estimator: DurationEstimator,
        dispatcher: Service,
        claimer: Service,
    ) -> None:
        super().__init__()
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self.estimator = estimator
        self.dispatcher = dispatcher
        self.claimer = claimer
        self.job_completer = JobCompleter(dependencies)
        self._unsettled: list[Report] = []

    async def tick(self) -> int:
        """Settles what has been reported; what could not be written, a store being away, is kept for the next turn."""
        self._unsettled += await self.dependencies.executor.reports(self.wait_seconds)
        landings = self._landings(self._unsettled)
        await self._complete(landings)
        self._unsettled = []
        if len(landings):
            self.dispatcher.wake()
        if landings.assembled or landings.ended:
            self.claimer.wake_within(CLAIM_SECONDS)
        return len(landings)

    def _landings(self, reports: Iterable[Report]) -> _Landings:
        """Return the reports to write. Reports of completed tasks were written before, or by another scheduler."""
        landings = _Landings()
        for report in reports:
            match report, self.running_tasks.get(report.token):
                case _, None:
                    continue
                case Advanced(), RunningTask() as running_task:
                    running_task.frames_done = report.frames_done
                    running_task.advanced = self.dependencies.clock.monotonic()
                case Finished(), RunningTask(assignment=SegmentAssignment() as assignment) as running_task:
                    landings.rendered.setdefault(running_task.lease, _Landing(running_task, assignment, report))
                case Finished(), RunningTask(assignment=AssemblyAssignment() as assembly) as running_task:
                    landings.assembled.setdefault(running_task.lease, _Landing(running_task, assembly, report))
                case Ended(), RunningTask() as running_task:
                    landings.ended.append(_Landing(running_task, running_task.assignment, report))
        return landings

    async def _complete(self, landings: _Landings) -> None:
        """Write each kind of report. Raises the absence of a store after all have been tried."""
        outcomes = await asyncio.gather(
            together(self._rendered, list(landings.rendered.values())),
            together(self._assembled, list(landings.assembled.values())),
            self._each_ended(landings.ended),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            for landing, error in outcome:
                self._drop(landing, error)

    def _drop(self, landing: _Landing[Any, Any], error: Exception) -> None:
        """Drop a report that cannot be written although the stores are there.

        The lease ends, and the task is tried again.
        """
        _log.error("report dropped", **about(landing.assignment), error=in_a_line(error))
        self.running_tasks.complete(landing.report.token)

    async def _rendered(self, landings: Sequence[_Landing[SegmentAssignment, Finished]]) -> None:
        """Accepts rendered segments."""
        now, segments = (
            self.dependencies.clock.now(),
            [_segment(landing.running_task, landing.report) for landing in landings],
        )
        counted = await self.dependencies.database.single(
            lambda connection: tasks.finish_tasks(connection, now, segments)
        )
        for landing in landings:
            assignment, report = landing.assignment, landing.report
            if landing.running_task.lease not in counted:
                _log.info("result discarded", **about(assignment))
            if not report.cached:
                size = assignment.video_format.width, assignment.video_format.height
                self.estimator.learn(assignment.job_id, assignment.frame_count, *size, report.seconds)
            metrics.segment(report, assignment.frame_count)
            self._land_all(landing.running_task)

    async def _assembled(self, landings: Sequence[_Landing[AssemblyAssignment, Finished]]) -> None:
        await self.job_completer.complete([_assembled(one) for one in landings])
        for landing in landings:
            self.estimator.forget(landing.assignment.job_id)
            self._land_all(landing.running_task)

    async def _each_ended(
        self, landings: Sequence[_Landing[TaskAssignment, Ended]]
    ) -> list[tuple[_Landing[TaskAssignment, Ended], Exception]]:
        return [refused for landing in landings for refused in await together(self._ended, [landing])]

    async def _ended(self, landings: Sequence[_Landing[TaskAssignment, Ended]]) -> None:
        for landing in landings:
            running_task, failure = landing.running_task, landing.report.failure
            twins = [other for other in self.running_tasks.of_lease(running_task.lease) if other is not running_task]
            if twins and failure.kind is not FailureKind.document:
                await self._blamed(failure)
            else:
                await self._judged(running_task, landing.report)
            self.running_tasks.complete(landing.report.token)
            if failure.kind is FailureKind.document:
                self._land_all(running_task)

    async def _judged(self, running_task: RunningTask, report: Ended) -> None:
        now, job_id = self.dependencies.clock.now(), running_task.assignment.job_id
        metrics.FAILURES.labels(str(report.failure.kind)).inc()
        _log.info("attempt failed", **about(running_task.assignment), kind=str(report.failure.kind))
        percent = await self.dependencies.progress.percent(job_id)
        async with self.dependencies.database.work() as session:
            verdict = await tasks.judge_task(session, now, running_task.lease, report.failure)
            if report.missing:
                await workers.forget_segments(session, report.missing)
            if report.missing and verdict is not None:
                await tasks.lose_segments(session, now, job_id, report.missing)
            if verdict is not None and isinstance(verdict.verdict, Fail):
                ending = Ending(job_id, error=verdict.verdict.public_message, percent=percent)
                ended = await end_jobs(session, now, "fail", [ending])
                change = changed(job_id, running_task.assignment.account_id, JobStatus.failed, percent)
                self.dependencies.changes.publish_after_commit(session, [change for _ in ended])
        await self._blamed(report.failure)

    async def _blamed(self, failure: Failure) -> None:
        if failure.kind not in BLAMED or failure.worker is None:
            return
        async with self.dependencies.database.work() as session:
            until = await workers.blame_worker(session, self.dependencies.clock.now(), failure.worker)
        if until is not None:
            _log.warning("worker quarantined", worker=failure.worker, until=until.isoformat())

    def _land_all(self, running_task: RunningTask) -> None:
        """Complete a lease: stop the assignment's copy, or the assignment if its copy was faster."""
        for other in self.running_tasks.of_lease(running_task.lease):
            self.running_tasks.complete(other.assignment.token)
            if other is not running_task:
                self.dependencies.executor.cancel(other.assignment.token)


def _assembled(landing: _Landing[AssemblyAssignment, Finished]) -> Assembled:
    assert landing.running_task.job is not None, "an assembly is given out with its job"
    return Assembled(landing.assignment, landing.running_task.job, landing.running_task.lease, landing.report)


def _segment(running_task: RunningTask, report: Finished) -> RenderedSegment:
    record = {
        "worker": report.worker, "bytes": report.bytes, "seconds": report.seconds, "sha256": report.sha256,
        "cached": report.cached, "stages_ms": report.stages_ms, "warnings": notices.records(of_lines(report.warnings)),
    }  # fmt: skip
    return RenderedSegment(running_task.lease, report.key, report.bytes, report.worker, record)
