"""Cache of a function's results by the identity of its arguments, like `functools.lru_cache` without hashing them.

Parts of a layer that do not move are the same objects from frame to frame (`motion.evaluate`). Looking up an object by its
identity takes a fraction of the time of hashing and comparing it, and distinguishes 1, 1.0 and True.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def cached_by_identity(count_max: int) -> Callable[[F], F]:
    """Return a decorator that caches the results of a pure function. A full cache of `count_max` results is cleared.

    The arguments must be positional and immutable. The cache holds them with the result, so that no other object can
    get their identity.
    """

    def decorate(function: F) -> F:
        cached: dict[tuple[int, ...], tuple[tuple[object, ...], Any]] = {}

        @wraps(function)
        def lookup(*arguments: object) -> Any:
            key = tuple(map(id, arguments))
            entry = cached.get(key)
            if entry is not None:
                return entry[1]
            result = function(*arguments)
            if len(cached) >= count_max:
                cached.clear()
            cached[key] = arguments, result
            return result

        return lookup  # type: ignore[return-value]  # it takes the same arguments

    return decorate
