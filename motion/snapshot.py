"""A frame as numbers: what `evaluate` returns and the renderer draws.

Everything here is resolved and immutable: times are sampled, parents multiplied, defaults filled, path operators
applied. A snapshot holds nothing that does not change the picture, so two frames with equal snapshots are the same
picture. Units: composition pixels, degrees (positive = clockwise on screen), seconds; x right, y down, z away.
Colours stay CSS strings in encoded sRGB, because the two drawing routes parse them differently (format/layers.md 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Matrix4 = tuple[
    float, float, float, float, float, float, float, float,
    float, float, float, float, float, float, float, float,
]  # fmt: skip
"""Sixteen numbers in row order: x' = m[0]*x + m[1]*y + m[2]*z + m[3]."""

# ---------------------------------------------------------------------------------------------- paints and outlines


@dataclass(frozen=True, slots=True)
class SolidPaint:
    """One colour."""

    color: str


@dataclass(frozen=True, slots=True)
class GradientStop:
    """A colour at an offset of 0..1."""

    offset: float
    color: str


@dataclass(frozen=True, slots=True)
class OpacityStop:
    """An opacity of 0..1 at an offset of 0..1, multiplied onto the colour stops."""

    offset: float
    opacity: float


@dataclass(frozen=True, slots=True)
class LinearGradient:
    """A linear gradient across the layer box; 0 degrees runs right, 90 down (layers.md 6)."""

    angle: float
    stops: tuple[GradientStop, ...]
    opacity_stops: tuple[OpacityStop, ...] = ()


@dataclass(frozen=True, slots=True)
class RadialGradient:
    """A circular gradient; centre as a fraction of the box, radius as a fraction of the half diagonal."""

    center_x: float
    center_y: float
    radius: float
    stops: tuple[GradientStop, ...]
    opacity_stops: tuple[OpacityStop, ...] = ()


Paint = SolidPaint | LinearGradient | RadialGradient


class PathPoint(NamedTuple):
    """A vertex with absolute handles, in pixels from the centre of the layer box."""

    x: float
    y: float
    in_x: float
    in_y: float
    out_x: float
    out_y: float


@dataclass(frozen=True, slots=True)
class Run:
    """One sub-path. `opacity` and `stroke_factor` differ from 1 only on copies of a repeater and on wiggled runs."""

    points: tuple[PathPoint, ...]
    closed: bool
    opacity: float = 1.0
    stroke_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Taper:
    """Widths and lengths as fractions, eases 0..1 (layers.md 7.2)."""

    start_width: float = 1.0
    end_width: float = 1.0
    start_length: float = 0.0
    end_length: float = 0.0
    start_ease: float = 0.0
    end_ease: float = 0.0


@dataclass(frozen=True, slots=True)
class Wave:
    """Amount and wavelength in px, phase in degrees."""

    amount: float
    wavelength: float
    phase: float


@dataclass(frozen=True, slots=True)
class Stroke:
    """An outline; `paint` is resolved (the stroke's own colour is a SolidPaint), opacity 0..1, lengths in layer px."""

    paint: Paint
    width: float
    opacity: float = 1.0
    align: Literal["center", "inside", "outside"] = "center"
    dash: tuple[float, ...] = ()
    dash_offset: float = 0.0
    cap: Literal["butt", "round", "square"] = "butt"
    join: Literal["miter", "round", "bevel"] = "miter"
    taper: Taper | None = None
    wave: Wave | None = None


@dataclass(frozen=True, slots=True)
class BrushStroke:
    """A paint stroke over a shape (layers.md 12.3)."""

    points: tuple[tuple[float, float], ...]
    color: str
    size: float
    opacity: float
    hardness: float
    mode: Literal["paint", "erase", "clone"]
    clone_x: float = 0.0
    clone_y: float = 0.0


class Mesh(NamedTuple):
    """A deformed triangle mesh over the layer's texture (puppet and skeleton rigs).

    `vertices`: (x, y, u, v), x and y in layer px from the box centre, u and v in 0..1 of the unpadded box;
    `triangles`: indices, three a triangle, later triangles in front.
    """

    vertices: tuple[tuple[float, float, float, float], ...]
    triangles: tuple[tuple[int, int, int], ...]


# ------------------------------------------------------------------------------------------------------- sources


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
    """What the animators do to one code point (animation.md 7). Factors are 1 and offsets 0 at rest."""

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
    """The substituted character (characterOffset), where it differs."""


