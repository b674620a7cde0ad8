"""Raster effects: strokes and text drawn over the layer."""

from __future__ import annotations

from gpu_renderer.effects.parameters import color, degrees, filled, flag, layer, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("lightning", Tier.RARE, Route.RASTER)
class Lightning(Effect):
    """A branched bolt."""

    parameters = (
        pixels("startX", -200, -4000, 4000),
        pixels("startY", -150, -4000, 4000),
        pixels("endX", 200, -4000, 4000),
        pixels("endY", 150, -4000, 4000),
        number("detail", 6, 1, 9),
        pixels("amplitude", 120, 0, 1000),
        number("branches", 3, 0, 12),
        pixels("thickness", 2.5, 0, 100),
        color("color", "#cfe8ff"),
        pixels("glow", 8, 0, 200),
        percent("opacity", 100),
        number("seed", 1, 0, 100000),
        number("composite", 1, 0, 4),
    )


@effect("radio-waves", Tier.RARE, Route.RASTER)
class RadioWaves(Effect):
    """Rings that spread from a point."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        number("waveCount", 5, 1, 64),
        pixels("maxRadius", 0, 0, 4000),
        degrees("phase", 0, -3600, 3600),
        pixels("thickness", 3, 0, 200),
        color("color", "#7dd3fc"),
        percent("opacity", 100),
        percent("fadeOut", 100),
        number("composite", 0, 0, 4),
    )


@effect("vegas", Tier.COMMON, Route.RASTER)
class Vegas(Effect):
    """Running strokes along the outline of the alpha."""

    parameters = (
        number("segments", 3, 1, 200),
        percent("length", 40),
        degrees("rotation", 0, -3600, 3600),
        pixels("width", 6, 0.1, 200),
        percent("hardness", 100),
        number("threshold", 128, 1, 254),
        color("color", "#ffffff"),
        percent("opacity", 100),
    )


@effect("write-on", Tier.RARE, Route.RASTER)
class WriteOn(Effect):
    """A brush stroke that is being drawn."""

    parameters = (
        pixels("startX", -120, -4000, 4000),
        pixels("startY", 0, -4000, 4000),
        pixels("endX", 120, -4000, 4000),
        pixels("endY", 0, -4000, 4000),
        percent("completion", 100),
        pixels("brushSize", 8, 1, 100),
        color("brushColor", "#ffffff"),
        percent("wobble", 25),
        percent("taper", 40),
    )


@effect("numbers", Tier.COMMON, Route.RASTER)
class Numbers(Effect):
    """A number as text."""

    parameters = (
        number("value", 0, -1000000000, 1000000000),
        number("decimals", 0, 0, 10),
        number("padTo", 0, 0, 20),
        flag("useCommas", False),
        pixels("positionX", 0, -10000, 10000),
        pixels("positionY", 0, -10000, 10000),
        pixels("size", 48, 1, 800),
        color("color", "#ffffff"),
        flag("showBox", False),
        color("boxColor", "#000000"),
    )


@effect("timecode", Tier.COMMON, Route.RASTER)
class Timecode(Effect):
    """The layer's time as text."""

    parameters = (
        flag("followCompTime", True),
        number("time", 0, -86400, 86400, unit="s"),
        number("fps", 24, 1, 240, unit="fps"),
        flag("dropFrame", False),
        pixels("positionX", 0, -10000, 10000),
        pixels("positionY", 0, -10000, 10000),
        pixels("size", 40, 1, 800),
        color("color", "#ffffff"),
        flag("showBox", True),
        color("boxColor", "#000000"),
    )


@effect("audio-spectrum", Tier.RARE, Route.RASTER)
class AudioSpectrum(Effect):
    """Bars of the spectrum of an audio layer."""

    parameters = (
        layer("audioLayerId"),
        number("bands", 32, 1, 128),
        number("startFreq", 40, 20, 20000, unit="Hz"),
        number("endFreq", 16000, 20, 20000, unit="Hz"),
        pixels("maxHeight", 200, 1, 4000),
        pixels("thickness", 8, 1, 200),
        number("displayMode", 0, 0, 2),
        color("insideColor", "#00e5ff"),
        color("outsideColor", "#0066ff"),
        filled("magnitudes"),
    )


@effect("audio-waveform", Tier.RARE, Route.RASTER)
class AudioWaveform(Effect):
    """The wave of an audio layer."""

    parameters = (
        layer("audioLayerId"),
        number("displayMode", 0, 0, 2),
        pixels("maxHeight", 200, 1, 4000),
        pixels("thickness", 3, 1, 200),
        color("insideColor", "#7dd3fc"),
        color("outsideColor", "#1d4ed8"),
        percent("opacity", 100),
        number("composite", 0, 0, 4),
        filled("samples"),
    )
