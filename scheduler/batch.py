"""Batched writes: an item that cannot be written does not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError, SQLAlchemyError, StatementError

from farm_core.storage.port import StorageUnavailable

Item = TypeVar("Item")
Write = Callable[[Sequence[Item]], Awaitable[None]]


async def together(write: Write[Item], items: Sequence[Item]) -> list[tuple[Item, Exception]]:
    """Write all items at once or, if that is refused, each alone; return the refused items with their errors.

    Raises an error that says that a store is away: a later try can succeed, so `write` must be harmless twice.
    """
    if not items:
        return []
    try:
        await write(items)
    except Exception as error:
        # The boundary of every write: an absence is the caller's to wait out, all else is found out item by item.
        if _is_absence(error):
            raise
        return [(items[0], error)] if len(items) == 1 else await _apart(write, items)
    return []


async def _apart(write: Write[Item], items: Sequence[Item]) -> list[tuple[Item, Exception]]:
    outcomes = await asyncio.gather(*(together(write, [item]) for item in items), return_exceptions=True)
    refused: list[tuple[Item, Exception]] = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        refused += outcome
    return refused


def _is_absence(error: Exception) -> bool:
    """Return True if a store is away or busy, and did not refuse the item itself."""
    if isinstance(error, StatementError):
        return isinstance(error, DBAPIError) and not isinstance(error, DataError | IntegrityError | ProgrammingError)
    return isinstance(error, SQLAlchemyError | OSError | StorageUnavailable)


@dataclass(frozen=True, slots=True, eq=False)
class _Entry(Generic[Item]):
    item: Item
    written: asyncio.Future[None]


class Batch(Generic[Item]):
    """Group commit: what is added while a write is under way is written together, next. Nothing waits for company."""

    def __init__(self, write: Write[Item]) -> None:
        self._write = write
        self._waiting: list[_Entry[Item]] = []
        self._writing: asyncio.Task[None] | None = None

    async def add(self, item: Item) -> None:
        """Wait until the item is written. Raises the error that refused it, or one that says that a store is away."""
        entry = _Entry(item, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all(), name=type(self).__name__)
        await entry.written

    @property
    def idle(self) -> bool:
        """True while nothing is written."""
        return self._writing is None

    async def drained(self) -> None:
        """Wait until all added items are written or refused."""
        if self._writing is not None:
            await self._writing

    async def _write_all(self) -> None:
        while self._waiting:
            entries, self._waiting = self._waiting, []
            errors = await self._errors(entries)
            for entry in entries:
                _tell(entry.written, errors.get(entry))
        self._writing = None

    async def _errors(self, entries: Sequence[_Entry[Item]]) -> Mapping[_Entry[Item], Exception]:
        try:
            return dict(await together(self._items_written, entries))
        except Exception as absence:
            # Group commit's boundary: what `together` raises concerns all who wait, and each of them is told.
            return dict.fromkeys(entries, absence)

    async def _items_written(self, entries: Sequence[_Entry[Item]]) -> None:
        await self._write([entry.item for entry in entries])


def _tell(written: asyncio.Future[None], error: Exception | None) -> None:
    if written.done():
        return  # whoever waited for it was cancelled
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)