@dataclass(frozen=True, slots=True)
class TextPath:
    """Text along an outline (text.md 8): the layer's mask path, flattened by the renderer."""

    points: tuple[PathPoint, ...]
    closed: bool
    first_margin: float
    reversed: bool
    perpendicular: bool


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text layer. The box is measured by the renderer on `measured_content` and `style` (text.md 3).

    `content` is what is drawn (a `text.source` track replaces it). `style` and the spacings are evaluated; `stored_style`,
    `stored_box_width` decide the drawn line breaks. `poses` is empty where no animator is enabled, else one entry for each
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
    plane: tuple[float, float] | None = None
    """A box that is given instead of measured; only the renderer sets it, for the planes of per-character 3D."""
    given_box: tuple[float, float] | None = None
    """Width and height that stand instead of the measured ones: of a text without content (text.md 1)."""


@dataclass(frozen=True, slots=True)
class ImageSource:
    """A still picture stretched to the box; `cover` crops it to the box's aspect instead (layers.md 9.2).

    `radii` become a rounded rectangle mask. `svg_fill` overrides the fills of an SVG picture.
    """

    src: str
    width: float
    height: float
    cover: bool = False
    radii: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    fill: Paint | None = None
    stroke: Stroke | None = None


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
    fill: Paint | None = None
    stroke: Stroke | None = None


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
    fill: Paint | None = None
    stroke: Stroke | None = None


@dataclass(frozen=True, slots=True)
class CompositionSource:
    """Layers composited as one unit. `sealed`: a placed composition, cropped to its own size; else a precomp group, whose
    layers are in the host's coordinates. An empty sealed one paints black (document.md 2.10.5): `black`."""

    composition: Snapshot
    width: float
    height: float
    sealed: bool
    black: bool = False


@dataclass(frozen=True, slots=True)
class LightWash:
    """The glow that a light draws (layers.md 2.3)."""

    light: Literal["point", "ambient", "spot", "parallel"]
    color: str
    intensity: float
    radius: float
    angle: float
    cone: float
    cone_feather: float


@dataclass(frozen=True, slots=True)
class Particle:
    """One particle, in px from the centre of the field; `tail` is where a line's trail ends."""

    x: float
    y: float
    size: float
    color: str
    opacity: float
    rotation: float
    tail_x: float = 0.0
    tail_y: float = 0.0


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
    """Draws nothing: regrades all that is below with the layer's effects."""


@dataclass(frozen=True, slots=True)
class MissingSource:
    """A layer that is in the list but has nothing to draw (a source that is empty, an unknown kind)."""

    reason: str


Source = (
    ShapeSource | TextSource | ImageSource | VideoSource | SvgSource | CompositionSource
    | LightWash | ParticleSource | AdjustmentSource | MissingSource
)  # fmt: skip

# --------------------------------------------------------------------------------------------------- placement


