"""Render a failed or cancelled job again, as a new job with the same template, inputs and output; prints its id."""

from __future__ import annotations

import argparse
import sys

from farm_core.audit.log import record
from farm_core.cli import connection, data_folder
from farm_core.cli.acting import command_line_actor
from farm_core.cli.jobs import follow_job
from farm_core.controls.jobs import create_again_by_id
from farm_core.db.database import Database


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `JOB [--follow]`."""
    parser.add_argument("job", metavar="JOB")
    parser.add_argument("--follow", action="store_true", help="show the new job's progress until it ends")
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the new job's id. Return 1 if the job did not fail, or the followed one did not complete."""
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    job_id: str = arguments.job
    async with database.work() as session:
        new = (await create_again_by_id(session, [job_id])).get(job_id)
        if new is not None:
            await record(session, command_line_actor(), "retry", f"job {job_id}", {"job": new})
    if new is None:
        print(f"farm: there is no failed or cancelled job {job_id!r}", file=sys.stderr)
        return 1
    print(new)
    if not arguments.follow:
        return 0
    async with connection.progress_of(arguments, database) as progress:
        return await follow_job(database, progress, new)
