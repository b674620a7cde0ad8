"""Complete jobs after assembly, all of them in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.links import link_expiry, video_url
from farm_core.jobs.notices import records
from farm_core.jobs.receipt import receipt_key
from farm_core.jobs.status import JobStatus
from farm_core.progress.changes import changed
from motion.notices import of_lines
from scheduler.dependencies import Dependencies
from scheduler.ports import AssemblyAssignment, Finished


@dataclass(frozen=True, slots=True)
class Assembled:
    """Assembled video, the origin of its link in the webhook (None: no webhook), and the token of the assembly's
    lease."""

    assignment: AssemblyAssignment
    webhook_origin: str | None
    lease: str
    report: Finished


async def complete_jobs(dependencies: Dependencies, assembled: Sequence[Assembled]) -> None:
    """Complete the jobs of finished assemblies. Skip jobs whose lease is lost.

    Workers have already checked the videos and stored their receipts.
    """
    now = dependencies.clock.now()
    endings = [_ending(dependencies, one, now) for one in assembled]
    ended = await dependencies.database.single(lambda connection: end_jobs(connection, now, "complete", endings))
    accounts = {one.assignment.job_id: one.assignment.account_id for one in assembled}
    dependencies.changes.publish(changed(job_id, accounts[job_id], JobStatus.completed) for job_id in sorted(ended))


def _ending(dependencies: Dependencies, assembled: Assembled, now: datetime) -> Ending:
    assignment, report = assembled.assignment, assembled.report
    detail = {"seconds": report.seconds, "bytes": report.bytes, "sha256": report.sha256, "worker": report.worker}
    if report.warnings:
        detail["warnings"] = records(of_lines(report.warnings))
    return Ending(
        assignment.job_id, task_token=assembled.lease, video_key=assignment.video_key,
        receipt_key=receipt_key(assignment.video_key), video_url=_link(dependencies, assembled, now),
        video_bytes=report.bytes, detail=detail,
    )  # fmt: skip


def _link(dependencies: Dependencies, assembled: Assembled, now: datetime) -> str | None:
    """Return the link in the webhook, or None if the job has no webhook."""
    if assembled.webhook_origin is None:
        return None
    assignment, expires_at = assembled.assignment, link_expiry(dependencies.settings, now, finished_at=now)
    return video_url(
        dependencies.storage, assignment.job_id, assignment.video_key, assembled.webhook_origin, expires_at
    )
