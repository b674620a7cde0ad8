"""Values of the language and JavaScript's conversions between them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

STRING_MAX = 65_536
"""Longest string that may arise; the language has no loop, so only joining can grow one."""


class ExpressionError(Exception):
    """The expression has no value: the property is evaluated as if it had no expression."""


class Missing(Enum):
    """JavaScript's undefined: a missing member or argument."""

    UNDEFINED = "undefined"


UNDEFINED = Missing.UNDEFINED

_Scalar = float | bool | str | None | Missing


class Native(NamedTuple):
    """A function that expressions may call."""

    call: Callable[[Sequence[Value]], Value]


class Record(NamedTuple):
    """An object with fixed members."""

    members: dict[str, Value]


Value = _Scalar | tuple["Value", ...] | Native | Record

SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""JavaScript's white space."""

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_RADIX = {"0x": 16, "0o": 8, "0b": 2}
_REFUSED = frozenset({"__proto__", "constructor", "prototype"})


def truthy(value: Value) -> bool:
    """Return True if a condition holds."""
    if isinstance(value, float):
        return value != 0.0 and not math.isnan(value)
    if isinstance(value, bool | str):
        return bool(value)
    return value is not None and value is not UNDEFINED


def number(value: Value) -> float:
    """Return the value as a number, NaN if it cannot be converted."""
    if isinstance(value, float):
        return value
    if isinstance(value, bool):
        return 1.0 if value else 0.0
    if value is None:
        return 0.0
    if isinstance(value, str):
        return _parsed(value)
    return _parsed(text(value)) if _is_array(value) else math.nan


def text(value: Value) -> str:
    """Return the value as JavaScript writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _written(value)
    if value is None:
        return "null"
    if _is_array(value):
        return _joined(value)
    return "undefined" if value is UNDEFINED else "[object Object]"


def plus(a: Value, b: Value) -> Value:
    """Return the sum of two numbers; text where a side is a string, an array or an object."""
    if isinstance(a, float) and isinstance(b, float):
        return a + b
    if _is_text_like(a) or _is_text_like(b):
        joined = text(a) + text(b)
        if len(joined) > STRING_MAX:
            raise ExpressionError("the string is too long")
        return joined
    return number(a) + number(b)


def divide(a: float, b: float) -> float:
    """a / b, infinite or NaN for a zero b."""
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def remainder(a: float, b: float) -> float:
    """Return the remainder with the sign of a."""
    return math.nan if b == 0.0 or math.isinf(a) else math.fmod(a, b)


def less(a: Value, b: Value) -> bool | None:
    """Return True if a < b, None if the two cannot be ordered."""
    if isinstance(a, str | tuple) and isinstance(b, str | tuple):
        return _units(text(a)) < _units(text(b))
    x, y = number(a), number(b)
    return None if math.isnan(x) or math.isnan(y) else x < y


def same(a: Value, b: Value) -> bool:
    """Return the operator `===`: arrays and objects are equal to themselves only."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        return _is_one(a, b)
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def loosely_equal(a: Value, b: Value) -> bool:
    """Return the operator `==`, which converts before it compares."""
    if a is None or a is UNDEFINED or b is None or b is UNDEFINED:
        return (a is None or a is UNDEFINED) and (b is None or b is UNDEFINED)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _is_one(a, b)
    if isinstance(a, str | tuple) and isinstance(b, str | tuple):
        return text(a) == text(b)
    return number(a) == number(b)


def member(value: Value, key: Value) -> Value:
    """Return a member by name or index, UNDEFINED if it is missing. Raises for null and for refused names."""
    if value is None or value is UNDEFINED:
        raise ExpressionError("null has no members")
    if isinstance(key, bool) or not isinstance(key, str | float):
        raise ExpressionError("a member is named by a string or a number")
    name = key if isinstance(key, str) else _written(key)
    if name in _REFUSED:
        raise ExpressionError(f"the member {name} is refused")
    if isinstance(value, Record):
        return value.members.get(name, UNDEFINED)
    if isinstance(value, Native) or not isinstance(value, str | tuple):
        return UNDEFINED
    return _element(value, name)


def call(value: Value, arguments: Sequence[Value]) -> Value:
    """Return the result of calling a function. Raises if the value is not a function."""
    if not isinstance(value, Native):
        raise ExpressionError("what is called is no function")
    return value.call(arguments)


def _element(value: str | tuple[Any, ...], name: str) -> Value:
    if isinstance(value, str) and not value.isascii():
        return _element(tuple(unit.decode("utf-16-be", "surrogatepass") for unit in _units(value)), name)
    if name == "length":
        return float(len(value))
    if name.isascii() and name.isdigit() and len(name) < 10 and (name == "0" or name[0] != "0"):
        index = int(name)
        element: Value = value[index] if index < len(value) else UNDEFINED
        return element
    return UNDEFINED


def _is_one(a: Value, b: Value) -> bool:
    return a is b and a != ()  # Python has a single empty tuple, but each `[]` is an array of its own


def _units(written: str) -> list[bytes]:
    """Return the UTF-16 code units, of which JavaScript's strings consist, in an order that compares as they do."""
    encoded = written.encode("utf-16-be", "surrogatepass")
    return [encoded[at : at + 2] for at in range(0, len(encoded), 2)]


def _is_array(value: Value) -> bool:
    return isinstance(value, tuple) and not isinstance(value, Native | Record)


def _is_text_like(value: Value) -> bool:
    return isinstance(value, str | tuple)


def _joined(value: Value) -> str:
    assert isinstance(value, tuple)
    joined = ",".join("" if part is None or part is UNDEFINED else text(part) for part in value)
    if len(joined) > STRING_MAX:
        raise ExpressionError("the string is too long")
    return joined


def _parsed(written: str) -> float:
    written = written.strip(SPACE)
    if not written:
        return 0.0
    if _DECIMAL.match(written):
        return float(written)
    if written in {"Infinity", "+Infinity", "-Infinity"}:
        return -math.inf if written[0] == "-" else math.inf
    radix = _RADIX.get(written[:2].lower())
    try:
        return float(int(written[2:], radix)) if radix and written.isascii() and written[2:].isalnum() else math.nan
    except (ValueError, OverflowError):
        return math.nan


def _written(value: float) -> str:
    """Return the shortest digits that read back as the same number, in JavaScript's layout."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0.0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, exponent = f"{abs(value)!r}e0".split("e")[:2]
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction if fraction != "0" else ""
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """Return the digits with a decimal point before digit number `point`, or with an exponent."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
