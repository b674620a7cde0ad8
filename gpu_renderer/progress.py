"""Callbacks of long work: rendering a segment, writing a file."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[int], None]
"""Callback with the number of frames done."""

ShouldStop = Callable[[], bool]
"""Callback between two frames. It returns True if the work must stop. It can take long: a worker draws stills in it, and other
accounts take their turns (`cluster/worker/turns.py`)."""
