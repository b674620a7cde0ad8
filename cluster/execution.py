"""Build a worker's task runner from the settings."""

from __future__ import annotations

from pathlib import Path

from cluster.task_runner import TaskRunner
from farm_core.accounts.secret import farm_secret
from farm_core.settings import Settings
from farm_core.storage.choice import storage_of
from farm_core.storage.links import Links


def task_runner(
    worker_id: str, settings: Settings, scratch: Path, cuda_index: int | None = None, raster_threads: int | None = None
) -> TaskRunner:
    """Return a worker's runner. Its GL context belongs to the calling thread, which must execute all assignments."""
    from cluster.segment_maker import SessionSegmentMaker  # noqa: PLC0415 - loads the GPU's libraries, in workers only

    storage = storage_of(settings, Links(farm_secret(settings)))
    return TaskRunner(worker_id, SessionSegmentMaker(settings, cuda_index, raster_threads), storage, scratch)
