"""The page docs/effects.md: a small picture of each effect, its parameters and defaults.

`python -m gpu_renderer.effects.page` writes the page and its pictures anew; tests compare both with what is drawn.
"""

from __future__ import annotations

import io
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
import skia
from PIL import Image

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.text.families import FontChain, Fonts, Style
from gpu_renderer.content.text.folders import FontFolders, fonts_folder
from gpu_renderer.effects import Box, Effect, EffectScene, EffectStack, Route, bake, chain, every_effect
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.parameters import Kind, Parameter
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.context import create_context
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, LayerSnapshot, ParameterValue, ShapeSource, Transform2D

DOCS = Path(__file__).parents[2] / "docs"
WIDTH, HEIGHT = 160, 110
TITLES = {
    "blur": "Blur and sharpen", "shadow": "Shadow, glow, outline", "light": "Light", "matrix": "Colour: matrices",
    "table": "Colour: tables", "color": "Colour: whole pixels", "generate": "Fills and noise", "distort": "Distort",
    "solid": "Bend and wrap", "stylise": "Stylise", "channel": "Channels and mattes", "time": "Time",
    "drawn": "Drawn strokes and text", "keying": "Keying", "matte": "Matte", "noise": "Grain and scattering",
    "particles": "Particles and pieces", "pattern": "Patterns", "style": "Interior styles", "transition": "Transitions",
    "warp": "Warp",
}  # fmt: skip
ROUTES = {
    Route.MATRIX: "colour matrix", Route.TABLE: "colour table", Route.GPU: "screen space", Route.TIME: "time",
    Route.GPU_ONLY: "screen space only", Route.RASTER: "layer space",
}  # fmt: skip
# Values that show an effect whose defaults do not.
TELLING: dict[str, dict[str, ParameterValue]] = {
    "audio-waveform": {"samples": tuple(float(np.sin(i / 3) * np.cos(i / 17)) for i in range(128))},
    "channel-blur": {"redBlurriness": 12.0, "blueBlurriness": 4.0},
    "channel-mixer": {"redRed": 0.0, "redBlue": 100.0},
    "color-balance": {"shadowBlue": 60.0, "highlightRed": 60.0},
    "corner-pin": {"topLeftX": 30.0, "topLeftY": 16.0, "bottomRightX": -24.0},
    "arithmetic": {"operator": 3.0, "red": 128.0, "green": 64.0, "blue": 200.0},
    "block-dissolve": {"completion": 25.0, "blockWidth": 10.0, "blockHeight": 10.0},
    "circle": {"radius": 40.0, "thickness": 6.0},
    "audio-spectrum": {"displayMode": 1.0, "thickness": 16.0},
    "bezier-warp": {"top1Y": 30.0, "top2Y": -20.0, "bottom1Y": -24.0},
    "curves": {"points": ((0.0, 60.0), (128.0, 60.0), (255.0, 255.0))},
    "ellipse": {"ellipseWidth": 120.0, "ellipseHeight": 70.0},
    "equalize": {"equalizeMode": 0.0},
    "exposure": {"exposure": 1.0},
    "gamma-pedestal-gain": {"gamma": 2.0, "blueGain": 0.3},
    "hue-saturation": {"hue": 120.0},
    "lens-flare": {"centerX": -30.0, "centerY": -20.0},
    "levels": {"inputBlack": 60.0, "inputWhite": 190.0},
    "lightning": {"startX": -70.0, "startY": -40.0, "endX": 70.0, "endY": 40.0, "amplitude": 50.0},
    "liquify": {"pushX": 30.0, "twirl": 60.0, "brushSize": 60.0},
    "lumetri": {"exposure": 0.5, "contrast": 40.0, "temperature": 60.0},
    "mesh-warp": {"v5X": 30.0, "v5Y": 20.0, "v10X": -24.0},
    "numbers": {"value": 1234.0, "size": 36.0, "showBox": True},
    "optics-compensation": {"fieldOfView": 110.0},
    "page-turn": {"amount": 45.0, "curlRadius": 20.0},
    "radial-shadow": {"lightX": -60.0, "lightY": -40.0},
    "selective-color": {"range": 1.0, "cyan": 80.0, "black": 30.0, "absolute": True},
    "slant": {"slant": 40.0},
    "split": {"splitOffset": 40.0, "angle": 20.0},
    "timecode": {"time": 12.5, "size": 24.0},
    "transform": {"scale": 70.0, "rotation": 25.0},
    "write-on": {"startX": -60.0, "endX": 60.0, "brushSize": 14.0},
}
HALFWAY = ("completion", "burn")


def page() -> str:
    """Return the page's text."""
    effects = sorted(every_effect(), key=lambda effect: list(TITLES).index(effect.family))
    families = "\n".join(
        _family(title, list(members)) for title, members in groupby(effects, lambda e: TITLES[e.family])
    )
    return (
        "# Effects\n\n"
        "Written by `python -m gpu_renderer.effects.page` from the registry; do not edit. Every effect of the format and"
        " its parameters, with the range of the editor's controls. *Screen space* effects run after the layer's transform,"
        " in linear light; *layer space* ones before it, on the layer's own pixels. Pictures show the defaults, or telling"
        " values where the defaults change nothing.\n\n" + families
    )


