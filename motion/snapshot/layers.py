"""A composition at one time and the layers of its paint list, with everything that their compositing needs.

A layer can show a composition, so `Snapshot`, `LayerSnapshot` and `CompositionSource` refer to one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from motion.records import record
from motion.snapshot.frame import STANDARD_COLOR, Camera, ColorManagement, Light
from motion.snapshot.paints import LinearGradient, Mesh, RadialGradient
from motion.snapshot.placement import Transform2D, Transform3D
from motion.snapshot.sources import (
    AdjustmentSource,
    ImageSource,
    LightWash,
    MissingSource,
    ParticleSource,
    ShapeSource,
    SvgSource,
    TextSource,
    VideoSource,
)


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
    """A track matte. `source_id` is a layer of the same list: the named one, or the next in paint order."""

    mode: Literal["alpha", "luma"]
    inverted: bool
    source_id: str | None


ParameterValue = float | bool | str | tuple["ParameterValue", ...] | None

STYLE_PREFIX: Final = "layerstyle:"
"""Begins the ids of effects that layer styles are compiled to (effects.md 1.5)."""


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
    """One sub-frame of motion blur: the layer's placement and opacity."""

    transform: Transform2D | Transform3D
    opacity: float


@dataclass(frozen=True, slots=True)
class Ghost:
    """A copy of the layer at another time (echo, wide time), drawn below it, or above it where `in_front`."""

    transform: Transform2D | Transform3D
    opacity: float
    blend: str
    in_front: bool = False


@dataclass(frozen=True, slots=True)
class CompositionSource:
    """Layers composited as one unit. `sealed`: a placed composition, cropped to its own size; else a precomp group, whose
    layers are in the host's coordinates. An empty sealed one paints black (document.md 2.10.5): `black`."""

    composition: Snapshot
    width: float
    height: float
    sealed: bool
    black: bool = False


Source = (
    ShapeSource | TextSource | ImageSource | VideoSource | SvgSource | CompositionSource
    | LightWash | ParticleSource | AdjustmentSource | MissingSource
)  # fmt: skip


@record(frozen=True, slots=True)
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
    casts_shadows: bool = True
    shadow_only: bool = False
    """True if only the shadow that the layer casts or catches is visible (three-d.md 6.3)."""

    @property
    def shows_backdrop(self) -> bool:
        """True if the layer draws the backdrop blurred or refracted."""
        return self.glass is not None or self.backdrop_blur > 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One composition at one time. `background` is None for nested compositions: nothing is painted under their layers.

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
    color: ColorManagement = STANDARD_COLOR
    dissolve_seed: int = 0


def with_grouped(layers: Iterable[LayerSnapshot]) -> Iterator[LayerSnapshot]:
    """Yield the layers and the layers of their groups, which share the composition's camera and clock."""
    for layer in layers:
        yield layer
        if isinstance(layer.source, CompositionSource) and not layer.source.sealed:
            yield from with_grouped(layer.source.composition.layers)
