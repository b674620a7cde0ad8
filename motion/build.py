"""Build the resolved composition of a migrated document: follow references, fill defaults, expand the structure."""

from __future__ import annotations

from collections.abc import Mapping

from motion import budgets
from motion.model.composition import Composition, MotionBlur, Plan
from motion.model.layer import Layer
from motion.model.parity import REFERENCE, Parity
from motion.notices import bounded
from motion.plans import PlanMaker
from motion.schema.animation import animations
from motion.schema.compositions import chosen, compositions
from motion.schema.facts import facts
from motion.schema.nodes import nodes, repeated
from motion.schema.paints import paint
from motion.schema.timelines import timelines
from motion.snapshot import ColorManagement, LinearGradient, RadialGradient
from motion.stored import Document, Record, flag, number, one_of, record, strings

REPEATED_MAX = 20
"""Layers without an id of their own that warnings name."""


def build(document: Document, composition_id: str | None = None, parity: Parity = REFERENCE) -> Composition:
    """Return the composition to render, immutable and resolved, with warnings about what will not be drawn.

    Raises CompositionUnknown for an id that the document does not have, and PropertyRefused if no frame can be drawn (a size of 0,
    too many layers).
    """
    settings = chosen(document, composition_id)
    by_id, table = nodes(document), compositions(document)
    timeline_by_id = timelines(document, by_id, table, settings)
    moving = animations(document)
    maker = PlanMaker(by_id, table, timeline_by_id, moving, timeline_by_id[settings.id], parity)
    plan = maker.plan(settings)
    budgets.check(maker.plans, plan)
    unread = tuple(f"{name} in the bundle could not be read." for name in strings(document, "unreadableChunks"))
    same = tuple(
        f"Layer “{name}” is not drawn: an earlier layer has its id." for name in repeated(document)[:REPEATED_MAX]
    )
    return Composition(
        id=settings.id,
        name=settings.name,
        width=settings.width,
        height=settings.height,
        fps=settings.fps,
        duration_seconds=settings.duration_seconds,
        background=settings.background,
        background_paint=_background_paint(settings.background_paint),
        plan=plan,
        plans=maker.plans,
        timeline_fps=timeline_by_id[settings.id].fps,
        motion_blur=_motion_blur(record(document, "motionBlur")),
        color=_color_management(record(document, "colorManagement")),
        facts=facts(document, by_id, moving, settings, timeline_by_id[settings.id].fps),
        layers=_layers_by_node(maker.plans),
        parity=parity,
        warnings=bounded((*unread, *same, *maker.warnings)),
    )


def _layers_by_node(plans: Mapping[str, Plan]) -> dict[str, Layer]:
    """Return one layer for each node. Layers of the rendered composition come first."""
    found: dict[str, Layer] = {}
    for plan in plans.values():
        for layer in plan.layers.values():
            found.setdefault(layer.source_id, layer)
    return found


def _background_paint(stored: Record) -> LinearGradient | RadialGradient | None:
    background = paint(stored)
    return background if isinstance(background, LinearGradient | RadialGradient) else None


def _motion_blur(stored: Record) -> MotionBlur:
    return MotionBlur(
        enabled=flag(stored, "enabled", True),
        shutter_angle=min(360.0, max(0.0, number(stored, "shutterAngle", 180.0))),
        shutter_phase=min(360.0, max(-360.0, number(stored, "shutterPhase", -90.0))),
        samples=_count(stored, "samples", 8.0, 32.0),
        adaptive_limit=_count(stored, "adaptiveSampleLimit", 128.0, 128.0),
    )


def _count(stored: Record, key: str, default: float, largest: float) -> int:
    return int((min(largest, max(2.0, number(stored, key, default))) + 0.5) // 1)


def _color_management(stored: Record) -> ColorManagement:
    return ColorManagement(
        working_space=one_of(stored, "workingSpace", "srgb-linear", "aces-cg"),
        display_transform=one_of(stored, "displayTransform", "srgb", "aces", "pq", "hlg"),
        bit_depth=32 if stored.get("bitDepth") == 32 else 16,
    )
