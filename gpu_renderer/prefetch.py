"""Taking from an iterator on another thread, a bounded number of items ahead."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


def iterated_ahead(source: Iterator[T], ahead_count: int) -> Generator[T, None, None]:
    """The items of `source`, produced on a thread that is at most `ahead_count` items ahead; 0 uses no thread.

    An error of the source is raised in its place. Closing the result ends the thread.
    """
    if ahead_count <= 0:
        yield from source
        return
    ready: queue.Queue[_Item[T] | _End] = queue.Queue(ahead_count)
    closed = threading.Event()
    thread = threading.Thread(target=_produce, args=(source, ready, closed), name="ahead", daemon=True)
    thread.start()
    try:
        while isinstance(item := ready.get(), _Item):
            yield item.value
        if item.error is not None:
            raise item.error
    finally:
        closed.set()
        _empty(ready)
        thread.join()


def _produce(source: Iterator[T], ready: queue.Queue[_Item[T] | _End], closed: threading.Event) -> None:
    end = _End(None)
    try:
        for value in source:
            ready.put(_Item(value))
            if closed.is_set():
                return
    except BaseException as error:  # carried over to the consumer's thread, whatever it is
        end = _End(error)
    ready.put(end)


def _empty(ready: queue.Queue[_Item[T] | _End]) -> None:
    """Make room, so that a producer that waits on the full queue sees that it is closed."""
    while True:
        try:
            ready.get_nowait()
        except queue.Empty:
            return
