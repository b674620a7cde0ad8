"""Work on another thread while a block runs, such as reports of a long step, so that a command is never silent for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

SILENT_SECONDS: Final = 10.0
"""Longest silence of a command that works."""


@contextmanager
def repeating(act: Callable[[], None], pause_seconds: float = 0.0) -> Iterator[None]:
    """Call `act` on another thread after each pause, until the block ends."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(pause_seconds):
            act()

    thread = threading.Thread(target=repeat, name="repeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def reporting(report: Callable[[float], None]) -> Iterator[None]:
    """Call `report` on another thread with the seconds so far, each time that the block has run for ten more."""
    began = time.monotonic()
    with repeating(lambda: report(time.monotonic() - began), SILENT_SECONDS):
        yield
