"""Signals that end a local render."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from gpu_renderer.progress import ShouldStop

ENDING: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopped_by_signals() -> Iterator[ShouldStop]:
    """Let SIGINT and SIGTERM stop the render of a block between two frames, on the main thread. A second one acts at once.

    Yield the render's `should_stop`. After the block, the signal does what it would have done outside of it. If its handler raised
    an exception within a frame, that could leave a lock locked, and the render's other threads would never end.
    """
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in ENDING}

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        restore()

    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield lambda: bool(received)
    finally:
        restore()
        if received:
            signal.raise_signal(received[0])
