"""Run work on other threads: a prefetched iterator, and background calls.

Each thread has one bounded queue, because futures of an executor would cost more than a frame that hardly changes.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

T = TypeVar("T")
_END: Final = object()
BACKGROUND_NICENESS: Final = 5
"""Niceness of a `BackgroundQueue`'s thread relative to its caller. It gets a third of a core that both need."""


def prefetched(source: Iterator[T], ahead_count: int) -> Generator[T, None, None]:
    """Yield the items of `source`, produced on a thread at most `ahead_count` items ahead. With 0, use no thread.

    An error of the source is raised at its place in the sequence. Closing the generator ends the thread.
    """
    if ahead_count <= 0:
        yield from source
        return
    ready: queue.Queue[object] = queue.Queue(ahead_count)
    closed, errors = threading.Event(), list[BaseException]()

    def produce() -> None:
        try:
            for item in source:
                ready.put(item)
                if closed.is_set():
                    return
        except BaseException as error:  # raised again on the consumer's thread
            errors.append(error)
        ready.put(_END)

    thread = threading.Thread(target=produce, name="ahead", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not _END:
            yield item  # type: ignore[misc]  # what is not the end is an item
        if errors:
            raise errors.pop()
    finally:
        closed.set()
        with suppress(queue.Empty):  # make room, so that a producer that waits on the full queue notices the end
            while True:
                ready.get_nowait()
        thread.join()


class BackgroundQueue(Generic[T]):
    """Queue of calls on a background thread, in order, with at most `waiting_count` waiting. With 0, use no thread.

    On Linux, where each thread has a niceness, the thread and its child threads (such as an encoder's) have a lower priority
    than the caller, which would otherwise wait for a core. An error of a call is raised by a later `send` or at the end of the
    block. Later calls still run.
    """

    def __init__(self, act: Callable[[T], None], waiting_count: int) -> None:
        self._act = act
        self._errors: list[BaseException] = []
        self._sent: queue.Queue[object] = queue.Queue(max(waiting_count, 1))
        run = (self._sent, act, self._errors)
        self._thread = (
            threading.Thread(target=_run, args=run, name="background", daemon=True) if waiting_count > 0 else None
        )

    def send(self, item: T) -> None:
        """Call the function with an item. Wait while too many calls are waiting."""
        if self._thread is None:
            self._act(item)
            return
        self._sent.put(item)
        self._raise_error()

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for all calls."""
        if self._thread is not None:
            self._sent.put(_END)
            self._thread.join()
        if kind is None:
            self._raise_error()

    def _raise_error(self) -> None:
        if self._errors:
            raise self._errors[0]


def _run(sent: queue.Queue[object], act: Callable[[T], None], errors: list[BaseException]) -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # a container can forbid it to change its priority
            os.nice(BACKGROUND_NICENESS)
    while (item := sent.get()) is not _END:
        try:
            act(item)  # type: ignore[arg-type]  # what is not the end is an item
        except BaseException as error:  # raised again on the sending thread
            errors.append(error)
