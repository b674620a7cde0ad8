"""Build assignments, the messages sent to workers, from leased tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from farm_core.formats import OUTPUT_FORMATS
from farm_core.jobs.receipt import RenderedJob
from farm_core.jobs.tasks import LeasedTask
from farm_core.settings import Settings
from farm_core.telemetry.traces import TraceContext
from scheduler.ports import AssemblyAssignment, SegmentAssignment, TaskAssignment, TimeLimit, VideoFormat


def assignment_of(task: LeasedTask, settings: Settings) -> TaskAssignment:
    """Return the assignment of a leased task, under the lease's token."""
    video_format = VideoFormat(
        task.width, task.height, task.fps, task.job_frame_count, task.composition_id, task.duration_seconds,
        task.format, task.transparent, task.has_sound,
    )  # fmt: skip
    trace = TraceContext(task.request_id, task.traceparent)
    if task.segments is not None:
        video_key = f"results/{task.plan_key or task.job_id}{OUTPUT_FORMATS[task.format].ending}"
        segment_keys = tuple(segment["key"] for segment in task.segments)
        return AssemblyAssignment(
            task.task_id, task.lease_token, task.job_id, segment_keys, video_format, video_key, _rendered_job(task, task.segments),
            task.account_id, task.task_index, task.document_key, task.media or {}, trace,
        )  # fmt: skip
    limit = time_limit(settings, task.spent_seconds)
    return SegmentAssignment(
        task.task_id, task.lease_token, task.job_id, task.document_key, task.media or {}, video_format,
        task.first_frame, task.frame_count, task.account_id, task.task_index, task.finished_frames, limit, trace,
    )  # fmt: skip


def _rendered_job(task: LeasedTask, segments: Sequence[Mapping[str, Any]]) -> RenderedJob:
    return RenderedJob(
        task.job_id, task.renderer, task.width, task.height, task.fps, task.job_frame_count, task.document_key,
        task.inputs or {}, task.media, segments,
    )  # fmt: skip


def time_limit(settings: Settings, spent_seconds: float) -> TimeLimit:
    """Return the time limit of a segment: the stricter of the segment's and the job's. The job's finished segments
    took `spent_seconds`."""
    left = settings.job_seconds_max - spent_seconds
    if left < settings.segment_seconds_max:
        return TimeLimit(left, f"The render took longer than {settings.job_seconds_max:g} s (JOB_SECONDS_MAX).")
    seconds = settings.segment_seconds_max
    return TimeLimit(seconds, f"A segment took longer than {seconds:g} s to render (SEGMENT_SECONDS_MAX).")
