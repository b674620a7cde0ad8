"""Write the progress of a worker's segments to Redis in a separate thread: rendering never waits for Redis."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import Final

import orjson
import redis
from redis.exceptions import RedisError

from farm_core.progress import store

EVERY_SECONDS: Final = 0.4
"""Minimum time between two writes, except for states that are shown at once."""

RETRY_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 1.0
LAST_SECONDS: Final = 1.0
WAITING_MAX: Final = 64
"""Maximum number of states that wait while Redis is away. The oldest ones are dropped."""


@dataclass(frozen=True, slots=True)
class SegmentProgress:
    """Progress of one attempt at its worker. `finished_frames` is the job's count in Postgres at the start."""

    token: str
    job_id: str
    account_id: str
    segment: int
    frame_count: int
    """Number of frames of the whole job."""
    finished_frames: int
    frames_done: int = 0
    started: float = field(default_factory=time.time)

    def at(self, frames_done: int) -> SegmentProgress:
        """Return a copy of this progress for a later state of the attempt."""
        return replace(self, frames_done=frames_done)


class ProgressWriter:
    """Keep the newest state of each attempt, and write it soon. Without a `url`, write nothing."""

    def __init__(self, url: str | None, every_seconds: float = EVERY_SECONDS) -> None:
        self._every_seconds = every_seconds
        self._latest: dict[str, SegmentProgress] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._is_urgent = False
        self._thread: threading.Thread | None = None
        if url is not None:
            self._client = redis.Redis.from_url(
                url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS, retry=None
            )
            self._script = self._client.register_script(store.WRITE)
            self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
            self._thread.start()

    def show(self, progress: SegmentProgress, *, at_once: bool = False) -> None:
        """Keep the newest state of an attempt and return. `at_once`: write it without a pause after the last write."""
        if self._thread is None:
            return
        with self._changed:
            self._latest[progress.token] = progress
            self._is_urgent = self._is_urgent or at_once
            self._changed.notify()

    def close(self) -> None:
        """Write the waiting states within a bounded time, and stop the thread."""
        if self._thread is None:
            return
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(LAST_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._latest or self._closed)
                if not self._latest:
                    break
                states, self._latest, self._is_urgent = self._latest, {}, False
            is_written = self._try_write(states)
            with self._changed:
                if self._closed:
                    break
                if is_written:
                    self._changed.wait_for(lambda: self._closed or self._is_urgent, self._every_seconds)
                else:
                    self._changed.wait_for(lambda: self._closed, RETRY_SECONDS)
        self._client.close()

    def _try_write(self, states: dict[str, SegmentProgress]) -> bool:
        """Write the states. If Redis does not answer, keep them and return False."""
        try:
            self._write(list(states.values()))
        except (RedisError, OSError):
            self._put_back(states)
            return False
        return True

    def _write(self, states: list[SegmentProgress]) -> None:
        pipeline = self._client.pipeline(transaction=False)
        for state in states:
            self._script(keys=[store.key(state.job_id)], args=_arguments(state), client=pipeline)
        pipeline.execute()

    def _put_back(self, states: dict[str, SegmentProgress]) -> None:
        """Keep states that could not be written, unless there are newer ones."""
        with self._changed:
            self._latest = dict(list({**states, **self._latest}.items())[-WAITING_MAX:])


def _arguments(state: SegmentProgress) -> list[str | int | bytes]:
    detail = orjson.dumps({"segment": state.segment, "started": round(state.started, 3)})
    return [
        state.segment, state.frames_done, state.finished_frames, state.frame_count, detail,
        store.channel(state.account_id), state.job_id, state.account_id, store.RUNNING_MS,
    ]  # fmt: skip
