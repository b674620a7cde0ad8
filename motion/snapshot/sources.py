"""Content of a layer: one record for each kind. A placed composition is `CompositionSource` in `layers.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from motion.snapshot.paints import BrushStroke, Paint, PathPoint, Run, Stroke


@dataclass(frozen=True, slots=True)
class ShapeSource:
    """A rectangle, ellipse or path in a box of width x height px, centred on the layer's origin.

    `radii` are TL, TR, BR, BL, already scaled to fit. `runs` belong to the path primitive and are non-zero filled.
    `painted_apart` means: every run gets its own fill and strokes, in order (layers.md 8.4).
    """

    primitive: Literal["rect", "ellipse", "path"]
    width: float
    height: float
    fills: tuple[Paint, ...]
    strokes: tuple[Stroke, ...] = ()
    radii: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    runs: tuple[Run, ...] = ()
    painted_apart: bool = False
    brush_strokes: tuple[BrushStroke, ...] = ()
    is_solid: bool = False


@dataclass(frozen=True, slots=True)
class TextStyle:
    """Character style. `weight` is a CSS weight; `letter_spacing` and `size` in px."""

    family: str = "Inter"
    size: float = 48.0
    weight: float = 600.0
    italic: bool = False
    letter_spacing: float = 0.0
    fill: str = "#60a5fa"


@dataclass(frozen=True, slots=True)
class TextRun:
    """A styled range of code points [start, end) of the static content; None means: the base style's value."""

    start: int
    end: int
    family: str | None = None
    size: float | None = None
    weight: float | None = None
    italic: bool | None = None
    letter_spacing: float | None = None
    fill: str | None = None


@dataclass(frozen=True, slots=True)
class GlyphPose:
    """Pose of one code point by the animators (animation.md 7). Factors are 1 and offsets 0 at rest."""

    dx: float = 0.0
    dy: float = 0.0
    dz: float = 0.0
    rotation: float = 0.0
    rotation_x: float = 0.0
    rotation_y: float = 0.0
    scale_x: float = 1.0
    scale_y: float = 1.0
    opacity: float = 1.0
    fill_opacity: float = 1.0
    tracking: float = 0.0
    line_spacing: float = 0.0
    skew: float = 0.0
    blur: float = 0.0
    stroke_width: float = 0.0
    color: str | None = None
    color_mix: float = 0.0
    stroke_color: str | None = None
    character: str | None = None
    """The substituted character (characterOffset), if it differs."""


@dataclass(frozen=True, slots=True)
class TextPath:
    """Text along an outline (text.md 8): the layer's mask path, expanded by px and flattened by the renderer."""

    points: tuple[PathPoint, ...]
    closed: bool
    first_margin: float
    reversed: bool
    perpendicular: bool
    expansion: float = 0.0


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text layer. The box is measured by the renderer on `measured_content` and `style` (text.md 3).

    `content` is what is drawn (a `text.source` track replaces it). `style` and the spacings are evaluated; `stored_style`,
    `stored_box_width` decide the drawn line breaks. `poses` is empty if no animator is enabled, else one entry for each
    code point of the static content.
    """

    content: str
    measured_content: str
    style: TextStyle
    stored_style: TextStyle
    line_height: float = 1.2
    paragraph_spacing: float = 0.0
    align: str = "left"
    box_width: float | None = None
    stored_box_width: float | None = None
    stroke_over_fill: bool = False
    runs: tuple[TextRun, ...] = ()
    has_animators: bool = False
    poses: tuple[GlyphPose, ...] = ()
    path: TextPath | None = None
    per_character_3d: bool = False
    has_weight: bool = True
    """True if the document gives a font weight. Otherwise per-character 3D spaces its planes as regular."""
    plane: tuple[float, float] | None = None
    """A box that replaces the measured one. Only the renderer sets it, for the planes of per-character 3D."""
    given_box: tuple[float, float] | None = None
    """Width and height that replace the measured ones, for a text without content (text.md 1)."""


@dataclass(frozen=True, slots=True)
class ImageSource:
    """A still picture stretched to the box; `cover` crops it to the box's aspect instead (layers.md 9.2).

    `radii` become a rounded rectangle mask. `svg_fill`: the colour that all fills of an SVG picture take, None for their own.
    """

    src: str
    width: float
    height: float
    cover: bool = False
    radii: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    svg_fill: str | None = None


@dataclass(frozen=True, slots=True)
class VideoSource:
    """A frame of a video at `time` seconds of its own; `blend` mixes the neighbours at `blend_fps` if the file has no rate."""

    src: str
    width: float
    height: float
    time: float
    cover: bool = False
    blend: Literal["none", "mix", "pixelMotion"] = "none"
    blend_fps: float = 30.0
    radii: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    mix_opacity: float = 1.0
    """Opacity of the layer in a frame mix. Both frames are drawn at it."""


@dataclass(frozen=True, slots=True)
class SvgSource:
    """A stored SVG document, rasterised at its intrinsic size and stretched to the box (layers.md 10)."""

    markup: str
    width: float
    height: float
    intrinsic_width: float | None = None
    intrinsic_height: float | None = None
    time: float | None = None
    """Seconds of its own animation, for live playback only."""
    radii: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    svg_fill: str | None = None


@dataclass(frozen=True, slots=True)
class LightWash:
    """The glow that a light draws (layers.md 2.3); its strength is the layer's opacity."""

    light: Literal["point", "ambient", "spot", "parallel"]
    color: str
    radius: float
    angle: float
    cone: float
    cone_feather: float


@dataclass(frozen=True, slots=True)
class Particle:
    """One particle, in px from the centre of the field."""

    x: float
    y: float
    size: float
    color: str
    opacity: float
    rotation: float


@dataclass(frozen=True, slots=True)
class ParticleSource:
    """A field of particles drawn into a box (layers.md 12.2)."""

    width: float
    height: float
    shape: Literal["circle", "square", "line", "star"]
    additive: bool
    particles: tuple[Particle, ...]


@dataclass(frozen=True, slots=True)
class AdjustmentSource:
    """No content: the layer's effects run over everything below it. Some of them need the layer's own size, px."""

    width: float = 1.0
    height: float = 1.0


@dataclass(frozen=True, slots=True)
class MissingSource:
    """A layer in the list without anything to draw: its source is empty, or its kind unknown."""

    reason: str
