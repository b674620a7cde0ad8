"""Execute an assignment on a worker: render and store a segment, or join a job's segments. Independent of Ray."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

import orjson

from cluster.worker.assembly import write_file
from cluster.worker.failures import DAMAGED, failure_of
from cluster.worker.media_cache import BYTES_MAX, MediaCache
from cluster.worker.segment_maker_port import SegmentMaker, StillPicture
from cluster.worker.sound_watch import SoundSteps
from cluster.worker.temporary_room import check_growth, used_bytes
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.jobs.receipt import receipt, receipt_key
from farm_core.storage.disk_space import has_reserve, is_disk_broken, is_disk_full
from farm_core.storage.port import ObjectMissing, Storage, StorageUnavailable
from farm_core.telemetry import logs
from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.errors import DiskNearlyFull
from gpu_renderer.pipeline import RenderStopped
from gpu_renderer.progress import NO_CALLBACKS, Callbacks, ShouldStop
from motion.errors import DocumentError
from scheduler.ports import AssemblyAssignment, Ended, Finished, SegmentAssignment, StillAssignment, TaskAssignment

_log = logs.logger(__name__)
_SEGMENT_TYPES = {".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".zip": "application/zip"}

FETCHES: Final = 4
"""Segments that an assembly reads from storage at once. A bucket answers each request after some milliseconds."""

PAUSES_SECONDS: Final = 0.05
"""Least time between two pauses of an assembly."""


class SegmentMissing(Exception):
    """Segments that an assembly needs are no longer in storage."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        super().__init__(", ".join(keys))
        self.keys = keys


class SegmentDamaged(SegmentMissing):
    """Segments that an assembly needs were damaged in storage, and have been deleted."""


