"""Conditions under which the raster form of an effect does not change the picture (effects.md 4.6).

The tests read the resolved parameters, lengths in canvas px, before any formula. Effects that are not listed always
run, or decide themselves (`Effect.is_idle`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from gpu_renderer.effects.values import EffectValues

Guard = Callable[[EffectValues], bool]


def _none(*keys: str) -> Guard:
    """Return a guard that holds if any of these numbers is 0 or less."""
    return lambda values: any(values.number(key) <= 0 for key in keys)


def _zero(*keys: str) -> Guard:
    """Return a guard that holds if all of these numbers are exactly 0."""
    return lambda values: all(values.number(key) == 0 for key in keys)


def _small_radius(values: EffectValues) -> bool:
    return values.number("radius") <= 0 or values.whole("radius") <= 0


def _completion(flag: str) -> Guard:
    return lambda values: values.number("completion") <= 0 and not values.flag(flag)


def _blended(values: EffectValues) -> bool:
    return values.number("blend") >= 100


def _write_on(values: EffectValues) -> bool:
    along = math.hypot(values.number("endX") - values.number("startX"), values.number("endY") - values.number("startY"))
    return values.number("completion") <= 0 or along < 0.001


def _satin(values: EffectValues) -> bool:
    return values.number("opacity") <= 0 or (values.number("size") <= 0 and values.number("distance") <= 0)


def _bevel(values: EffectValues) -> bool:
    invisible = values.number("highlightOpacity") <= 0 and values.number("shadowOpacity") <= 0
    return values.number("depth") <= 0 or invisible


def _drizzle(values: EffectValues) -> bool:
    return math.floor(0.3 * values.number("dripRate") + 0.5) <= 0 or values.number("rippleHeight") <= 0


def _local(key: str) -> Guard:
    """Return a guard for a distortion about a point: no strength, or no radius."""
    return lambda values: values.number(key) == 0 or values.number("radius") <= 0


def _smear(values: EffectValues) -> bool:
    still = values.number("fromX") == values.number("toX") and values.number("fromY") == values.number("toY")
    return still or values.number("radius") <= 0


def _liquify(values: EffectValues) -> bool:
    return all(values.number(key) == 0 for key in ("pushX", "pushY", "twirl", "pinch"))


def _transform(values: EffectValues) -> bool:
    rests = all(values.number(key) == 0 for key in ("rotation", "positionX", "positionY"))
    return rests and values.number("scale") == 100 and values.number("opacity") >= 100


def _channel_blur(values: EffectValues) -> bool:
    return all(values.number(f"{channel}Blurriness") <= 0 for channel in ("red", "green", "blue", "alpha"))


GUARDS: Final[dict[str, Guard]] = {
    **dict.fromkeys(
        ("linear-wipe", "radial-wipe", "venetian-blinds", "gradient-wipe", "card-wipe", "block-dissolve",
         "light-wipe", "jaws", "pixel-polly", "twister"), _none("completion"),
    ),
    "write-on": _write_on,
    "iris-wipe": _completion("invertIris"),
    "line-sweep": _completion("invertSweep"),
    "grid-wipe": _completion("invertGrid"),
    **dict.fromkeys(("smart-blur", "bilateral-blur", "camera-lens-blur", "median", "minimax"), _small_radius),
    **dict.fromkeys(
        ("page-turn", "card-dance", "vector-blur", "sharpen", "noise", "noise-alpha", "scatter",
         "chromatic-aberration", "snowfall", "rainfall", "equalize", "leave-color", "spill-suppressor",
         "remove-color-matting"), _none("amount"),
    ),
    **dict.fromkeys(("radial-blur", "turbulent-displace", "vignette"), _zero("amount")),
    "gaussian-blur": _none("blurriness"),
    "fast-box-blur": _none("blurRadius"),
    "directional-blur": lambda values: values.number("length") < 1,
    "channel-blur": _channel_blur,
    "unsharp-mask": _none("amount", "radius"),
    **dict.fromkeys(
        ("fill", "inner-shadow", "inner-glow", "checkerboard", "lightning", "radio-waves", "audio-waveform"),
        _none("opacity"),
    ),
    "stroke": _none("opacity", "width"),
    "grid": _none("opacity", "thickness"),
    "circle": _none("opacity", "radius"),
    "ellipse": _none("opacity", "ellipseWidth", "ellipseHeight"),
    "light-rays": _none("opacity", "rayLength"),
    "vegas": _none("opacity", "length"),
    "light-sweep": _none("intensity", "sweepWidth"),
    "light-burst": _none("intensity", "rayLength"),
    "satin": _satin,
    "bevel": _bevel,
    "radial-shadow": _none("shadowOpacity"),
    "lens-flare": _none("brightness"),
    "beam": _none("length"),
    "four-color-gradient": _none("blend"),
    "burn-film": _none("burn"),
    "texturize": _none("contrast"),
    "brush-strokes": _none("density"),
    "photo-filter": _none("density"),
    "roughen-edges": _none("border"),
    "drizzle": _drizzle,
    "polar-coordinates": _none("interpolation"),
    "optics-compensation": _none("fieldOfView"),
    "apply-color-lut": _none("intensity"),
    "add-grain": _zero("intensity"),
    "simple-choker": _zero("chokeAmount"),
    "ripple": _zero("amplitude"),
    "wave-warp": _zero("waveHeight"),
    "split": _zero("splitOffset"),
    "slant": _zero("slant"),
    "rolling-shutter": _zero("sweep", "wobble"),
    "vibrance": _zero("vibrance", "saturation"),
    "shadow-highlight": _zero("shadowAmount", "highlightAmount"),
    "selective-color": _zero("cyan", "magenta", "yellow", "black"),
    "bulge": _local("height"),
    "twirl": _local("angle"),
    "spherize": _local("amount"),
    "liquify": _liquify,
    "smear": _smear,
    "magnify": lambda values: values.number("magnification") == 100 or values.number("radius") <= 0,
    "warp": _zero("bend", "horizontalDistortion", "verticalDistortion"),
    "transform": _transform,
    **dict.fromkeys(("tritone", "offset", "emboss", "toner"), _blended),
    "kaleidoscope": lambda values: values.whole("segments") == 1,
}  # fmt: skip


def leaves_unchanged(values: EffectValues) -> bool:
    """Return True if the raster form of the effect does not run with these values."""
    guard = GUARDS.get(values.effect.id)
    return values.effect.is_idle(values) or (guard is not None and guard(values))
