"""Render a failed or cancelled job again, as a new job with the same template, inputs and output; prints its id."""

from __future__ import annotations

import argparse
import sys

from farm_core.cli import connection
from farm_core.cli.jobs import followed
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.jobs import repository
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus

_KEPT = (
    "account_id", "template_id", "inputs", "width", "height", "fps", "frame_count", "reserved_ms", "origin",
    "callback_url", "request_hash",
)  # fmt: skip
_AGAIN = (JobStatus.failed, JobStatus.cancelled)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`JOB [--follow]`."""
    parser.add_argument("job", metavar="JOB")
    parser.add_argument("--follow", action="store_true", help="show the new job's progress until it ends")
    connection.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the new job's id; 1 where the job did not fail, or the followed one did not complete."""
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    job_id: str = arguments.job
    async with database.work() as session:
        old: Job | None = await session.get(Job, job_id)
        if old is None or old.status not in _AGAIN:
            print(f"farm: there is no failed or cancelled job {job_id!r}", file=sys.stderr)
            return 1
        values = {name: getattr(old, name) for name in _KEPT}
        job = await repository.create(session, Job(id=new_id("job"), created_at=SystemClock().now(), **values))
    print(job.id)
    return await followed(database, job.id) if arguments.follow else 0
