"""The scheduler's interface to workers, without Ray. `cluster` implements it, and so does the simulation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from farm_core.jobs.judge import Failure
from farm_core.jobs.receipt import RenderedJob
from farm_core.telemetry.traces import UNKNOWN, TraceContext


@dataclass(frozen=True, slots=True)
class VideoFormat:
    """Output of a job: width and height in pixels, frames per second, composition, length, format.

    `format` is a name in `farm_core/formats.py`. `transparent` omits the composition's background. `still_scale`
    is the size of a still relative to its video.
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
    still_scale: float = 1.0


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Maximum worker seconds of an assignment, and the public message of the failure if it takes longer."""

    seconds: float
    message: str


@dataclass(frozen=True, slots=True)
class SegmentAssignment:
    """Render frames [first_frame, first_frame + frame_count) of a frozen document into a segment in storage.

    `media` maps every source in the document to its storage key.
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
    """Number of finished frames of the job when this segment was leased."""
    time_limit: TimeLimit | None = None
    trace: TraceContext = UNKNOWN


@dataclass(frozen=True, slots=True)
class AssemblyAssignment:
    """Join a job's segments, in order, into the file `video_key`, check it, and store the receipt of `rendered_job` beside
    it. Document and media provide the sound."""

    task_id: str
    token: str
    job_id: str
    segment_keys: tuple[str, ...]
    video_format: VideoFormat
    video_key: str
    rendered_job: RenderedJob
    account_id: str = ""
    index: int = 0
    document_key: str = ""
    media: Mapping[str, str] = field(default_factory=dict)
    trace: TraceContext = UNKNOWN


TaskAssignment = SegmentAssignment | AssemblyAssignment


def about(assignment: TaskAssignment) -> dict[str, str | None]:
    """Return log fields for an assignment: its job, its task, and the request that created the job."""
    return {"job_id": assignment.job_id, "task": assignment.task_id, "request_id": assignment.trace.request_id}


@dataclass(frozen=True, slots=True)
class Advanced:
    """Progress of a segment: `frames_done` frames are done."""

    token: str
    frames_done: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of an assignment is in storage under `key`. `cached`: it was there already, and nothing was
    rendered."""

    token: str
    worker: str
    key: str
    sha256: str
    bytes: int
    seconds: float
    cached: bool = False
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """The assignment ended without a result. `missing` names segments that the assembly did not find in storage."""

    token: str
    failure: Failure
    missing: tuple[str, ...] = ()
    worker_ends: bool = False
    """True if the worker's process exits after this report. Its other assignments are lost through no fault of their
    own."""


Report = Advanced | Finished | Ended


@dataclass(frozen=True, slots=True)
class StillAssignment:
    """Draw frames of a frozen document into one picture, in rows of `columns`, before any segment.

    `media` maps every source in the document to its storage key.
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
    """Time for which the caller waits. Frames that have not started by then are not drawn."""


@dataclass(frozen=True, slots=True)
class DrawnStill:
    """File of a still, or the reason why there is none. `frame_seconds` is the time of its longest frame."""

    picture: bytes = b""
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()
    frame_seconds: float = 0.0
    worker_ends: bool = False
    """True if the worker's process exits by itself, perhaps because of this still. No other still there is to blame."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker that can take assignments. Workers with equal `renderer` give the same bytes for the same assignment."""

    id: str
    node: str
    renderer: str
    device: str
    encoder: str
    memory_bytes: int = 0
    frames_done: int = 0
    disk_free_bytes: int | None = None
    """Free space for the worker's temporary files, or None if the worker does not report it."""
    active: str | None = None
    """Token of the assignment, or id of the still, whose frame the worker is drawing."""
    progressed_at: float = 0.0
    """Time at which the worker last finished a frame, still or assignment of any scheduler (`time.monotonic`)."""
    answered_at: float = 0.0
    """Time of the worker's last answer (`time.monotonic`). A worker cannot answer while a library holds the GIL to
    draw."""
    backend: str = ""
    """Backend that composites: `gl`, or `cpu` for native kernels. `gl` without a GPU means that the kernels are
    missing."""


class RenderExecutor(Protocol):
    """Send assignments to workers. The executor reports exactly one Finished or Ended for every submitted assignment."""

    gone: asyncio.Event
    """Set when the executor cannot continue and the process must restart."""

    async def start(self) -> None:
        """Start the available workers. More workers can join later."""
        ...

    def workers(self) -> Sequence[WorkerState]:
        """Return the live workers."""
        ...

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Submit an assignment to a worker's queue. If the worker is unknown, the assignment ends as lost."""
        ...

    async def still(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        """Draw a still on a worker, between two frames of a segment. If the worker is lost, the still fails."""
        ...

    async def reports(self, wait_seconds: float) -> list[Report]:
        """Return the reports since the last call. Wait up to `wait_seconds` for the first one."""
        ...

    def cancel(self, token: str) -> None:
        """Ask an assignment to stop soon. It still ends with one report."""
        ...

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Kill a worker and start a new one in its place. Its assignments end. `is_blameless`: no assignment caused
        the restart."""
        ...

    def demand(self, open_tasks: int) -> None:
        """Announce the number of waiting and running tasks, so that an elastic cluster can scale."""
        ...

    async def close(self) -> None:
        """Release all workers. Takes a bounded time."""
        ...