def shown_values(effect: Effect) -> dict[str, ParameterValue]:
    """Return the parameter values of an effect's picture."""
    halves = {parameter.key: 50.0 for parameter in effect.parameters if parameter.key in HALFWAY}
    return halves | TELLING.get(effect.id, {})


def picture(painter: Painter, effect: Effect) -> npt.NDArray[np.uint8]:
    """Return the subject with the effect, straight sRGB: shape (HEIGHT, WIDTH, 4)."""
    entry = EffectSnapshot("fx", effect.id, tuple(shown_values(effect).items()))
    raster = Raster(subject(), WIDTH, HEIGHT)
    own = () if effect.route is Route.GPU_ONLY else (entry,)
    layer = LayerSnapshot("l", "l", ShapeSource("rect", WIDTH, HEIGHT, ()), Transform2D(0, 0), effects=own)
    canvas = Canvas(painter, bake(painter, raster, layer, lambda *_: raster.pixels[..., 3], _counter_faces), 1.0)
    if effect.route is Route.GPU_ONLY:
        _chained(canvas, entry)
    pixels = canvas.straight_pixels().copy()
    painter.pool.give_back(canvas.target)
    return pixels


def _counter_faces() -> FontChain:
    return Fonts(FontFolders(fonts_folder()).files()).chain(Style("monospace", 400, italic=False))


def subject() -> npt.NDArray[np.uint8]:
    """Return the subject: a card with a disc, a bar and a leaf on a transparent background, premultiplied sRGB."""
    pixels = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    canvas = skia.Canvas(pixels, skia.ColorType.kRGBA_8888_ColorType, skia.AlphaType.kPremul_AlphaType)
    sky = skia.GradientShader.MakeLinear([(0, 0), (WIDTH, HEIGHT)], [0xFF2B3CFF, 0xFFFF7A1A])
    canvas.drawRoundRect(skia.Rect.MakeXYWH(14, 10, 132, 90), 12, 12, skia.Paint(Shader=sky, AntiAlias=True))
    canvas.drawCircle(52, 48, 24, skia.Paint(Color=0xFFFFD166, AntiAlias=True))
    canvas.drawRect(skia.Rect.MakeXYWH(86, 30, 46, 12), skia.Paint(Color=0xFFF8FAFC, AntiAlias=True))
    canvas.drawRect(skia.Rect.MakeXYWH(86, 50, 34, 12), skia.Paint(Color=0xFF101828, AntiAlias=True))
    canvas.drawOval(skia.Rect.MakeXYWH(84, 70, 50, 20), skia.Paint(Color=0xFF00C853, AntiAlias=True))
    return pixels


def encoded(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return a picture as a WebP file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", quality=80)
    return file.getvalue()


def write() -> None:
    """Write the page and the pictures."""
    painter = Painter(create_context())
    folder = DOCS / "effects"
    folder.mkdir(parents=True, exist_ok=True)
    for effect in every_effect():
        if effect.route is not Route.TIME:
            (folder / f"{effect.id}.webp").write_bytes(encoded(picture(painter, effect)))
    (DOCS / "effects.md").write_text(page(), encoding="utf-8")


def _chained(canvas: Canvas, entry: EffectSnapshot) -> None:
    """Run a screen-space effect over the canvas's picture, in linear light and back."""
    painter, frame = canvas.painter, Region(0, 0, WIDTH, HEIGHT)
    linear = painter.applied("effects/to_linear.frag", canvas.target, format="f2")
    scene = EffectScene(frame, Box(0, 0, WIDTH, HEIGHT), WIDTH, HEIGHT, mirrored=False)
    result = chain(painter, linear, EffectStack.unbaked((entry,)), scene)
    canvas.replace(painter.applied("effects/to_encoded.frag", result, format="f1"))
    painter.pool.give_back(result)


def _family(title: str, effects: list[Effect]) -> str:
    return f"## {title}\n\n" + "\n".join(_entry(effect) for effect in effects)


def _entry(effect: Effect) -> str:
    shown = "" if effect.route is Route.TIME else f'<img src="effects/{effect.id}.webp" width="{WIDTH}" alt="">\n\n'
    parameters = "\n".join(_row(parameter) for parameter in effect.parameters)
    return (
        f"### {effect.label}\n\n{shown}`{effect.id}` ({effect.tier.value}, {ROUTES[effect.route]}). {effect.summary}\n\n"
        f"| parameter | default | range |\n|---|---|---|\n{parameters}\n"
    )


def _row(parameter: Parameter) -> str:
    return f"| `{parameter.key}` {parameter.label} | {_default(parameter)} | {_range(parameter)} |"


def _default(parameter: Parameter) -> str:
    match parameter.kind:
        case Kind.NUMBER:
            return f"{parameter.default:g} {parameter.unit}".strip()
        case Kind.CHOICE:
            return parameter.choices[int(float(str(parameter.default)))]
        case Kind.FLAG:
            return "on" if parameter.default else "off"
        case Kind.COLOR:
            return f"`{parameter.default}`"
        case Kind.CURVE:
            return "straight"
        case Kind.LAYER:
            return "no layer"
        case Kind.FILLED:
            return "filled in"


def _range(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(parameter.choices)
    return (
        "" if parameter.ui_min is None or parameter.ui_max is None else f"{parameter.ui_min:g} to {parameter.ui_max:g}"
    )


if __name__ == "__main__":
    write()
