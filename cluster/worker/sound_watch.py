"""Watch how long a worker takes to open a sound file, and react if it exceeds the limit.

Libraries open files in one call that cannot be interrupted: a file of 3 MB with 100,000 different tags takes a minute.
Frames of segments have a limit in the scheduler. Assemblies have none, because storing a large video can take hours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

EVERY_SECONDS: Final = 1.0

Pause = Callable[[], None]
"""Callback between two steps. Other assignments of the worker can run in it."""


class SoundSteps:
    """Duration of the current step of reading a job's sound files."""

    def __init__(self) -> None:
        self._began: float | None = None

    @property
    def seconds(self) -> float:
        """Return the time since the current step began, or 0 while no sound file is read."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    @contextmanager
    def reading(self, pause: Pause) -> Iterator[Pause]:
        """Measure the steps of the block. It must call the returned function, which calls `pause`, between two steps."""
        is_reading = True

        def between_steps() -> None:
            self._began = None
            pause()
            self._began = time.monotonic() if is_reading else None

        self._began = time.monotonic()
        try:
            yield between_steps
        finally:
            is_reading, self._began = False, None


class SoundWatch:
    """Call `exceeded` once, on a separate thread, when a step takes more than `seconds_max`."""

    def __init__(
        self,
        steps: Callable[[], SoundSteps],
        seconds_max: float,
        exceeded: Callable[[], None],
        *,
        every_seconds: float = EVERY_SECONDS,
    ) -> None:
        """Call `steps` on the separate thread. It can wait until the worker is ready."""
        self._steps, self._seconds_max, self._exceeded, self._every = steps, seconds_max, exceeded, every_seconds
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sound", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        steps = self._steps()
        while not self._closed.wait(self._every):
            if steps.seconds > self._seconds_max:
                self._exceeded()
                return
