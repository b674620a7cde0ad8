"""Names of effects and blend modes, to report unknown ones before a frame is drawn.

The renderer declares the same names beside its code; `tests/gpu_renderer/effects/test_registry.py` compares both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from motion.model.layer import Layer
from motion.snapshot import STYLE_PREFIX, EffectSnapshot

CANVAS_EFFECTS: Final = frozenset(
    [
        "add-grain", "alpha-levels", "audio-spectrum", "audio-waveform", "auto-color", "auto-contrast",
        "auto-levels", "ball-action", "bevel", "bezier-warp", "bilateral-blur", "block-dissolve", "brush-strokes",
        "burn-film", "camera-lens-blur", "card-dance", "card-wipe", "cartoon", "cell-pattern", "change-color",
        "change-to-color", "channel-blur", "channel-combiner", "checkerboard", "circle", "color-key", "color-range",
        "colorama", "corner-pin", "directional-blur", "drizzle", "dust-scratches", "ellipse", "equalize", "extract",
        "fast-box-blur", "flo-motion", "four-color-gradient", "gaussian-blur", "glass", "gradient-wipe", "grid",
        "grid-wipe", "griddler", "hex-tile", "inner-glow", "inner-shadow", "iris-wipe", "jaws", "keylight",
        "leave-color", "lens", "light-burst", "light-wipe", "lightning", "line-sweep", "linear-color-key",
        "linear-wipe", "liquify", "luma-key", "matte-choker", "median", "mesh-warp", "minimax", "noise-alpha",
        "numbers", "optics-compensation", "page-turn", "pixel-polly", "polar-coordinates", "radial-blur",
        "radial-shadow", "radial-wipe", "radio-waves", "rainfall", "remove-color-matting", "rolling-shutter",
        "roughen-edges", "satin", "scatter", "selective-color", "shadow-highlight", "shift-channels",
        "simple-choker", "slant", "smart-blur", "smear", "snowfall", "solid-composite", "spill-suppressor", "split",
        "star-burst", "strobe-light", "texturize", "threads", "timecode", "toner", "transform",
        "turbulent-displace", "turbulent-noise", "twister", "unsharp-mask", "vector-blur", "vegas",
        "venetian-blinds", "warp", "wave-warp", "write-on",
    ]
)  # fmt: skip
"""Effects that run on a layer's own canvas. Some layers have none (effects.md 5)."""

EFFECTS: Final = CANVAS_EFFECTS | frozenset(
    [
        "apply-color-lut", "arithmetic", "beam", "bend", "bevel-alpha", "bevel-edges", "black-and-white", "blur",
        "brightness", "bulge", "channel-mixer", "chromatic-aberration", "color-balance", "color-emboss",
        "compound-blur", "contrast", "curves", "cylinder", "displacement-map", "drop-shadow", "echo", "emboss",
        "exposure", "fill", "find-edges", "force-motion-blur", "fractal-noise", "gamma-pedestal-gain", "glow",
        "gradient-ramp", "grayscale", "halftone", "hue-rotate", "hue-saturation", "invert", "kaleidoscope",
        "lens-flare", "levels", "light-rays", "light-sweep", "lumetri", "magnify", "mirror", "mosaic",
        "motion-tile", "noise", "offset", "photo-filter", "posterize", "posterize-time", "ripple", "saturate",
        "sepia", "set-matte", "sharpen", "sphere", "spherize", "spotlight", "stroke", "threshold", "tint",
        "tritone", "twirl", "vibrance", "vignette", "wide-time",
    ]
)  # fmt: skip
"""All effects."""

BLEND_MODES: Final = frozenset(
    [
        "add", "alpha-add", "classic-color-burn", "classic-color-dodge", "classic-difference", "color",
        "color-burn", "color-dodge", "dancing-dissolve", "darken", "darker-color", "difference", "dissolve",
        "divide", "exclusion", "hard-light", "hard-mix", "hue", "lighten", "lighter-color", "linear-burn",
        "linear-dodge", "linear-light", "luminescent-premul", "luminosity", "multiply", "normal", "overlay",
        "pin-light", "saturation", "screen", "silhouette-alpha", "silhouette-luma", "soft-light", "stencil-alpha",
        "stencil-luma", "subtract", "vivid-light",
    ]
)  # fmt: skip
"""Blend modes (compositing.md 3)."""

_WITHOUT_PICTURE: Final = frozenset({"null", "camera", "audio"})


def unknown_to(layer: Layer) -> Iterator[str]:
    """Yield a warning for each effect and blend mode of a layer that is drawn in another way or not at all."""
    if layer.kind in _WITHOUT_PICTURE or (layer.kind == "group" and not layer.is_time_unit):
        return  # nothing of it is composited
    place, undrawn = _undrawn(layer)
    for shown, name in dict.fromkeys((_shown(effect.static), effect.static.type) for effect in layer.effects):
        if name not in EFFECTS:
            yield f"The {shown} is unknown and not drawn."
        elif name in undrawn:
            yield f"The {shown} has no effect on {place}."
    if not layer.is_adjustment and layer.blend not in BLEND_MODES:
        yield f"The blend mode {layer.blend!r} is unknown; normal stands in for it."


def _shown(effect: EffectSnapshot) -> str:
    """Return the name of an effect as its author knows it: that of the layer style that it stands for, if there is one."""
    style = effect.id.removeprefix(STYLE_PREFIX)
    return f"effect {effect.type!r}" if style == effect.id else f"layer style {style!r}"


def _undrawn(layer: Layer) -> tuple[str, frozenset[str]]:
    """Return what a layer is, and the effects that do nothing on such layers (effects.md 5, layers.md 12.2)."""
    if layer.kind == "particle":
        return "a particle layer", EFFECTS
    if layer.is_adjustment:
        return "an adjustment layer", CANVAS_EFFECTS
    if layer.is_time_unit:
        return "a group or a placed composition", CANVAS_EFFECTS
    return "a layer", frozenset()
