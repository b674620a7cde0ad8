"""Group commit: write waiting items together. An item that cannot be written does not affect the others."""

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
    """Write all items at once or, if that is refused, each alone; return the refused items with their errors.

    Raises an error that says that a store is away: a later try can succeed, so `write` must be harmless twice.
    """
    if not items:
        return []
    try:
        await write(items)
    except Exception as error:
        # The boundary of every write: the caller waits for a store that is away. Any other error is tried item by item.
        if _is_store_away(error):
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


def _is_store_away(error: Exception) -> bool:
    """Return True if a store is away or busy, and did not refuse the item itself."""
    if isinstance(error, StatementError):
        return isinstance(error, DBAPIError) and not isinstance(error, DataError | IntegrityError | ProgrammingError)
    return isinstance(error, SQLAlchemyError | OSError | StorageUnavailable)


@dataclass(frozen=True, slots=True, eq=False)
class _Entry(Generic[Item]):
    item: Item
    written: asyncio.Future[None]


class GroupCommit(Generic[Item]):
    """Writer of items: those added while a write is under way are written together, next. An item never waits for others to join it."""

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

    async def drain(self) -> None:
        """Wait until all added items are written or refused."""
        if self._writing is not None:
            await self._writing

    async def _write_all(self) -> None:
        while self._waiting:
            entries, self._waiting = self._waiting, []
            errors = await self._errors(entries)
            for entry in entries:
                _resolve(entry.written, errors.get(entry))
        self._writing = None

    async def _errors(self, entries: Sequence[_Entry[Item]]) -> Mapping[_Entry[Item], Exception]:
        try:
            return dict(await write_together(self._write_items, entries))
        except Exception as store_away:
            # The boundary of group commit: an error of `write_together` concerns every waiting item.
            return dict.fromkeys(entries, store_away)

    async def _write_items(self, entries: Sequence[_Entry[Item]]) -> None:
        await self._write([entry.item for entry in entries])


def _resolve(written: asyncio.Future[None], error: Exception | None) -> None:
    if written.done():
        return  # the caller that waited was cancelled
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)