@dataclass(frozen=True, slots=True)
class Transform2D:
    """The decomposed world transform plus the layer's own anchor, skew and corner pin (layers.md 3).

    p -> T(x, y) R(rotation) K(skew) S(scale) (p - anchor), p in px from the box centre.
    `corner_pin`: eight numbers TL, TR, BR, BL in unit-square coordinates of the drawn quad, None when it is the identity.
    """

    x: float
    y: float
    rotation: float = 0.0
    scale_x: float = 1.0
    scale_y: float = 1.0
    skew: float = 0.0
    skew_axis: float = 0.0
    anchor_x: float = 0.0
    anchor_y: float = 0.0
    corner_pin: tuple[float, float, float, float, float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """How a 3D layer answers to light (three-d.md 6.3); fractions, not percent."""

    accepts_lights: bool = True
    accepts_shadows: bool = True
    casts_shadows: bool = False
    ambient: float = 1.0
    diffuse: float = 0.5
    specular: float = 0.5
    shininess: float = 0.05
    metal: float = 1.0
    light_transmission: float = 0.0


@dataclass(frozen=True, slots=True)
class Extrusion:
    """Depth and bevel in px (three-d.md 8)."""

    depth: float
    bevel: float
    side_fill: str | None = None
    bevel_fill: str | None = None
    back_fill: str | None = None
    side_gain: float = 1.0
    bevel_gain: float = 1.0
    back_gain: float = 1.0


@dataclass(frozen=True, slots=True)
class Transform3D:
    """World matrix of a 3D layer; the anchor's x and y enter when the quad is placed (three-d.md 2)."""

    matrix: Matrix4
    anchor_x: float
    anchor_y: float
    flat: Transform2D
    """The same layer without depth, for routes that leave the depth path (mattes, motion blur)."""
    material: Material = Material()
    extrusion: Extrusion | None = None


# ----------------------------------------------------------------------------------------- compositing attributes


class MaskPoint(NamedTuple):
    """A vertex of a mask path; `feather` is None where the path's own applies."""

    x: float
    y: float
    in_x: float
    in_y: float
    out_x: float
    out_y: float
    feather: float | None = None


@dataclass(frozen=True, slots=True)
class MaskPath:
    """One mask path, px from the box centre; feather is a diameter, opacity 0..1 (compositing.md 5)."""

    id: str
    mode: str
    points: tuple[MaskPoint, ...]
    closed: bool = True
    feather: float = 0.0
    opacity: float = 1.0
    expansion: float = 0.0
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Matte:
    """A track matte. `source_id` is resolved: a layer of the same list, the next in paint order where none was named."""

    mode: Literal["alpha", "luma"]
    inverted: bool
    source_id: str | None


ParameterValue = float | bool | str | tuple["ParameterValue", ...] | None


@dataclass(frozen=True, slots=True)
class EffectSnapshot:
    """One enabled effect. The renderer's registry knows the declared parameters; this holds what the document says.

    `stored`: the stored parameters, as they are; `animated`: sampled tracks, a number under a parameter's key or a channel
    0..1 under `<key>_r/_g/_b/_a`, or under "" for the legacy single track. `amount` is the legacy single value.
    `clock` is the layer's own time, only for effects that are driven by it (effects.md 1.2).
    """

    id: str
    type: str
    stored: tuple[tuple[str, ParameterValue], ...] = ()
    animated: tuple[tuple[str, float], ...] = ()
    mask_id: str | None = None
    amount: float | None = None
    clock: float | None = None


@dataclass(frozen=True, slots=True)
class Glass:
    """The glass style, all fields resolved (compositing.md 8.2)."""

    blur: float
    saturation: float
    tint_color: str
    tint_opacity: float
    refraction: float
    edge_width: float
    chromatic_aberration: float
    rim_color: str
    rim_opacity: float
    rim_width: float
    rim_angle: float
    specular_angle: float
    specular_intensity: float
    specular_falloff: float
    grain: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One sub-frame of motion blur: where the layer is, and its opacity then."""

    transform: Transform2D
    opacity: float


@dataclass(frozen=True, slots=True)
class Ghost:
    """A copy of the layer at another time (echo, wide time), drawn below it, or above it where `in_front`."""

    transform: Transform2D
    opacity: float
    blend: str
    in_front: bool = False


@dataclass(frozen=True, slots=True)
class LayerSnapshot:
    """One entry of the paint list, resolved. `opacity` is a factor, not clamped.

    `visible` is false for an entry that is only kept because a matte or an effect refers to it. `effects` holds the own
    stack and then the compiled layer styles (their ids begin with `layerstyle:`), in order.
    """

    id: str
    name: str
    source: Source
    transform: Transform2D | Transform3D
    opacity: float = 1.0
    blend: str = "normal"
    visible: bool = True
    preserve_transparency: bool = False
    masks: tuple[MaskPath, ...] = ()
    matte: Matte | None = None
    effects: tuple[EffectSnapshot, ...] = ()
    fill_opacity: float = 1.0
    glass: Glass | None = None
    backdrop_blur: float = 0.0
    draft_quality: bool = False
    continuous_raster: bool = False
    mesh: Mesh | None = None
    samples: tuple[Sample, ...] = ()
    ghosts: tuple[Ghost, ...] = ()


# ------------------------------------------------------------------------------------------------- the whole frame


@dataclass(frozen=True, slots=True)
class Camera:
    """The active camera (three-d.md 3 to 5): eye and look-at resolved into a view matrix."""

    view: Matrix4
    focal_length: float
    eye: tuple[float, float, float]
    depth_of_field: bool = False
    focus_distance: float = 0.0
    aperture: float = 0.0
    strength: float = 0.0
    f_stop: float = 0.0
    """Above 0: the physical model with a lens of `lens_px` (three-d.md 7)."""
    lens_px: float = 0.0


@dataclass(frozen=True, slots=True)
class Light:
    """A light as the shading of 3D layers needs it (three-d.md 6)."""

    id: str
    light: Literal["point", "ambient", "spot", "parallel"]
    color: str
    intensity: float
    position: tuple[float, float, float]
    direction: tuple[float, float, float]
    cone: float
    cone_feather: float
    radius: float
    falloff: str
    falloff_distance: float
    casts_shadows: bool
    shadow_darkness: float
    shadow_diffusion: float


@dataclass(frozen=True, slots=True)
class ColorManagement:
    """Working space and display transform (compositing.md 1.1)."""

    working_space: Literal["srgb-linear", "aces-cg"] = "srgb-linear"
    display_transform: Literal["srgb", "aces", "pq", "hlg"] = "srgb"
    bit_depth: Literal[16, 32] = 16


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One composition at one time. `background` is None where nothing is painted under the layers (nested ones).

    `dissolve_seed` is the frame number, kept only where a layer needs it (dancing-dissolve), else 0.
    """

    width: float
    height: float
    layers: tuple[LayerSnapshot, ...]
    background: str | None = None
    background_paint: LinearGradient | RadialGradient | None = None
    camera: Camera | None = None
    lights: tuple[Light, ...] = ()
    global_light_angle: float = 90.0
    global_light_altitude: float = 45.0
    color: ColorManagement = ColorManagement()
    dissolve_seed: int = 0
