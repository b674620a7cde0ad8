"""Failures of assignments: errors of the renderer, of storage and of the disk as what schedulers and callers see."""

from __future__ import annotations

from typing import Final

from farm_core.jobs.judge import DISK_RESERVED, MISSING, STORAGE_AWAY, Failure, FailureKind
from farm_core.storage.disk_space import has_reserve, has_temporary_room, is_disk_broken, is_disk_full
from farm_core.storage.port import ObjectMissing, StorageNearlyFull, StorageUnavailable
from gpu_renderer.errors import DiskNearlyFull, EncoderUnavailable, GpuUnavailable, RenderError
from gpu_renderer.pipeline import RenderStopped
from motion.errors import DocumentError

DAMAGED: Final = "Segments of the video are damaged in the farm's storage."
TOO_LARGE: Final = (
    "The render's temporary files exceed what the farm's disk can spare. Render a smaller or shorter video, or one in a format with "
    "smaller files."
)


def failure_of(error: Exception, worker_id: str) -> Failure:
    """Convert an error to a failure: its kind, which decides if the task is retried, and its public message."""
    match error:
        case RenderStopped():
            return Failure(FailureKind.lost, "The render was stopped.", worker_id)
        case GpuUnavailable() | EncoderUnavailable():
            return Failure(FailureKind.crash, "The worker could not render.", worker_id)
        case RenderError():
            return Failure(FailureKind.document, error.public_message, worker_id)
        case DocumentError():
            return Failure(FailureKind.document, error.message, worker_id)
        case ObjectMissing():
            return Failure(FailureKind.missing, MISSING, worker_id)
        case DiskNearlyFull() if error.own_bytes > error.reserve_bytes:
            return Failure(FailureKind.document, TOO_LARGE, worker_id)
        case DiskNearlyFull() if has_reserve():  # without the attempt's files
            return Failure(FailureKind.space, TOO_LARGE, worker_id)
        case DiskNearlyFull() | StorageNearlyFull():
            return Failure(FailureKind.reserve, DISK_RESERVED, worker_id)
        case StorageUnavailable():
            return Failure(FailureKind.store, STORAGE_AWAY, worker_id)
        case OSError() if is_disk_broken(error) or (is_disk_full(error) and not has_temporary_room()):
            return Failure(FailureKind.store, STORAGE_AWAY, worker_id)
        case _:
            return Failure(FailureKind.crash, "The render failed unexpectedly.", worker_id)
