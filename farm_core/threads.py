"""Run the blocking calls of a batch on a few threads: handing over to a thread costs as much as writing a small file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS: Final = 4


async def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return `function(item)` for each item, in order. Raise the first error, while other threads continue."""
    each = -(-len(items) // THREADS)
    parts = [items[first : first + each] for first in range(0, len(items), each or 1)]
    done = await asyncio.gather(*(asyncio.to_thread(_all, function, part) for part in parts))
    return [result for part in done for result in part]


def _all(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [function(item) for item in items]
