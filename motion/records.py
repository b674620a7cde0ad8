"""Frozen records that are made for every layer of every frame.

`record` is `dataclasses.dataclass` to a type checker, which refuses to change a frozen one. At run time a frozen
dataclass sets each member through a guard, which takes five times as long as setting it: `record` leaves the guard out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    T = TypeVar("T")

    def record(*, frozen: bool, slots: bool) -> Callable[[type[T]], type[T]]:
        """Return a decorator that makes a class a dataclass, compared and hashed by value as a frozen one."""
        assert frozen, "only frozen dataclasses have a guard"
        return dataclass(slots=slots, unsafe_hash=True)


__all__ = ["record"]
