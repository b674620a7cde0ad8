"""SIGINT and SIGTERM while a command does what must not be interrupted, or starts other processes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

ENDING: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def deferred_signals() -> Iterator[Callable[[], bool]]:
    """Let SIGINT and SIGTERM act when the block has ended. Yield a function that returns True once one has arrived.

    On another thread than the main one, which never gets signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    received: list[int] = []
    former = {number: signal.getsignal(number) for number in ENDING}

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    for number, handler in former.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def interrupts_unseen_by_children() -> Iterator[None]:
    """Let processes that a block starts never see Ctrl-C of a terminal, which is for their parent: they inherit blocked signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
