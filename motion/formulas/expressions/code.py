"""Compiled expressions: closures that are built once and run every frame.

Chains of operators are one closure with a loop, so the Python stack grows with brackets only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from motion.formulas.expressions import values
from motion.formulas.expressions.values import Value


class Scope(Protocol):
    """Meaning of the names in an expression."""

    def lookup(self, name: str) -> Value:
        """Return the value of a name. Raises ExpressionError for an unknown one."""


Run = Callable[[Scope], Value]
Operator = Callable[[Value, Value], Value]


class Code(NamedTuple):
    """A compiled part: how to run it, how many levels it evaluates, and how many nodes it has."""

    run: Run
    height: int = 1
    nodes: int = 1


def constant(value: Value) -> Code:
    """A literal."""
    return Code(lambda scope: value)


def name(word: str) -> Code:
    """A variable or a function."""
    return Code(lambda scope: scope.lookup(word))


def array(parts: Sequence[Code]) -> Code:
    """`[a, b]`."""
    runs = [part.run for part in parts]
    return _over(parts, lambda scope: tuple(run(scope) for run in runs))


def access(target: Code, key: Code) -> Code:
    """`a.name` and `a[key]`."""
    of, by = target.run, key.run
    return _over((target, key), lambda scope: values.member(of(scope), by(scope)))


def application(target: Code, arguments: Sequence[Code]) -> Code:
    """`f(a, b)`."""
    function, runs = target.run, [argument.run for argument in arguments]
    return _over((target, *arguments), lambda scope: values.call(function(scope), tuple(run(scope) for run in runs)))


def unary(operator: str, operand: Code) -> Code:
    """`-a`, `+a`, `!a`."""
    run, apply = operand.run, _UNARY[operator]
    return _over((operand,), lambda scope: apply(run(scope)))


def binary_chain(first: Code, rest: Sequence[tuple[str, Code]]) -> Code:
    """`a + b - c`: operators of one rank, from the left."""
    start, steps = first.run, [(_BINARY[operator], operand.run) for operator, operand in rest]

    def run(scope: Scope) -> Value:
        value = start(scope)
        for apply, operand in steps:
            value = apply(value, operand(scope))
        return value

    return _left_leaning(first, [operand for _, operand in rest], run)


def logical_chain(operator: str, parts: Sequence[Code]) -> Code:
    """`a && b && c` or `a || b || c`: the operand that decides."""
    runs, stops_at = [part.run for part in parts], operator == "||"

    def run(scope: Scope) -> Value:
        value: Value = None
        for part in runs:
            value = part(scope)
            if values.truthy(value) is stops_at:
                break
        return value

    return _left_leaning(parts[0], parts[1:], run)


def conditional(branches: Sequence[tuple[Code, Code]], otherwise: Code) -> Code:
    """`c ? a : d ? b : e`: the value of the first branch whose condition holds."""
    runs, last = [(condition.run, value.run) for condition, value in branches], otherwise.run

    def run(scope: Scope) -> Value:
        for condition, value in runs:
            if values.truthy(condition(scope)):
                return value(scope)
        return last(scope)

    height, nodes = otherwise.height, otherwise.nodes
    for condition, value in reversed(branches):
        height = 1 + max(height, condition.height, value.height)
        nodes += 1 + condition.nodes + value.nodes
    return Code(run, height, nodes)


def _over(parts: Sequence[Code], run: Run) -> Code:
    height = max((part.height for part in parts), default=0)
    return Code(run, 1 + height, 1 + sum(part.nodes for part in parts))


def _left_leaning(first: Code, rest: Sequence[Code], run: Run) -> Code:
    height, nodes = first.height, first.nodes
    for part in rest:
        height = 1 + max(height, part.height)
        nodes += 1 + part.nodes
    return Code(run, height, nodes)


def _compared(test: Callable[[bool | None], bool], *, swapped: bool) -> Operator:
    if swapped:
        return lambda a, b: test(values.less(b, a))
    return lambda a, b: test(values.less(a, b))


_UNARY: Mapping[str, Callable[[Value], Value]] = {
    "-": lambda a: -values.number(a),
    "+": values.number,
    "!": lambda a: not values.truthy(a),
}
_BINARY: Mapping[str, Operator] = {
    "+": values.plus,
    "-": lambda a, b: values.number(a) - values.number(b),
    "*": lambda a, b: values.number(a) * values.number(b),
    "/": lambda a, b: values.divide(values.number(a), values.number(b)),
    "%": lambda a, b: values.remainder(values.number(a), values.number(b)),
    "==": values.loosely_equal,
    "!=": lambda a, b: not values.loosely_equal(a, b),
    "===": values.same,
    "!==": lambda a, b: not values.same(a, b),
    "<": _compared(lambda order: order is True, swapped=False),
    ">": _compared(lambda order: order is True, swapped=True),
    "<=": _compared(lambda order: order is False, swapped=True),
    ">=": _compared(lambda order: order is False, swapped=False),
}
