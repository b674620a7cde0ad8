"""Render graph: a plain description of a frame, made by `compile`, used by `lower`. Equal graphs draw equal pixels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gpu_renderer.content.raster import WHOLE, UnitRect
from gpu_renderer.display_list.layer_records import LayerRecord
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.color import Rgba, decoded, linear
from gpu_renderer.geometry.matrix import Matrix3, Placement
from gpu_renderer.geometry.region import Region
from motion.records import record
from motion.snapshot import (
    ColorManagement,
    LayerSnapshot,
    Light,
    LinearGradient,
    Material,
    Matrix4,
    RadialGradient,
    Transform2D,
)

MODES = {
    "normal": 0, "multiply": 1, "screen": 2, "overlay": 3, "darken": 4, "lighten": 5, "color-dodge": 6, "color-burn": 7,
    "hard-light": 8, "soft-light": 9, "difference": 10, "exclusion": 11, "hue": 12, "saturation": 13, "color": 14,
    "luminosity": 15, "linear-burn": 16, "linear-dodge": 17, "linear-light": 18, "vivid-light": 19, "pin-light": 20,
    "hard-mix": 21, "subtract": 22, "divide": 23, "classic-color-burn": 24, "classic-color-dodge": 25,
    "classic-difference": 26, "darker-color": 27, "lighter-color": 28, "alpha-add": 29, "luminescent-premul": 30,
    "stencil-alpha": 31, "stencil-luma": 32, "silhouette-alpha": 33, "silhouette-luma": 34, "dissolve": 35,
    "dancing-dissolve": 36,
}  # fmt: skip
"""Numbers of the blend modes (table of compositing.md 3.2), as in shaders/include/blend.glsl and combine.glsl."""

FIXED_BLENDS = ("normal", "add")
"""Blend modes that the GPU blends in hardware."""

Tint = tuple[float, float, float]
UNTINTED: Tint = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class PlacedSample:
    """One sub-frame of motion blur."""

    placement: Placement
    opacity: float


@dataclass(frozen=True, slots=True)
class MatteUse:
    """A track matte: the layer that supplies it at full opacity, or None if that layer is empty."""

    source: Draw | None
    mode: Literal["alpha", "luma"]
    inverted: bool


@dataclass(frozen=True, slots=True)
class Plane:
    """A layer's plane in space: the matrix from layer px to world px, and its lighting."""

    world: Matrix4
    toward: tuple[float, float, float, float]
    """Row of the view matrix that gives the distance of a world point from the eye."""
    material: Material
    gain: float = 1.0
    """Shade of a body's sides, see `Draw.tint`."""
    is_one_sided: bool = False
    """True for a face of a box or a cylinder, which is lit on its outer side only."""


@record(frozen=True, slots=True)
class Draw:
    """One layer, or one group rendered on its own, composited into the target below it."""

    layer: LayerSnapshot
    placement: Placement
    opacity: float
    raster_scale: float
    blend: str = "normal"
    samples: tuple[PlacedSample, ...] = ()
    group: RenderGraph | None = None
    matte: MatteUse | None = None
    plane: Plane | None = None
    tint: Tint = UNTINTED
    """Factor of the content's encoded colours: the light on a plane that is drawn without perspective."""
    part: UnitRect = WHOLE
    """Part of the texture that covers the whole quad."""
    is_hard: bool = False
    """True for shapes without a soft edge, so that the walls of a body touch without gaps."""
    is_exact: bool = False
    """True for pictures filtered in full precision, because a later step amplifies small differences."""
    is_matte: bool = False
    """True for the layer that supplies a track matte."""
    is_bare: bool = field(init=False, repr=False, compare=False)
    """True if the content is only placed and faded."""

    def __post_init__(self) -> None:
        layer = self.layer
        is_placed_alone = not (self.samples or self.group or self.matte or self.plane)
        is_changed = layer.effects or layer.masks or layer.mesh or layer.fill_opacity < 1
        is_changed = is_changed or self.tint != UNTINTED or self.part != WHOLE
        is_combined = layer.shows_backdrop or layer.preserve_transparency
        is_combined = is_combined or layer.blend not in FIXED_BLENDS
        object.__setattr__(self, "is_bare", is_placed_alone and not (is_changed or is_combined))

    @property
    def gain(self) -> Tint:
        """Factor of the encoded colours of textures: the decoded shade (compositing.md 1.4)."""
        red, green, blue = self.shade
        return UNTINTED if self.shade == UNTINTED else (decoded(red), decoded(green), decoded(blue))

    @property
    def shade(self) -> Tint:
        """Factor of authored encoded colours, applied after the effects."""
        return self.tint if self.plane is None or self.plane.gain == 1.0 else (self.plane.gain,) * 3


@dataclass(frozen=True, slots=True)
class Adjustment:
    """An adjustment layer: its effects apply to everything drawn below it."""

    layer: LayerSnapshot


@dataclass(frozen=True, slots=True)
class DepthGroup:
    """Planes that hide one another by depth, in painter's order. Faces without perspective have equal distances."""

    planes: tuple[Draw, ...]


class MovedLayer(NamedTuple):
    """A bare shape or text whose place and opacity alone can differ from those of the last frame."""

    record: LayerRecord[Any]
    """Record of the layer, with its paint."""
    layer: LayerSnapshot
    transform: Transform2D
    opacity: float
    view: Matrix3
    """Matrix from composition px to frame px."""
    is_new: bool
    """True if the last frame did not show the layer, or with another content."""
    is_exact: bool = False
    """Same as `Draw.is_exact`."""


Step = Draw | Adjustment | DepthGroup | MovedLayer


NO_EYE = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Scene:
    """State shared by all steps of one composition."""

    frame: Region
    clip: Region
    """Pixels of the composition. Nothing is composited outside them."""
    view: Matrix3
    """Matrix from composition px to frame px."""
    view_scale: float
    """Frame px per composition px of the output. It excludes the scale of a placed composition."""
    width: float
    height: float
    color: ColorManagement
    dissolve_seed: int
    lights: tuple[Light, ...] = ()
    eye: tuple[float, float, float] = NO_EYE
    """Position of the camera, world px, for the lights. Without lights it is `NO_EYE`: a moving camera alone does not change
    the scene, only the placements of its planes."""
    still_scale: float = 1.0
    """Size of a still relative to its video: the factor of lengths in output px (effects.md 3.6)."""

    @property
    def quad(self) -> Matrix3:
        """Matrix from the unit square to the composition's box on the frame."""
        return matrix.product(self.view, matrix.scaling(self.width, self.height))

    @property
    def is_aces_cg(self) -> bool:
        """True if the working space is ACEScg."""
        return self.color.working_space == "aces-cg"

    def linear(self, encoded: Rgba) -> Rgba:
        """Return a straight encoded sRGB colour in the linear working space."""
        return linear(encoded, aces_cg=self.is_aces_cg)


@dataclass(frozen=True, slots=True)
class RenderGraph:
    """One composition: its background and its steps, bottom first."""

    scene: Scene
    steps: tuple[Step, ...]
    background: str | None = None
    background_paint: LinearGradient | RadialGradient | None = None
    references: tuple[tuple[str, Draw], ...] = ()
    """Layers that effects of this composition read, by id."""
