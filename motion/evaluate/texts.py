"""Texts at a time (text.md 1, animation.md 7)."""

from __future__ import annotations

from dataclasses import replace

from motion.evaluate.boxes import box
from motion.evaluate.colors import moving_color
from motion.evaluate.context import Values
from motion.formulas.text_animators import glyph_poses
from motion.formulas.text_selectors import ExpressionSelector, WigglySelector
from motion.model.content import TextContent
from motion.snapshot import GlyphPose, MissingSource, TextPath, TextSource, TextStyle

PLACEHOLDER = "Text"
"""Text of a text layer without content (text.md 1)."""


def text(content: TextContent, values: Values) -> TextSource | MissingSource:
    """Return the text's source: measured on its static content, drawn from a `text.source` track if there is one."""
    measured = PLACEHOLDER if content.content is None else content.content
    moving = values.data("text.source")
    drawn = moving if isinstance(moving, str) else measured
    if not measured and not drawn:
        return MissingSource("its text is empty")
    return TextSource(
        content=drawn,
        measured_content=measured,
        style=_style(content.style, values),
        stored_style=content.style,
        line_height=values.moving_or("lineHeight", content.line_height),
        paragraph_spacing=values.moving_or("paragraphSpacing", content.paragraph_spacing),
        align=content.align,
        box_width=_box_width(content, values),
        stored_box_width=content.box_width,
        stroke_over_fill=content.stroke_over_fill,
        runs=content.runs,
        has_animators=any(animator.is_enabled for animator in content.animators),
        poses=_poses(content, measured, values),
        path=_path(content, values),
        per_character_3d=content.per_character_3d,
        has_weight=content.has_weight or "fontWeight" in values.layer.moving,
        given_box=box(values) if content.content is None else None,
    )


def _poses(content: TextContent, measured: str, values: Values) -> tuple[GlyphPose, ...]:
    """Return the animated pose of each code point. Animators divide the static content (Q13)."""
    if not any(animator.is_enabled for animator in content.animators):
        return ()
    restless = any(
        isinstance(selector, WigglySelector | ExpressionSelector)
        for each in content.animators
        for selector in each.selectors
    )
    return glyph_poses(content.animators, measured, values.time if restless else 0.0, values.moving_below("ta."))


def _style(style: TextStyle, values: Values) -> TextStyle:
    weight = values.moving("fontWeight")
    return replace(
        style,
        size=max(0.0, values.moving_or("fontSize", style.size)),
        weight=style.weight if weight is None else min(1000.0, max(1.0, weight)),
        letter_spacing=values.moving_or("letterSpacing", style.letter_spacing),
        fill=moving_color(values, "fill") or moving_color(values, "color") or style.fill,
    )


def _box_width(content: TextContent, values: Values) -> float | None:
    moving = values.moving("boxWidth")
    width = content.box_width if moving is None else moving
    return width if width is not None and width > 0 else None


def _path(content: TextContent, values: Values) -> TextPath | None:
    path = content.path
    if path is None:
        return None
    return replace(path, first_margin=values.moving_or("textPath.firstMargin", path.first_margin))
