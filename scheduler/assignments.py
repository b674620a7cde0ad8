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
        width=task.width, height=task.height, fps=task.fps, frame_count=task.job_frame_count,
        composition_id=task.composition_id, duration_seconds=task.duration_seconds,
        format=task.format, transparent=task.transparent, has_sound=task.has_sound,
    )  # fmt: skip
    trace = TraceContext(task.request_id, task.traceparent)
    if task.segments is not None:
        video_key = f"results/{task.plan_key or task.job_id}{OUTPUT_FORMATS[task.format].ending}"
        segment_keys = tuple(segment["key"] for segment in task.segments)
        return AssemblyAssignment(
            task_id=task.task_id, token=task.lease_token, job_id=task.job_id, account_id=task.account_id, index=task.task_index,
            segment_keys=segment_keys, video_format=video_format, video_key=video_key,
            rendered_job=_rendered_job(task, task.segments), document_key=task.document_key, media=task.media or {}, trace=trace,
        )  # fmt: skip
    return SegmentAssignment(
        task_id=task.task_id, token=task.lease_token, job_id=task.job_id, account_id=task.account_id, index=task.task_index,
        document_key=task.document_key, media=task.media or {}, video_format=video_format,
        first_frame=task.first_frame, frame_count=task.frame_count, finished_frames=task.finished_frames,
        time_limit=time_limit(settings, task.spent_seconds), trace=trace,
    )  # fmt: skip


def _rendered_job(task: LeasedTask, segments: Sequence[Mapping[str, Any]]) -> RenderedJob:
    return RenderedJob(
        id=task.job_id, renderer=task.renderer, width=task.width, height=task.height, fps=task.fps, frame_count=task.job_frame_count,
        document_key=task.document_key, inputs=task.inputs or {}, media=task.media, segments=segments,
    )  # fmt: skip


def time_limit(settings: Settings, spent_seconds: float) -> TimeLimit:
    """Return the time limit of a segment: the stricter of the segment's and the job's. The job's finished segments
    took `spent_seconds`."""
    left = settings.job_seconds_max - spent_seconds
    if left < settings.segment_seconds_max:
        return TimeLimit(left, f"The render took longer than {settings.job_seconds_max:g} s (JOB_SECONDS_MAX).")
    seconds = settings.segment_seconds_max
    return TimeLimit(seconds, f"A segment took longer than {seconds:g} s to render (SEGMENT_SECONDS_MAX).")
