"""CSS blend modes as Skia has them."""

from __future__ import annotations

from typing import Any

import skia

_BLENDS = {
    "normal": skia.BlendMode.kSrcOver, "multiply": skia.BlendMode.kMultiply, "screen": skia.BlendMode.kScreen,
    "darken": skia.BlendMode.kDarken, "lighten": skia.BlendMode.kLighten, "overlay": skia.BlendMode.kOverlay,
    "color-dodge": skia.BlendMode.kColorDodge, "color-burn": skia.BlendMode.kColorBurn, "hard-light": skia.BlendMode.kHardLight,
    "soft-light": skia.BlendMode.kSoftLight, "difference": skia.BlendMode.kDifference, "exclusion": skia.BlendMode.kExclusion,
    "hue": skia.BlendMode.kHue, "saturation": skia.BlendMode.kSaturation, "color": skia.BlendMode.kColor,
    "luminosity": skia.BlendMode.kLuminosity, "plus-lighter": skia.BlendMode.kPlus,
}  # fmt: skip


def blend_mode(name: str | None) -> Any:
    """Return the Skia mode of a CSS blend mode, source-over for what is not known."""
    return _BLENDS.get(name or "normal", skia.BlendMode.kSrcOver)
