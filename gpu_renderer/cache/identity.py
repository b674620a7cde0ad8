"""Results of a function, kept for the very objects that it was asked about.

Parts of a layer that do not move are the same objects from frame to frame (`motion.evaluate`). To find what is known of an
object by its identity takes a fraction of hashing and comparing it, and tells 1, 1.0 and True apart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def kept_by_identity(count_max: int) -> Callable[[F], F]:
    """Return a decorator that keeps `count_max` results of a pure function; for more, it begins anew.

    The arguments are positional and never change. They are kept with the result, so that no other object can have
    their identity.
    """

    def decorated(function: F) -> F:
        kept: dict[tuple[int, ...], tuple[tuple[object, ...], Any]] = {}

        @wraps(function)
        def found(*arguments: object) -> Any:
            key = tuple(map(id, arguments))
            known = kept.get(key)
            if known is not None:
                return known[1]
            made = function(*arguments)
            if len(kept) >= count_max:
                kept.clear()
            kept[key] = arguments, made
            return made

        return found  # type: ignore[return-value]  # it takes the same arguments

    return decorated
