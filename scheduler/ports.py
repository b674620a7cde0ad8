"""The scheduler's interface to workers. It knows no Ray: `cluster` implements it, and so does the simulation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from farm_core.jobs.judge import Failure
from farm_core.telemetry.traces import UNKNOWN, TraceContext


@dataclass(frozen=True, slots=True)
class VideoFormat:
    """Output properties of a job: size in pixels, frames per second, composition, length, format.

    `format` is a name of `farm_core/jobs/formats.py`. `transparent` leaves the composition's background out.
    """

    width: int
    height: int
    fps: float
    frame_count: int
    composition_id: str | None
    duration_seconds: float
    format: str = "mp4"
    transparent: bool = False
    has_sound: bool = False


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Seconds of a worker's time that an assignment may take, and the public message of the failure beyond them."""

    seconds: float
    message: str


@dataclass(frozen=True, slots=True)
class SegmentAssignment:
    """Render frames [first_frame, first_frame + frame_count) of a frozen document to a segment in storage.

    `media` maps every source of the document to the storage key of its bytes.
    """

    task_id: str
    token: str
    job_id: str
    document_key: str
    media: Mapping[str, str]
    video_format: VideoFormat
    first_frame: int
    frame_count: int
    account_id: str = ""
    index: int = 0
    finished_frames: int = 0
    """Frames of the job's segments that were finished when this one was leased."""
    time_limit: TimeLimit | None = None
    trace: TraceContext = UNKNOWN


@dataclass(frozen=True, slots=True)
class AssemblyAssignment:
    """Join a job's segments, in order, to a file at `video_key`, and check it. Document and media are for its sound."""

    task_id: str
    token: str
    job_id: str
    segment_keys: tuple[str, ...]
    video_format: VideoFormat
    video_key: str
    account_id: str = ""
    index: int = 0
    document_key: str = ""
    media: Mapping[str, str] = field(default_factory=dict)
    trace: TraceContext = UNKNOWN


TaskAssignment = SegmentAssignment | AssemblyAssignment


def about(assignment: TaskAssignment) -> dict[str, str | None]:
    """Return the fields of log lines about an assignment: its job and task, and the request that created the job."""
    return {"job_id": assignment.job_id, "task": assignment.task_id, "request_id": assignment.trace.request_id}


@dataclass(frozen=True, slots=True)
class Advanced:
    """Progress: `frames_done` of a segment."""

    token: str
    frames_done: int


@dataclass(frozen=True, slots=True)
class Finished:
    """An assignment's result is in storage under `key`. `cached`: it was there before, and nothing was drawn."""

    token: str
    worker: str
    key: str
    sha256: str
    bytes: int
    seconds: float
    cached: bool = False
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    segments_sha256: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """An assignment ended without a result. `missing` names segments that an assembly did not find in storage."""

    token: str
    failure: Failure
    missing: tuple[str, ...] = ()
    worker_ends: bool = False
    """True if the worker's process ends after this report. Its other assignments are lost without fault."""


Report = Advanced | Finished | Ended


@dataclass(frozen=True, slots=True)
class StillAssignment:
    """Draw frames of a frozen document, in rows of `columns`, into one picture file. Short, and before any segment.

    `media` maps every source of the document to the storage key of its bytes.
    """

    id: str
    document_key: str
    media: Mapping[str, str]
    video_format: VideoFormat
    frames: tuple[int, ...]
    columns: int
    format: Literal["png", "jpeg", "webp"]
    account_id: str = ""
    seconds_max: float = 20.0
    """Time for which somebody waits. A frame that has not begun by then is not drawn."""


@dataclass(frozen=True, slots=True)
class DrawnStill:
    """A still's file, or why there is none; `milliseconds` is the time on the worker."""

    picture: bytes = b""
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()
    milliseconds: float = 0.0
    worker_ends: bool = False
    """True if the worker's process ends by itself, perhaps because of this still. Nothing else there is to blame."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker that can take assignments. Workers of equal `renderer` give the same bytes for the same assignment."""

    id: str
    node: str
    renderer: str
    device: str
    encoder: str
    memory_bytes: int = 0
    frames_done: int = 0
    disk_free_bytes: int | None = None
    """Free space of the disk of its temporary files, if it says so."""
    active: str | None = None
    """Token of the assignment, or id of the still, whose frame is being drawn."""
    moved: float = 0.0
    """Time of the worker's last finished frame, still or assignment of any scheduler, on the clock of `time.monotonic`."""
    heard: float = 0.0
    """Time of the worker's last answer, on the same clock. A library that keeps Python's lock while it draws lets it answer nothing."""
    backend: str = ""
    """Backend that composites: `gl`, or `cpu` for native kernels. Software OpenGL with `gl` lacks the kernels."""


class RenderExecutor(Protocol):
    """Carry assignments to workers. Every assignment submitted ends in exactly one Finished or Ended, reported once."""

    gone: asyncio.Event
    """Set when the executor can do nothing more and the process must be restarted."""

    async def start(self) -> None:
        """Start the workers that are available now. More can join later."""
        ...

    def workers(self) -> Sequence[WorkerState]:
        """Return the workers that live now."""
        ...

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Submit an assignment to a worker, which queues it. An unknown worker ends it as lost."""
        ...

    async def still(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        """Draw a still at a worker, between two frames if it renders a segment. A lost worker is a failure."""
        ...

    async def reports(self, wait_seconds: float) -> list[Report]:
        """Return the reports since the last call. Wait up to `wait_seconds` for the first one."""
        ...

    def cancel(self, token: str) -> None:
        """Ask an assignment to stop soon. It still ends in one report."""
        ...

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Kill a worker and start a new one in its place. Its assignments end. `is_blameless`: none of them is the reason."""
        ...

    def demand(self, open_tasks: int) -> None:
        """Announce the number of waiting and running tasks, so that an elastic cluster grows and shrinks."""
        ...

    async def close(self) -> None:
        """Release all workers within a bounded time."""
        ...
