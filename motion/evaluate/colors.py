"""Colours that move channel by channel (animation.md 1.5 and 2.3)."""

from __future__ import annotations

from motion.evaluate.context import Values
from motion.formulas import css_color


def moving_color(values: Values, base: str) -> str | None:
    """Return the colour of `<base>_r/_g/_b/_a` as `#rrggbbaa`, None if its red channel is not animated."""
    red = values.moving(f"{base}_r")
    if red is None:
        return None
    green, blue, alpha = (values.moving(f"{base}_{channel}") for channel in "gba")
    return css_color.from_channels(red, green or 0.0, blue or 0.0, 1.0 if alpha is None else alpha, always_alpha=True)
