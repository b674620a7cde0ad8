"""Complete jobs after assembly: write their receipts, then complete all of them in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.links import video_url
from farm_core.jobs.notices import records
from farm_core.jobs.receipt import RenderedJob, receipt
from farm_core.jobs.status import JobStatus
from farm_core.progress.changes import changed
from farm_core.threads import in_threads
from motion.notices import of_lines
from scheduler.dependencies import Dependencies
from scheduler.ports import AssemblyAssignment, Finished


@dataclass(frozen=True, slots=True)
class Assembled:
    """Assembled video, its job, and the token of the assembly's lease."""

    assignment: AssemblyAssignment
    job: RenderedJob
    lease: str
    report: Finished


class JobCompleter:
    """Complete the jobs of finished assemblies. Workers have already checked the videos."""

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies

    async def complete(self, assembled: Sequence[Assembled]) -> None:
        """Write receipts beside the videos and complete the jobs. Skip jobs whose lease is lost."""
        await in_threads(self._put_receipt, assembled)
        now = self.dependencies.clock.now()
        endings = [self._ending(one, now) for one in assembled]
        ended = await self.dependencies.database.single(
            lambda connection: end_jobs(connection, now, "complete", endings)
        )
        accounts = {one.job.id: one.assignment.account_id for one in assembled}
        self.dependencies.changes.publish(
            changed(job_id, accounts[job_id], JobStatus.completed) for job_id in sorted(ended)
        )

    def _put_receipt(self, assembled: Assembled) -> None:
        report = assembled.report
        document = orjson.dumps(receipt(assembled.job, report.segments_sha256, report.sha256, report.bytes))
        self.dependencies.storage.put_bytes(_receipt_key(assembled.assignment), document, "application/json")

    def _ending(self, assembled: Assembled, now: datetime) -> Ending:
        assignment, job, report = assembled.assignment, assembled.job, assembled.report
        detail = {"seconds": report.seconds, "bytes": report.bytes, "sha256": report.sha256, "worker": report.worker}
        if report.warnings:
            detail["warnings"] = records(of_lines(report.warnings))
        return Ending(
            job.id, task_token=assembled.lease, video_key=assignment.video_key, receipt_key=_receipt_key(assignment),
            video_url=video_url(
                self.dependencies.settings, self.dependencies.storage, job.id, job.origin, assignment.video_key, now, finished_at=now
            ),
            video_bytes=report.bytes, detail=detail,
        )  # fmt: skip


def _receipt_key(assignment: AssemblyAssignment) -> str:
    return assignment.video_key.rpartition(".")[0] + ".json"
