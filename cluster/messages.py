"""Version of the messages between schedulers and workers.

Ray passes a message as its field values in order. A process of a release with other fields assigns the values to wrong
fields without an error. The names of workers contain the version, so that schedulers use only workers that understand
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final, get_args, get_type_hints

from cluster.worker.render_actor import ActorReport
from scheduler.ports import DrawnStill, Report, StillAssignment, TaskAssignment

_DIGITS: Final = 6


def version_of(*kinds: Any) -> str:
    """Return a digest of the fields of dataclasses, and of those in their fields."""
    seen: dict[type, list[tuple[str, str]]] = {}
    for kind in kinds:
        _describe(kind, seen)
    described = sorted((kind.__qualname__, listed) for kind, listed in seen.items())
    return hashlib.sha256(repr(described).encode()).hexdigest()[:_DIGITS]


def _describe(hint: Any, seen: dict[type, list[tuple[str, str]]]) -> None:
    """Add the dataclasses in a type hint."""
    for kind in _dataclasses(hint):
        if kind not in seen:
            seen[kind] = [(field.name, str(field.type)) for field in fields(kind)]
            for inner in get_type_hints(kind).values():
                _describe(inner, seen)


def _dataclasses(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and is_dataclass(hint):
        yield hint
    for argument in get_args(hint):
        yield from _dataclasses(argument)


VERSION: Final = version_of(TaskAssignment, StillAssignment, Report, DrawnStill, ActorReport)
