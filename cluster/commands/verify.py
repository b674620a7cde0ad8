"""Render random segments of a completed job again, here, and compare them with what its receipt says.

Equal bytes are promised between workers of one renderer: build, GL renderer, encoder, fonts. The exit status is 1 if bytes differ
or there is no such job, and 2 if this machine is another kind than the receipt names, or the receipt is gone.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from cluster.worker.media_cache import MediaCache
from cluster.worker.segment_maker import SessionSegmentMaker
from farm_core.cli import connection, data_folder
from farm_core.cli.argument_types import whole
from farm_core.db.database import Database
from farm_core.jobs.models import Job
from farm_core.settings import Settings
from farm_core.stills.subject import composition_of
from farm_core.storage.choice import storage_of
from farm_core.storage.port import ObjectMissing, Storage
from farm_core.templates.models import Template
from farm_core.user_error import UserError
from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.progress import NO_CALLBACKS
from scheduler.ports import SegmentAssignment, VideoFormat


class NothingToVerify(UserError):
    """No completed job has this id."""


class Unverifiable(Exception):
    """The job exists, but this machine cannot compare it. The message says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `JOB` and `--segments`."""
    parser.add_argument("job", metavar="JOB")
    parser.add_argument("--segments", type=whole(1), default=3, metavar="N", help="how many to render again (3)")
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if the segments are equal, 1 if they differ, 2 if they cannot be compared. Raises NothingToVerify."""
    chosen = data_folder.settings_of(arguments)
    job, video_format = connection.with_database(arguments, lambda database: _job(database, arguments.job))
    # Open the storage after the job was found, because it creates missing folders in the data folder.
    storage = storage_of(chosen)
    try:
        receipt = _receipt(storage, job)
        return _compared(chosen, storage, job, video_format, receipt, arguments.segments)
    except Unverifiable as problem:
        print(f"farm: {problem}", file=sys.stderr)
        return 2


async def _job(database: Database, job_id: str) -> tuple[Job, VideoFormat]:
    async with database.work() as session:
        job: Job | None = await session.get(Job, job_id)
        if job is None:
            raise NothingToVerify(f"there is no job {job_id!r}; `./farm jobs` lists the last ones")
        if job.receipt_key is None:
            raise NothingToVerify(f"job {job_id} is {job.status}: only a completed job can be verified")
        template: Template = await session.get_one(Template, job.template_id)
    composition_id, duration_seconds = composition_of(job, template)
    return job, VideoFormat(
        width=job.width, height=job.height, fps=job.fps, frame_count=job.frame_count,
        composition_id=composition_id, duration_seconds=duration_seconds,
        format=job.format, transparent=job.transparent, has_sound=job.has_sound,
    )  # fmt: skip


def _receipt(storage: Storage, job: Job) -> Mapping[str, Any]:
    try:
        receipt: Mapping[str, Any] = orjson.loads(storage.get_bytes(str(job.receipt_key)))
    except ObjectMissing:
        raise Unverifiable("the receipt is no longer in storage") from None
    return receipt


def _compared(
    chosen: Settings, storage: Storage, job: Job, video_format: VideoFormat, receipt: Mapping[str, Any], count: int
) -> int:
    maker = SessionSegmentMaker(chosen)
    if maker.renderer != receipt["renderer"]:
        raise Unverifiable(f"the receipt names {receipt['renderer']!r}, this machine is {maker.renderer!r}")
    segments: Sequence[Mapping[str, Any]] = receipt["segments"]
    equal = True
    with tempfile.TemporaryDirectory(prefix="farm-verify-") as folder:
        media = MediaCache(storage, Path(folder) / "media")
        for segment in random.sample(segments, min(count, len(segments))):
            path = Path(folder) / f"segment{FORMATS[video_format.format].segment_ending}"
            assignment = SegmentAssignment(
                task_id="", token="", job_id=job.id, document_key=str(job.document_key), media=job.media or {},
                video_format=video_format, first_frame=segment["firstFrame"], frame_count=segment["frames"],
            )  # fmt: skip
            maker.render(assignment, media, path, NO_CALLBACKS)
            same = hashlib.sha256(path.read_bytes()).hexdigest() == segment["sha256"]
            last = segment["firstFrame"] + segment["frames"] - 1
            print(f"frames {segment['firstFrame']}..{last}: {'the same bytes' if same else 'OTHER BYTES'}")
            equal = equal and same
    return 0 if equal else 1
