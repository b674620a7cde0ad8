"""Limits on what all placements of the compositions of a project show together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from motion.errors import PropertyRefused
from motion.evaluate.nesting import NESTING_MAX
from motion.model.composition import Plan
from motion.model.content import InstanceContent
from motion.model.layer import Layer


def check_placed(
    plans: Mapping[str, Plan], rendered: Plan, count: Callable[[Layer], int], what: str, most: int
) -> None:
    """Raise PropertyRefused if the rendered composition shows too many, counted at each place where a composition is placed."""
    counts: dict[tuple[str, int], int] = {}

    def placed(plan: Plan, depth: int) -> int:
        """Return what one placement of the composition adds. Nothing is drawn deeper than NESTING_MAX."""
        key = plan.key, depth
        if key not in counts:
            counts[key] = sum(of_layer(layer, depth) for layer in plan.layers.values())
        return counts[key]

    def of_layer(layer: Layer, depth: int) -> int:
        inner = plans.get(layer.content.plan or "") if isinstance(layer.content, InstanceContent) else None
        return count(layer) + (0 if inner is None or depth >= NESTING_MAX else placed(inner, depth + 1))

    if (total := placed(rendered, 0)) > most:
        name = max(rendered.layers.values(), key=lambda layer: of_layer(layer, 0)).name
        fact = f"The composition has {total:,} {what} with those of placed compositions, most of them in layer “{name}”"
        raise refused(fact, most)


def refused(fact: str, most: int, beyond: str = "") -> PropertyRefused:
    """Return the error of a project above a limit."""
    named = f" Layer “{beyond}” is the first beyond the limit." if beyond else ""
    return PropertyRefused(f"{fact}; at most {most:,} are allowed.{named}")
