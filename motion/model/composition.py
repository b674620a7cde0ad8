"""A composition ready to be evaluated, with all compositions that it places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from motion.model.content import MediaContent, SoundContent
from motion.model.facts import DocumentFacts
from motion.model.layer import Layer
from motion.model.parity import Parity
from motion.model.settings import CompositionSettings
from motion.snapshot import ColorManagement, LinearGradient, RadialGradient, Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One place in a composition's paint list: a layer, or a group that composites the entries in it as a unit.

    `shown` is false for a layer that is hidden, or left out while others are soloed. `needed` is true for one that an
    effect of another layer looks at.
    """

    layer: Layer
    shown: bool
    needed: bool = False
    unit: tuple[Entry, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Layers of one composition: the painted ones in paint order, and unpainted ones that its picture depends on."""

    key: str
    settings: CompositionSettings
    entries: tuple[Entry, ...]
    cameras: tuple[Layer, ...]
    lights: tuple[Layer, ...]
    layers: Mapping[str, Layer]
    in_space: bool
    """True if a layer is 3D: flat layers divide 3D ones into runs, whatever their opacity (three-d.md 4)."""
    remembered: list[Snapshot] = field(default_factory=list)
    """Recently evaluated frames, so that equal frames are one object."""


@dataclass(frozen=True, slots=True)
class MotionBlur:
    """The document's shutter: degrees, and how many samples a frame takes (compositing.md 10)."""

    enabled: bool = True
    shutter_angle: float = 180.0
    shutter_phase: float = -90.0
    samples: int = 8
    adaptive_limit: int = 128


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """Result of `build` and input of `snapshot`: immutable, with every reference resolved.

    Sizes in px, times in seconds. `timeline_fps`: rate at which all bars are read, nested ones included. `layers`: a
    layer for every node of some plan, by the node's id. `facts`: data that expressions can read.
    """

    id: str
    name: str
    width: float
    height: float
    fps: float
    duration_seconds: float
    background: str
    background_paint: LinearGradient | RadialGradient | None
    plan: Plan
    plans: Mapping[str, Plan]
    timeline_fps: float
    motion_blur: MotionBlur
    color: ColorManagement
    facts: DocumentFacts
    layers: Mapping[str, Layer]
    parity: Parity
    warnings: tuple[str, ...]

    def layer_showing(self, source: str) -> Layer | None:
        """Return the first layer whose picture, video or sound comes from a source, None if there is none."""
        for layer in self.layers.values():
            content = layer.content
            if isinstance(content, MediaContent) and source in (content.src, *content.frames):
                return layer
            if isinstance(content, SoundContent) and source == content.source:
                return layer
        return None
