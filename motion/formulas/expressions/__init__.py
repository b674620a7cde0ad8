"""The expression language: a safe interpreter with JavaScript's semantics on numbers, strings and arrays (animation.md 4)."""

from motion.formulas.expressions.host import CompositionFacts, ExpressionHost, LayerFacts, Marker, SourceRect
from motion.formulas.expressions.property_value import property_value
from motion.formulas.expressions.selector import selector_amount
from motion.formulas.expressions.values import ExpressionError

__all__ = [
    "CompositionFacts",
    "ExpressionError",
    "ExpressionHost",
    "LayerFacts",
    "Marker",
    "SourceRect",
    "property_value",
    "selector_amount",
]
