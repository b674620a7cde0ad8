"""The canonical key of a snapshot: equal snapshots have equal keys, on every machine and in every process."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from motion.snapshot import LayerSnapshot, Snapshot, Source

DIGEST_BYTES = 20
REMEMBERED = 2048
"""Number of layers and sources whose digests are cached: unchanged ones stay the same object."""

_UNSEEN: dict[type, frozenset[str]] = {LayerSnapshot: frozenset({"name"})}
"""Members that do not change the picture."""

_SHARED: frozenset[type] = frozenset((LayerSnapshot, Snapshot, *Source.__args__))
_known: dict[int, tuple[object, bytes]] = {}


def key(snapshot: Snapshot) -> str:
    """Return the digest of everything in the snapshot that changes the picture, as hexadecimal digits."""
    return _digest(snapshot).hex()


def _digest(value: object) -> bytes:
    """Return the digest of a record, remembered by the object's identity."""
    found = _known.get(id(value))
    if found is not None and found[0] is value:
        return found[1]
    parts: list[bytes] = []
    _write_record(value, parts)
    digest = hashlib.blake2b(b"".join(parts), digest_size=DIGEST_BYTES).digest()
    if len(_known) >= REMEMBERED:
        _known.clear()
    _known[id(value)] = (value, digest)
    return digest


def _write(value: object, parts: list[bytes]) -> None:
    """Append a value: a letter for its type, the length of texts and lists, and the bytes. Whole numbers count as floats."""
    kind = type(value)
    if kind is float or kind is int:
        parts.append(b"f" + struct.pack("<d", value + 0.0))  # type: ignore[operator]
    elif kind is str:
        encoded = value.encode("utf-8", "surrogatepass")  # type: ignore[attr-defined]
        parts.append(b"s" + struct.pack("<I", len(encoded)) + encoded)
    elif value is None:
        parts.append(b"n")
    elif kind is bool:
        parts.append(b"t" if value else b"b")
    elif isinstance(value, tuple):
        parts.append(b"(" + struct.pack("<I", len(value)))
        for member in value:
            _write(member, parts)
    elif kind in _SHARED:
        parts.append(b"#" + _digest(value))
    else:
        _write_record(value, parts)


def _write_record(value: object, parts: list[bytes]) -> None:
    kind: Any = type(value)
    name, members = _members(kind)
    parts.append(name)
    for member in members(value):
        _write(member, parts)


@cache
def _members(kind: type) -> tuple[bytes, Callable[[object], tuple[object, ...]]]:
    """Return a record's name and the getter of its members, in declared order."""
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__name__} cannot be part of a snapshot")
    unseen = _UNSEEN.get(kind, frozenset())
    names = [field.name for field in fields(kind) if field.name not in unseen]
    read = attrgetter(*names) if names else _nothing
    return f"<{kind.__name__}".encode(), (lambda value: (read(value),)) if len(names) == 1 else read


def _nothing(value: object) -> tuple[object, ...]:
    return ()
