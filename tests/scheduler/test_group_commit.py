"""Group commit: the effect of one item on the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy.exc import DataError, OperationalError

from scheduler.group_commit import GroupCommit, write_together

AWAY = OperationalError("", {}, Exception("the server went away"))
UNWRITABLE = DataError("", {}, Exception("text cannot hold a zero"))


class Store:
    """Store of numbers that accepts all of a write or nothing. It refuses odd numbers, and everything while it is
    away."""

    def __init__(self) -> None:
        self.writes: list[list[int]] = []
        self.away = False
        self.open = asyncio.Event()
        self.open.set()

    async def write(self, numbers: Sequence[int]) -> None:
        await self.open.wait()
        if self.away:
            raise AWAY
        if any(number % 2 for number in numbers):
            raise UNWRITABLE
        self.writes.append(list(numbers))


def test_items_are_written_together() -> None:
    store = Store()
    assert asyncio.run(write_together(store.write, [2, 4, 6])) == []
    assert store.writes == [[2, 4, 6]]


def test_a_refused_item_does_not_affect_the_others() -> None:
    store = Store()
    assert asyncio.run(write_together(store.write, [2, 3, 4])) == [(3, UNWRITABLE)]
    assert store.writes == [[2], [4]]


def test_a_store_that_is_away_is_no_refusal() -> None:
    store = Store()
    store.away = True
    with pytest.raises(OperationalError):
        asyncio.run(write_together(store.write, [2, 3, 4]))


async def test_an_item_waits_for_others_if_it_is_told_to() -> None:
    store = Store()
    commit = GroupCommit(store.write, lambda items: 0.05 if items < 2 else 0.0)
    first = asyncio.create_task(commit.add(2))
    await asyncio.sleep(0)
    await asyncio.gather(first, commit.add(4))
    assert store.writes == [[2, 4]]


async def test_items_added_during_a_write_are_written_together_next() -> None:
    store = Store()
    commit = GroupCommit(store.write)
    store.open.clear()
    adding = [asyncio.create_task(commit.add(2))]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    adding += [asyncio.create_task(commit.add(number)) for number in (4, 6, 8)]
    await asyncio.sleep(0)
    store.open.set()
    await asyncio.gather(*adding)
    await commit.drain()
    assert store.writes == [[2], [4, 6, 8]]


async def test_each_item_gets_its_own_error() -> None:
    store = Store()
    commit = GroupCommit(store.write)
    fates = await asyncio.gather(*(commit.add(number) for number in (2, 3, 4)), return_exceptions=True)
    assert fates == [None, UNWRITABLE, None]
    store.away = True
    fates = await asyncio.gather(*(commit.add(number) for number in (2, 4)), return_exceptions=True)
    assert fates == [AWAY, AWAY]


async def test_a_cancelled_item_does_not_hold_up_the_others() -> None:
    store = Store()
    commit = GroupCommit(store.write)
    store.open.clear()
    adding = [asyncio.create_task(commit.add(number)) for number in (2, 4)]
    await asyncio.sleep(0)
    adding[0].cancel()
    store.open.set()
    await adding[1]
    assert store.writes == [[2, 4]]
