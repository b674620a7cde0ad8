"""Functions without context: Math, interpolation, vectors (animation.md 4.5, 4.10)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from motion.formulas.easing import clamp_unit
from motion.formulas.expressions.values import UNDEFINED, ExpressionError, Native, Record, Value, divide, number

Vector = tuple[float, ...]


def argument(arguments: Sequence[Value], at: int, default: float = math.nan) -> float:
    """Return an argument as a number, or the default if it is missing."""
    return number(arguments[at]) if at < len(arguments) and arguments[at] is not UNDEFINED else default


def is_given(arguments: Sequence[Value], at: int) -> bool:
    """Return True if the argument is present."""
    return at < len(arguments) and arguments[at] is not UNDEFINED


def vector(value: Value) -> Vector:
    """Return a scalar as a vector of one, an array as its numbers. Raises for an empty array."""
    if isinstance(value, tuple) and not isinstance(value, Native | Record):
        parts = tuple(number(part) for part in value)
    else:
        parts = (number(value),)
    if not parts:
        raise ExpressionError("an empty array is no vector")
    return parts


def round_half_up(x: float) -> float:
    """Round halves toward plus infinity, as Math.round does: exact for every number, -0 below zero."""
    if not math.isfinite(x):
        return x
    whole = math.floor(x)
    return math.copysign(whole + (x - whole >= 0.5), x)


def _total(function: Callable[..., float], count: int) -> Native:
    """Return a function of `count` numbers that returns NaN or infinity instead of raising."""

    def call(arguments: Sequence[Value]) -> Value:
        try:
            return float(function(*(argument(arguments, at) for at in range(count))))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return Native(call)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """Return a function to whole numbers that keeps the sign of zero."""
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


def _log(base: Callable[[float], float], at_zero: float) -> Callable[[float], float]:
    return lambda x: -math.inf if x == at_zero else base(x)


def _sign(x: float) -> float:
    return x if x == 0.0 or math.isnan(x) else math.copysign(1.0, x)


def _fround(x: float) -> float:
    if not math.isfinite(x):
        return x
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def _atanh(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1.0 else math.atanh(x)


def _pow(x: float, y: float) -> float:
    if math.isnan(y) or (abs(x) == 1.0 and math.isinf(y)):
        return math.nan
    if x == 0.0 and y < 0.0:
        is_odd = y == math.trunc(y) and math.fmod(y, 2.0) != 0.0
        return math.copysign(math.inf, x) if is_odd else math.inf
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and math.fmod(y, 2.0) != 0.0 else math.inf


def _hypot(arguments: Sequence[Value]) -> Value:
    return math.hypot(*map(number, arguments))


def _extreme(choose: Callable[[list[float]], float], empty: float) -> Native:
    def call(arguments: Sequence[Value]) -> Value:
        numbers = [number(value) for value in arguments]
        if any(map(math.isnan, numbers)):
            return math.nan
        return choose(numbers) if numbers else empty

    return Native(call)


_ONE: Mapping[str, Callable[[float], float]] = {
    "abs": abs,
    "acos": math.acos,
    "asin": math.asin,
    "atan": math.atan,
    "acosh": math.acosh,
    "asinh": math.asinh,
    "atanh": _atanh,
    "cbrt": math.cbrt,
    "ceil": _whole(math.ceil),
    "cos": math.cos,
    "cosh": math.cosh,
    "exp": math.exp,
    "expm1": math.expm1,
    "floor": _whole(math.floor),
    "fround": _fround,
    "log": _log(math.log, 0.0),
    "log10": _log(math.log10, 0.0),
    "log1p": _log(math.log1p, -1.0),
    "log2": _log(math.log2, 0.0),
    "round": round_half_up,
    "sign": _sign,
    "sin": math.sin,
    "sinh": lambda x: math.copysign(math.inf, x) if abs(x) > 710.5 else math.sinh(x),
    "sqrt": math.sqrt,
    "tan": math.tan,
    "tanh": math.tanh,
    "trunc": _whole(math.trunc),
}
_CONSTANTS = {
    "E": math.e,
    "LN10": math.log(10.0),
    "LN2": math.log(2.0),
    "LOG10E": math.log10(math.e),
    "LOG2E": math.log2(math.e),
    "PI": math.pi,
    "SQRT1_2": math.sqrt(0.5),
    "SQRT2": math.sqrt(2.0),
}
MATH = Record(
    {
        **_CONSTANTS,
        **{name: _total(function, 1) for name, function in _ONE.items()},
        "atan2": _total(math.atan2, 2),
        "pow": _total(_pow, 2),
        "hypot": Native(_hypot),
        "max": _extreme(max, -math.inf),
        "min": _extreme(min, math.inf),
    }
)
"""The Math object; `random` is left out, because a frame must be the same every time."""


def _interpolation(curve: Callable[[float], float]) -> Native:
    """Return `linear` or an eased variant: five arguments, or three with the input range 0..1."""

    def call(arguments: Sequence[Value]) -> Value:
        t, a, b = (argument(arguments, at) for at in range(3))
        if not (is_given(arguments, 3) and is_given(arguments, 4)):
            a, b, c, d = 0.0, 1.0, a, b
        else:
            c, d = argument(arguments, 3), argument(arguments, 4)
        k = 0.0 if a == b else clamp_unit(divide(t - a, b - a))
        return c + (d - c) * curve(k)

    return Native(call)


def _clamp(arguments: Sequence[Value]) -> Value:
    value, low, high = (argument(arguments, at) for at in range(3))
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return math.nan
    return min(high, max(low, value))


def _element_wise(function: Callable[[float, float], float]) -> Native:
    """Return an element-wise function of two vectors. The shorter vector repeats its last element."""

    def call(arguments: Sequence[Value]) -> Value:
        a, b = _pair(arguments)
        count = max(len(a), len(b))
        longer = [part + part[-1:] * (count - len(part)) for part in (a, b)]
        return tuple(function(x, y) for x, y in zip(*longer, strict=True))

    return Native(call)


def _pair(arguments: Sequence[Value]) -> tuple[Vector, Vector]:
    if len(arguments) < 2:
        raise ExpressionError("two vectors are needed")
    return vector(arguments[0]), vector(arguments[1])


def _dot(arguments: Sequence[Value]) -> Value:
    return sum((x * y for x, y in zip_longest(*_pair(arguments), fillvalue=0.0)), 0.0)


def _length(arguments: Sequence[Value]) -> Value:
    if is_given(arguments, 1):
        a, b = _pair(arguments)
        return math.hypot(*(x - y for x, y in zip_longest(a, b, fillvalue=0.0)))
    return math.hypot(*_one(arguments))


def _normalize(arguments: Sequence[Value]) -> Value:
    parts = _one(arguments)
    length = math.hypot(*parts)
    return tuple(part / length if length != 0.0 else 0.0 for part in parts)


def _cross(arguments: Sequence[Value]) -> Value:
    (a, b, c), (d, e, f) = ((*part, 0.0, 0.0)[:3] for part in _pair(arguments))
    return (b * f - c * e, c * d - a * f, a * e - b * d)


def _one(arguments: Sequence[Value]) -> Vector:
    if not arguments:
        raise ExpressionError("a vector is needed")
    return vector(arguments[0])


FUNCTIONS: Mapping[str, Value] = {
    "clamp": Native(_clamp),
    "linear": _interpolation(lambda k: k),
    "ease": _interpolation(lambda k: k * k * (3.0 - 2.0 * k)),
    "easeIn": _interpolation(lambda k: k * k),
    "easeOut": _interpolation(lambda k: k * (2.0 - k)),
    "add": _element_wise(lambda a, b: a + b),
    "sub": _element_wise(lambda a, b: a - b),
    "mul": _element_wise(lambda a, b: a * b),
    "div": _element_wise(lambda a, b: a / b if b != 0.0 else 0.0),
    "dot": Native(_dot),
    "length": Native(_length),
    "normalize": Native(_normalize),
    "cross": Native(_cross),
}
