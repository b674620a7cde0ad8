"""Callbacks of long work: rendering a segment, writing a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

OnProgress = Callable[[int], None]
"""Callback with the number of frames done."""

ShouldStop = Callable[[], bool]
"""Callback between two frames. It returns True if the work must stop. It can take long: a worker draws stills in it, and other
accounts take their turns (`cluster/worker/turns.py`)."""


def _ignore_progress(_frames: int) -> None:
    pass


def _never_stop() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Functions that the render of a segment calls after each frame. By default they do nothing."""

    on_progress: OnProgress = _ignore_progress
    should_stop: ShouldStop = _never_stop


NO_CALLBACKS: Final = Callbacks()
