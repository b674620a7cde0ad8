"""A layer with every default filled in: its content, animation and timing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from motion.model.content import Content
from motion.model.layer_time import Bar, LayerTime
from motion.snapshot import EffectSnapshot, Glass, LayerSnapshot, MaskPath, Material, ParameterValue

if TYPE_CHECKING:  # formulas import numpy, which processes that only check documents never need
    from motion.formulas.cloner import Clone, CloneDrivers
    from motion.formulas.data_keyframes import DataTrack
    from motion.formulas.keyframes import ScalarTrack
    from motion.formulas.mask_keys import MaskTrack
    from motion.formulas.rigs import Rig


class Moving(NamedTuple):
    """Animation of one property: keyframes, an expression, or both. `varies` is false for keyframes of one value."""

    track: ScalarTrack | None
    expression: str | None
    varies: bool

    @property
    def has_keys(self) -> bool:
        """True if the property has keyframes: an expression alone does not count for remaps and motion blur."""
        return self.track is not None and bool(self.track.keys)


@dataclass(frozen=True, slots=True)
class Effect:
    """An enabled effect, or a layer style compiled to one.

    `static` has the stored parameters. `tracks` holds the name and the property path of each animated parameter. If there is none,
    `legacy_path` animates the first parameter. `clock` is true for an effect that needs the layer's own time.
    """

    static: EffectSnapshot
    tracks: tuple[tuple[str, str], ...] = ()
    legacy_path: str | None = None
    clock: bool = False


@dataclass(frozen=True, slots=True)
class MatteReference:
    """A track matte as stored: the source may be unnamed, or gone."""

    mode: Literal["alpha", "luma"]
    inverted: bool
    source_id: str | None


@dataclass(frozen=True, slots=True)
class Echo:
    """Copies of a layer at other times: an echo effect, its numbers under `effect.<id>.`; seconds and percent.

    `operator`: 0 add, 1 lighten, 2 darken, 3 screen, 4 behind, 5 in front.
    """

    id: str
    step_seconds: float = -0.05
    count: float = 6.0
    intensity: float = 80.0
    decay: float = 70.0
    operator: int = 0


@dataclass(frozen=True, slots=True)
class WideTime:
    """Copies of a layer one frame apart: the number ahead of its time, and the number behind it."""

    id: str
    ahead: float = 2.0
    behind: float = 2.0


@dataclass(frozen=True, slots=True)
class ForcedBlur:
    """A force-motion-blur effect: its own shutter in degrees and samples, its numbers under `effect.<id>.`."""

    id: str
    shutter_angle: float = 180.0
    samples: float = 12.0


Part = Literal["placement", "effects", "source", "mesh", "unmoved"]


@dataclass(slots=True, eq=False)
class Constants:
    """Cache of a layer's results that are equal at every time. Results do not depend on it."""

    parts: dict[Part, object] = field(default_factory=dict)
    """Parts of its snapshot (`motion/evaluate/constant_parts.py`)."""
    snapshots: dict[tuple[bool, str | None], LayerSnapshot] = field(default_factory=dict)
    """Whole snapshots, by visibility and by phase of the keyframes, None for a layer without one (`keyframe_phase.py`)."""
    key_spans: KeySpans | None = None
    """Spans of the layer's and its parents' keyframes (`keyframe_phase.py`), None before the first use."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One layer of one composition.

    `id` is unique in its composition; `source_id` is the node's own id, which clones and spliced layers share.

    - Values by property path: `numbers` are stored numbers, `moving` are animations that replace them, `data` are keyframes of texts,
      outlines and gradients.
    - Time: `bars` in frames, `time` within a bar, `delay` in seconds. `is_time_unit` is true for a group that composites as one unit, and
      for a placed composition. `remapped_by` are the parents, outermost first, that are such groups and have keyframes for the time of
      their content.
    - Place: `moves` is true if it can change. `clone` displaces a copy of a cloner; if other layers drive the cloner,
      `clone_drivers` replaces it in each frame. `corner_pin` has x and y of four corners in the unit square.
    """

    id: str
    source_id: str
    name: str
    kind: str
    content: Content
    numbers: Mapping[str, float]
    moving: Mapping[str, Moving]
    data: Mapping[str, DataTrack]
    bars: tuple[Bar, ...]
    time: LayerTime
    visible: bool
    solo: bool
    parent: Layer | None
    is_time_unit: bool
    remapped_by: tuple[Layer, ...]
    moves: bool
    is_3d: bool = False
    is_adjustment: bool = False
    blend: str = "normal"
    preserve_transparency: bool = False
    masks: tuple[MaskPath, ...] = ()
    mask_track: MaskTrack | None = None
    matte: MatteReference | None = None
    effects: tuple[Effect, ...] = ()
    glass: Glass | None = None
    motion_blur: bool = False
    forced_blur: ForcedBlur | None = None
    echo: Echo | WideTime | None = None
    auto_orient: Literal["off", "path", "camera"] = "off"
    corner_pin: tuple[float, float, float, float, float, float, float, float] | None = None
    draft_quality: bool = False
    continuous_raster: bool = False
    material: Material = field(default_factory=Material)
    casts_shadows: bool = True
    shadow_only: bool = False
    face_materials: Mapping[str, ParameterValue] = field(default_factory=dict)
    rig: Rig | None = None
    clone: Clone | None = None
    clone_drivers: CloneDrivers | None = None
    delay: float = 0.0
    constants: Constants = field(default_factory=Constants)


KeySpans = tuple[tuple[Layer, tuple[tuple[float, float], ...]], ...]
"""A layer and its parents, each with the times in s of the first and the last key of the tracks that vary."""
