"""Report long steps while they run, so that a command is never silent for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

SILENT_SECONDS: Final = 10.0
"""Longest silence of a command that works."""


@contextmanager
def reporting(report: Callable[[float], None]) -> Iterator[None]:
    """Call `report` on another thread with the seconds so far, each time that the block has run for ten more."""
    began, ended = time.monotonic(), threading.Event()

    def keep_reporting() -> None:
        while not ended.wait(SILENT_SECONDS):
            report(time.monotonic() - began)

    thread = threading.Thread(target=keep_reporting, name="report", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
