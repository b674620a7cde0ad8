"""The expression of a text selector (animation.md 7.2): the same language with five names."""

from __future__ import annotations

import math
from typing import NamedTuple

from motion.formulas.expressions.mathematics import MATH
from motion.formulas.expressions.parser import compiled
from motion.formulas.expressions.property_value import NODES_MAX
from motion.formulas.expressions.values import ExpressionError, Value


class _SelectorScope(NamedTuple):
    names: dict[str, Value]

    def lookup(self, name: str) -> Value:
        if name not in self.names:
            raise ExpressionError(f"{name} is not known")
        return self.names[name]


def selector_amount(source: str, index: int, total: int, selector_value: float, time_seconds: float) -> float:
    """Return the percentage that the expression gives a unit, 0 for an error or a result that is not a finite number."""
    scope = _SelectorScope(
        {
            "textIndex": float(index),
            "textTotal": float(total),
            "selectorValue": float(selector_value),
            "time": float(time_seconds),
            "Math": MATH,
        }
    )
    code = compiled(source)
    try:
        result = code.run(scope) if code.nodes <= NODES_MAX else None
    except (ExpressionError, RecursionError):
        return 0.0
    return result if isinstance(result, float) and math.isfinite(result) else 0.0