class TaskRunner:
    """Execute assignments one at a time on one thread. `media_bytes_max` limits the media cache on disk."""

    def __init__(
        self, worker_id: str, maker: SegmentMaker, storage: Storage, scratch: Path, media_bytes_max: int = BYTES_MAX
    ) -> None:
        self.worker_id = worker_id
        self.maker = maker
        self._storage = storage
        self._scratch = scratch
        self._media = MediaCache(storage, scratch / "media", media_bytes_max)
        self._storage_lines = logs.OnceAMinute()
        self.sound_steps = SoundSteps()

    def execute(self, assignment: TaskAssignment, callbacks: Callbacks = NO_CALLBACKS) -> Finished | Ended:
        """Execute the assignment and return its report. Raises nothing."""
        try:
            if callbacks.should_stop():
                raise RenderStopped("withdrawn before it began", "The render was stopped.")
            if not has_reserve():
                self.maker.free_disk(self._media)
            match assignment:
                case SegmentAssignment():
                    return self._render_or_reuse(assignment, callbacks)
                case AssemblyAssignment():
                    return self._assemble(assignment, callbacks.should_stop)
        except SegmentDamaged as damaged:
            # unlike a loss, it counts: storage that damages each segment must not keep workers busy for ever
            return Ended(assignment.token, Failure(FailureKind.missing, DAMAGED, self.worker_id), damaged.keys)
        except SegmentMissing as missing:
            return Ended(
                assignment.token, Failure(FailureKind.lost, "A segment was lost.", self.worker_id), missing.keys
            )
        except Exception as error:
            # The worker's boundary: every failure becomes a report, and the worker takes the next assignment.
            if is_disk_full(error) or isinstance(error, StorageUnavailable):
                self.maker.free_disk(self._media)
            is_away = isinstance(error, StorageUnavailable) or is_disk_full(error) or is_disk_broken(error)
            if not is_away or self._storage_lines.is_due():
                _log.warning("assignment failed", task=assignment.task_id, error=f"{type(error).__name__}: {error}")
            return Ended(assignment.token, failure_of(error, self.worker_id))

    def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        """Draw one frame of a still on the drawing thread. Raises the errors that `failure_of` translates."""
        return self.maker.still(assignment, frame_index, self._media)

    def _render_or_reuse(self, assignment: SegmentAssignment, callbacks: Callbacks) -> Finished:
        began = time.perf_counter()
        ending = FORMATS[assignment.video_format.format].segment_ending
        key = f"segments/{self.maker.segment_key(assignment, self._media, callbacks.should_stop)}{ending}"
        try:
            stored = self._storage.describe(key)
        except ObjectMissing:
            pass
        else:
            seconds = time.perf_counter() - began
            return Finished(assignment.token, self.worker_id, key, "", stored.bytes, seconds, cached=True)
        path = self._scratch / f"{assignment.token}{ending}"
        try:
            return self._render_and_store(assignment, key, path, began, callbacks)
        finally:
            path.unlink(missing_ok=True)

    def _render_and_store(
        self, assignment: SegmentAssignment, key: str, path: Path, began: float, callbacks: Callbacks
    ) -> Finished:
        def stops_or_fits() -> bool:
            check_growth(path)
            return callbacks.should_stop()

        watched = replace(callbacks, should_stop=stops_or_fits)
        stages_ms, warnings = self.maker.render(assignment, self._media, path, watched)
        upload_began = time.perf_counter()
        self._storage.put_file(key, path, _SEGMENT_TYPES.get(path.suffix, "application/octet-stream"))
        stages_ms = {**stages_ms, "store": (time.perf_counter() - upload_began) * 1000}
        sha256, size = _digest(path), path.stat().st_size
        seconds = time.perf_counter() - began
        return Finished(
            assignment.token, self.worker_id, key, sha256, size, seconds, stages_ms=stages_ms, warnings=warnings
        )

    def _assemble(self, assignment: AssemblyAssignment, should_stop: ShouldStop) -> Finished:
        began = time.perf_counter()
        folder = self._scratch / f"assembly-{assignment.token}"  # its own: while it is paused, another can run
        folder.mkdir()
        try:
            paths = self._fetch_segments(assignment, folder)
            hashes = [_digest(path) for path in paths]
            self._refuse_changed(assignment, hashes)
            check_growth(folder, sum(map(used_bytes, paths)))  # the video takes as much again
            file_format = FORMATS[assignment.video_format.format]
            output = folder / f"video{file_format.ending}"
            pause = _pause(should_stop, folder)
            with self._suspecting_cached(assignment):
                warnings = write_file(assignment, paths, output, self._media, pause, self.sound_steps)
            self._storage.put_file(assignment.video_key, output, file_format.media_type)
            sha256, size = _digest(output), output.stat().st_size
        finally:
            shutil.rmtree(folder)
        proof = receipt(assignment.rendered_job, hashes, sha256, size)
        self._storage.put_bytes(receipt_key(assignment.video_key), proof, "application/json")
        seconds = time.perf_counter() - began
        return Finished(
            assignment.token, self.worker_id, assignment.video_key, sha256, size, seconds, warnings=warnings
        )

    def _fetch_segments(self, assignment: AssemblyAssignment, folder: Path) -> list[Path]:
        """Write the segments to the folder, some at once. Raises SegmentMissing, DiskNearlyFull, StorageUnavailable."""
        keys = assignment.segment_keys
        paths = [folder / f"{index:05}{Path(key).suffix}" for index, key in enumerate(keys)]
        found, largest = list[bool](), 0
        with ThreadPoolExecutor(FETCHES) as pool:
            for first in (0, *range(1, len(keys), FETCHES)):
                wanted = slice(first, first + FETCHES if first else 1)  # the first one alone, for its size
                check_growth(folder, len(keys[wanted]) * largest)  # segments of a job have similar sizes
                found += pool.map(self._fetch, keys[wanted], paths[wanted])
                largest = max((largest, *map(used_bytes, paths[wanted])))
        missing = [key for key, is_found in zip(keys, found, strict=True) if not is_found]
        if missing:
            raise SegmentMissing(tuple(missing))
        return paths

    def _refuse_changed(self, assignment: AssemblyAssignment, hashes: Sequence[str]) -> None:
        """Raise SegmentDamaged for segments whose bytes in storage are not those that were rendered.

        The hash of a cached one is known only if an equal video has been assembled. Otherwise that video would be overwritten.
        """
        segments = assignment.rendered_job.segments
        known = self._hashes_of_equal_video(assignment) if any(one.get("cached") for one in segments) else {}
        if changed := [
            one["key"]
            for one, found in zip(segments, hashes, strict=True)
            if one.get("sha256", known.get(one["key"], found)) != found
        ]:
            self._lose(changed)

    def _hashes_of_equal_video(self, assignment: AssemblyAssignment) -> dict[str, str]:
        """Return the hashes of segments by key, from the receipt of an equal video."""
        try:
            former = orjson.loads(self._storage.get_bytes(receipt_key(assignment.video_key)))
        except (ObjectMissing, orjson.JSONDecodeError):
            return {}
        return {one["key"]: one["sha256"] for one in former["segments"]}

    @contextmanager
    def _suspecting_cached(self, assignment: AssemblyAssignment) -> Iterator[None]:
        """Raise SegmentDamaged for the cached segments if the block cannot join the segments, because one can be damaged. They are rendered
        again, and have hashes then: the next failure is the job's own."""
        try:
            yield
        except Exception as error:  # libraries raise errors of many types for damaged bytes
            cached = [one["key"] for one in assignment.rendered_job.segments if one.get("cached")]
            if not cached or not _may_be_damage(error):
                raise
            self._lose(cached)

    def _lose(self, keys: Sequence[str]) -> NoReturn:
        """Delete damaged segments, so that no job uses them, and raise SegmentDamaged."""
        _log.warning("deleted segments that are damaged in storage", segments=len(keys), first=keys[0])
        for key in keys:
            self._storage.delete(key)
        raise SegmentDamaged(tuple(keys))

    def _fetch(self, key: str, path: Path) -> bool:
        """Return False if storage does not have the segment."""
        try:
            self._storage.get_file(key, path)
        except ObjectMissing:
            return False
        return True


def _may_be_damage(error: Exception) -> bool:
    """Return True if a damaged segment can be the cause of the error."""
    is_known = isinstance(error, (DiskNearlyFull, DocumentError))
    return not is_known and failure_of(error, "").kind in (FailureKind.document, FailureKind.crash)


def _pause(should_stop: ShouldStop, folder: Path) -> Callable[[], None]:
    """Return a callback for the short steps of an assembly in a folder. It calls `should_stop` at most every PAUSES_SECONDS, and
    raises RenderStopped if the assembly must stop, and DiskNearlyFull if it grows too large."""
    asked = time.monotonic()

    def pause() -> None:
        nonlocal asked
        if time.monotonic() - asked < PAUSES_SECONDS:
            return
        check_growth(folder)
        if should_stop():
            raise RenderStopped("withdrawn during the assembly", "The render was stopped.")
        asked = time.monotonic()

    return pause


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
