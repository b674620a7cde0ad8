"""Content of a layer, with its static values resolved. Animated numbers are looked up by property path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from motion.snapshot import BrushStroke, Paint, Run, Stroke, TextPath, TextRun, TextStyle

if TYPE_CHECKING:  # formulas import numpy, which processes that only check documents never need
    from motion.formulas.booleans import Operation
    from motion.formulas.particles import ParticleField
    from motion.formulas.path_ops import PathOperator
    from motion.formulas.text_animators import Animator


@dataclass(frozen=True, slots=True)
class ShapeContent:
    """A rectangle, ellipse or path; a path without runs is a rectangle that is drawn as a path.

    `fills` are the stack, bottom first; its solid entries are painted with `color`. Only the primary `stroke` moves. `runs` is the stored outline and
    `closed` decides about an animated one. `boolean_sources` are the ids of the layers that a live boolean combines.
    """

    primitive: Literal["rect", "ellipse", "path"]
    color: str
    fills: tuple[Paint, ...]
    stroke: Stroke | None
    further_strokes: tuple[Stroke, ...] = ()
    runs: tuple[Run, ...] = ()
    closed: bool = True
    operators: tuple[PathOperator, ...] = ()
    brush_strokes: tuple[BrushStroke, ...] = ()
    is_solid: bool = False
    boolean_operation: Operation | None = None
    boolean_sources: tuple[str, ...] = ()
    waveform: WaveformSettings | None = None


@dataclass(frozen=True, slots=True)
class WaveformSettings:
    """A sound as the outline of a shape (layers.md 4.6): `samples` places, at least `thickness` px high.

    `window_seconds`: length of the part around the playhead that is shown, None for the whole file.
    """

    source_layer: str
    samples: int = 128
    height_scale: float = 1.0
    thickness: float = 2.0
    window_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TextContent:
    """A text. `style` and the other members hold stored values; moving ones replace them frame by frame.

    `has_weight`: whether the document stores a font weight.
    """

    content: str | None
    style: TextStyle
    line_height: float
    paragraph_spacing: float
    align: str
    box_width: float | None
    stroke_over_fill: bool
    runs: tuple[TextRun, ...]
    animators: tuple[Animator, ...]
    path: TextPath | None
    per_character_3d: bool
    has_weight: bool = True


@dataclass(frozen=True, slots=True)
class MediaContent:
    """A picture, a video or a stored SVG document; `frames` makes it an image sequence at `frames_fps`.

    `fill` recolours it as a whole, `svg_fill` the shapes of an SVG document one by one.
    """

    kind: Literal["image", "video", "svg"]
    src: str
    cover: bool = False
    frames: tuple[str, ...] = ()
    frames_fps: float = 30.0
    frames_loop: bool = False
    markup: str | None = None
    intrinsic_width: float | None = None
    intrinsic_height: float | None = None
    live_playback: bool = False
    fill: Paint | None = None
    svg_fill: str | None = None
    stroke: Stroke | None = None


@dataclass(frozen=True, slots=True)
class ParticleContent:
    """A particle field as stored."""

    field: ParticleField


@dataclass(frozen=True, slots=True)
class LightContent:
    """A light; its numbers are looked up by path."""

    light: Literal["point", "ambient", "spot", "parallel"]
    color: str
    falloff: str
    casts_shadows: bool


@dataclass(frozen=True, slots=True)
class InstanceContent:
    """A placed composition: the key of its plan, None if it cannot be drawn, and its size in px.

    `fills_host` is true if the composition is unknown: the instance then has the size of the composition around it, and fills its frame
    wherever it is placed.
    """

    plan: str | None
    width: float
    height: float
    fills_host: bool = False


@dataclass(frozen=True, slots=True)
class NothingContent:
    """Groups, nulls, cameras: layers without content that move other layers or affect the picture otherwise."""


@dataclass(frozen=True, slots=True)
class SoundContent:
    """An audio layer: the source of its file. Without bars, [first_seconds, end_seconds) of the file plays from `start_seconds`.

    `end_seconds` is None for the file's end.
    """

    source: str
    start_seconds: float = 0.0
    first_seconds: float = 0.0
    end_seconds: float | None = None
    is_muted: bool = False


Content = (
    ShapeContent | TextContent | MediaContent | ParticleContent | LightContent | InstanceContent | SoundContent
    | NothingContent
)  # fmt: skip
