"""Work on other threads: an iterator taken ahead of its consumer, and calls executed behind their caller."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")
_END = object()


def iterated_ahead(source: Iterator[T], ahead_count: int) -> Generator[T, None, None]:
    """Yield the items of `source`, produced on a thread at most `ahead_count` items ahead; 0 uses no thread.

    An error of the source is raised in its place. Closing the generator ends the thread.
    """
    if ahead_count <= 0:
        yield from source
        return
    thread = ThreadPoolExecutor(1, "ahead")
    coming = deque(thread.submit(next, source, _END) for _ in range(ahead_count))
    try:
        while (item := coming.popleft().result()) is not _END:
            coming.append(thread.submit(next, source, _END))
            yield item  # type: ignore[misc]  # what is not the end is an item
    finally:
        thread.shutdown(cancel_futures=True)


class Behind(Generic[T]):
    """Calls of a function in order on a thread of their own, at most `behind_count` waiting; 0 uses no thread.

    An error of a call is raised by a later `send` or by the end of the block. After an error in the block the waiting
    calls are dropped.
    """

    def __init__(self, act: Callable[[T], None], behind_count: int) -> None:
        self._act, self._behind_count = act, behind_count
        self._thread = ThreadPoolExecutor(1, "behind") if behind_count > 0 else None
        self._calls: deque[Future[None]] = deque()

    def send(self, item: T) -> None:
        """Call the function with an item. Wait while too many calls are waiting."""
        if self._thread is None:
            self._act(item)
            return
        self._calls.append(self._thread.submit(self._act, item))
        while len(self._calls) > self._behind_count + 1:
            self._calls.popleft().result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for all calls."""
        try:
            while kind is None and self._calls:
                self._calls.popleft().result()
        finally:
            if self._thread is not None:
                self._thread.shutdown(cancel_futures=True)
