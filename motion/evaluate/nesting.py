"""Evaluation contexts of placed compositions (document.md 2.10.5)."""

from __future__ import annotations

from motion.evaluate.context import EvaluationContext
from motion.evaluate.media import remapped_time
from motion.model.content import InstanceContent
from motion.model.layer import Layer

NESTING_MAX = 8
"""Compositions that can be placed in each other. Deeper ones are black and silent."""


def inside(context: EvaluationContext, layer: Layer, content: InstanceContent) -> EvaluationContext | None:
    """Return the context of the placed composition. None if the composition is missing, contains itself or is too deep."""
    plan = context.frame.composition.plans.get(content.plan or "")
    if plan is None or plan.settings.id in context.stack or len(context.stack) >= NESTING_MAX:
        return None
    return EvaluationContext(context.frame, plan, remapped_time(context, layer), (*context.stack, plan.settings.id))
