"""The expression language: a safe interpreter with JavaScript's semantics on numbers, strings and arrays (animation.md 4)."""

from motion.evaluate.expressions.host import CompositionFacts, ExpressionHost, LayerFacts, Marker, SourceRect
from motion.evaluate.expressions.property_value import property_value
from motion.evaluate.expressions.selector import selector_amount
from motion.evaluate.expressions.values import ExpressionError

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
