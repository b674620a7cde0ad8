"""Readers of one JSON value. Each returns the value in its type, or a default if it is absent or of another type."""

from __future__ import annotations

import math
from typing import TypeVar, Union

from motion.errors import BundleUnreadable

JsonValue = Union[None, bool, int, float, str, "list[JsonValue]", "dict[str, JsonValue]"]
Record = dict[str, JsonValue]
Document = dict[str, JsonValue]
"""The whole document as plain JSON, migrated to the current version."""

LEVELS_MAX = 254
"""Deepest nesting of a document: ten times that of real ones, and the limit of orjson."""
CONTAINERS_MAX = 250_000
"""Objects and arrays in a document: seventy times what the largest known one has."""
VALUES_MAX = 2_000_000
"""Members of all objects and arrays of a document."""
NAME_CHARACTERS_MAX = 500
"""Most characters of a layer's or composition's name. Warnings, errors and labels of inputs repeat it."""
Word = TypeVar("Word", bound=str)
_HOLDERS = (dict, list)
LARGEST = 1e9
"""Numbers are clamped to +-1e9: far outside any picture, and safe in arithmetic."""


def copied(value: JsonValue, levels: int = LEVELS_MAX) -> JsonValue:
    """Return a deep copy of the value. `copy.deepcopy` takes three times as long, because it looks for shared objects.

    Raises BundleUnreadable if the value is nested deeper than `levels`.
    """
    if isinstance(value, _HOLDERS) and levels == 0:
        raise BundleUnreadable(f"The JSON is nested deeper than {LEVELS_MAX} levels.")
    if isinstance(value, dict):
        return {key: copied(item, levels - 1) if isinstance(item, _HOLDERS) else item for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item, levels - 1) if isinstance(item, _HOLDERS) else item for item in value]
    return value


def exact(value: object) -> float | None:
    """Return a JSON number as a float, None for other values, NaN and infinities. For seeds, whose every digit counts."""
    if type(value) is int:
        try:
            value = float(value)
        except OverflowError:
            return None
    return value if type(value) is float and math.isfinite(value) else None  # exact types: a bool is not a number


def finite(value: object) -> float | None:
    """Return a JSON number as a bounded float, None for other values, NaN and infinities."""
    number = exact(value)
    return None if number is None else -LARGEST if number < -LARGEST else LARGEST if number > LARGEST else number


def number(record: Record, key: str, default: float) -> float:
    """Return the number under a key, else the default."""
    value = finite(record.get(key))
    return default if value is None else value


def text(record: Record, key: str, default: str = "") -> str:
    """Return the string under a key, else the default."""
    value = record.get(key)
    return value if isinstance(value, str) else default


def text_or_none(record: Record, key: str) -> str | None:
    """Return the string under a key, None if it is missing or empty."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def one_of(record: Record, key: str, default: Word, *others: Word) -> Word:
    """Return the string under a key if it is one of the words, else the default."""
    value = record.get(key)
    return next((word for word in others if word == value), default)


def flag(record: Record, key: str, default: bool = False) -> bool:
    """Return the boolean under a key, else the default."""
    value = record.get(key)
    return value if isinstance(value, bool) else default


def as_record(value: JsonValue) -> Record:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def record(holder: Record, key: str) -> Record:
    """Return the object under a key, else an empty one."""
    return as_record(holder.get(key))


def items(holder: Record, key: str) -> list[JsonValue]:
    """Return the array under a key, else an empty one."""
    value = holder.get(key)
    return value if isinstance(value, list) else []


def records(holder: Record, key: str) -> list[Record]:
    """Return the objects in the array under a key; entries of other types are dropped."""
    return [item for item in items(holder, key) if isinstance(item, dict)]


def scene_nodes(document: Document) -> list[Record]:
    """Return the records of all layers, groups and compositions, in file order."""
    return records(record(document, "scene"), "nodes")


def numbers(holder: Record, key: str) -> tuple[float, ...]:
    """Return the finite numbers in the array under a key."""
    return tuple(value for item in items(holder, key) if (value := finite(item)) is not None)


def strings(holder: Record, key: str) -> tuple[str, ...]:
    """Return the strings in the array under a key."""
    return tuple(item for item in items(holder, key) if isinstance(item, str))


def stored_name(field: str) -> str:
    """Return the stored key of a field's name: `max_particles` is stored as `maxParticles`."""
    first, *rest = field.split("_")
    return first + "".join(part.capitalize() for part in rest)
