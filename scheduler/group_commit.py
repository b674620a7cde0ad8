"""Group commit: write waiting items together. One item that cannot be written does not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError, SQLAlchemyError, StatementError

from farm_core.storage.port import StorageUnavailable

Item = TypeVar("Item")
Write = Callable[[Sequence[Item]], Awaitable[None]]


async def write_together(write: Write[Item], items: Sequence[Item]) -> list[tuple[Item, Exception]]:
    """Write all items at once. If that fails, write them one by one and return the refused items with their errors.

    Raises an error if a store is away; the caller can try again, so `write` must be idempotent.
    """
    if not items:
        return []
    try:
        await write(items)
    except Exception as error:
        # Outer boundary of every write. If a store is away, the caller waits; after any other error, each item is tried
        # alone.
        if is_store_away(error):
            raise
        return [(items[0], error)] if len(items) == 1 else await _write_each(write, items)
    return []


async def _write_each(write: Write[Item], items: Sequence[Item]) -> list[tuple[Item, Exception]]:
    outcomes = await asyncio.gather(*(write_together(write, [item]) for item in items), return_exceptions=True)
    refused: list[tuple[Item, Exception]] = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        refused += outcome
    return refused


def is_store_away(error: Exception) -> bool:
    """Return True if the error means that a store is away or busy, and not that the item was refused."""
    if isinstance(error, StatementError):
        return isinstance(error, DBAPIError) and not isinstance(error, DataError | IntegrityError | ProgrammingError)
    return isinstance(error, SQLAlchemyError | OSError | StorageUnavailable)


@dataclass(frozen=True, slots=True, eq=False)
class _Entry(Generic[Item]):
    item: Item
    written: asyncio.Future[None]


class GroupCommit(Generic[Item]):
    """Writer that collects the items added during a write and writes them together next.

    `pause` returns how many seconds the given number of items waits for more. By default, no item waits for others to arrive.
    """

    def __init__(self, write: Write[Item], pause: Callable[[int], float] = lambda items: 0.0) -> None:
        self._write = write
        self._pause = pause
        self._waiting: list[_Entry[Item]] = []
        self._writing: asyncio.Task[None] | None = None

    async def add(self, item: Item) -> None:
        """Wait until the item is written. Raises the error of the refused item, or the error of a store that is away."""
        entry = _Entry(item, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all(), name=type(self).__name__)
        await entry.written

    @property
    def idle(self) -> bool:
        """True while no write is in progress."""
        return self._writing is None

    async def drain(self) -> None:
        """Wait until every added item is written or refused."""
        if self._writing is not None:
            await self._writing

    async def _write_all(self) -> None:
        while self._waiting:
            if seconds := self._pause(len(self._waiting)):
                await asyncio.sleep(seconds)
            entries, self._waiting = self._waiting, []
            errors = await self._errors(entries)
            for entry in entries:
                _resolve(entry.written, errors.get(entry))
        self._writing = None

    async def _errors(self, entries: Sequence[_Entry[Item]]) -> Mapping[_Entry[Item], Exception]:
        try:
            return dict(await write_together(self._write_items, entries))
        except Exception as store_away:
            # Outer boundary of group commit: an error of `write_together` concerns every waiting item.
            return dict.fromkeys(entries, store_away)

    async def _write_items(self, entries: Sequence[_Entry[Item]]) -> None:
        await self._write([entry.item for entry in entries])


def _resolve(written: asyncio.Future[None], error: Exception | None) -> None:
    if written.done():
        return  # the waiting caller was cancelled
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)
