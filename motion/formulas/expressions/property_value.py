"""Value of a property at a time: keyframes, then its expression, then its static number (animation.md 4.1, 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from motion.formulas.expressions.host import ExpressionHost
from motion.formulas.expressions.parser import compiled
from motion.formulas.expressions.property_scope import PropertyScope
from motion.formulas.expressions.values import ExpressionError, Value
from motion.formulas.keyframes import sample_scalar

NODES_MAX = 200_000
"""Most nodes that one outermost evaluation visits, including its reads from other layers."""
HOPS_MAX = 16
"""Reads of other properties inside each other."""

Address = tuple[str, str]


class ChainAborted(Exception):
    """A cycle, or too many hops. Only the outermost property falls back, none of the properties between."""


@dataclass(slots=True)
class _Chain:
    """The state of one outermost evaluation."""

    host: ExpressionHost
    active: list[Address] = field(default_factory=list)
    nodes: int = 0

    def value(self, node_id: str, path: str, time: float) -> float | None:
        """Return a property's value, including its expression, or None if it has no value."""
        if len(self.active) > HOPS_MAX:
            raise ChainAborted
        source = self.host.expression(node_id, path)
        if source:
            result = self._expressed((node_id, path), source, time)
            if result is not None:
                return result
        return _unexpressed(self.host, node_id, path, time)

    def control(self, name: str, time: float) -> float:
        """Return the value of an expression control, 0 if it is missing or already being resolved."""
        owner = self.host.control_owner(name)
        if owner is None or (owner, f"ctrl_{name}") in self.active:
            return 0.0
        return self.value(owner, f"ctrl_{name}", time) or 0.0

    def _expressed(self, address: Address, source: str, time: float) -> float | None:
        if address in self.active:
            raise ChainAborted
        self.active.append(address)
        try:
            code = compiled(source)
            self.nodes += code.nodes
            if self.nodes > NODES_MAX:
                return None
            return _component(address[1], code.run(PropertyScope(self.host, self, *address, time)))
        except (ExpressionError, RecursionError):
            return None
        finally:
            self.active.pop()


def property_value(host: ExpressionHost, node_id: str, path: str, time_seconds: float) -> float | None:
    """Return the value at a layer time; None where the property has no keys, no valid expression and no static number.

    Raises no error: an expression that fails counts as absent.
    """
    try:
        return _Chain(host).value(node_id, path, float(time_seconds))
    except ChainAborted:
        return _unexpressed(host, node_id, path, time_seconds)


def _unexpressed(host: ExpressionHost, node_id: str, path: str, time: float) -> float | None:
    track = host.track(node_id, path)
    sampled = None if track is None else sample_scalar(track, time)
    if sampled is not None:
        return sampled
    static = host.static_number(node_id, path)
    return None if static is None else float(static)


def _component(path: str, result: Value) -> float | None:
    """Return the number that an expression gives its property: itself, or the array's component of that axis."""
    if isinstance(result, float):
        return result if math.isfinite(result) else None
    if type(result) is not tuple or not 1 <= len(result) <= 4:
        return None
    numbers = [part for part in result if isinstance(part, float) and math.isfinite(part)]
    if len(numbers) < len(result):
        return None
    return numbers[min(_AXES.get(path, 0), len(numbers) - 1)]


_AXES = {"y": 1, "scaleY": 1, "anchorY": 1, "z": 2, "rotationZ": 2}
