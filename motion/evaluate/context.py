"""The evaluation context: one composition at one time, with each layer's own time, sampled values and world matrix.

An `EvaluationContext` caches its results, because parents, mattes and expressions ask for the same layer again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from motion.errors import PropertyRefused
from motion.evaluate.audio_analysis import Sounds
from motion.formulas import affine
from motion.formulas.affine import Affine
from motion.formulas.booleans import CombinedOutline
from motion.formulas.cloner import Clone, Guide
from motion.formulas.data_keyframes import DataValue, sample_data
from motion.formulas.keyframes import sample_scalar
from motion.model.composition import Composition, Plan
from motion.model.layer import Layer, Moving
from motion.stored import LARGEST
from motion.timing import round_half_up

FRAME_LAYERS_MAX = 20_000
SCALES = frozenset(("scale", "scaleX", "scaleY"))


class PropertyReader(Protocol):
    """Read properties that expressions drive: `properties.Properties`."""

    def value(self, layer: Layer, path: str, own_time: float) -> float | None:
        """Return the property's value at a time of the layer, or None if neither an expression nor keyframes give one."""
        ...


class FrameBudget:
    """Number of layers that one frame can evaluate, nested compositions included: a bound of time and memory."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = FRAME_LAYERS_MAX

    def spend(self, layers: int) -> None:
        """Count layers, or an equal cost. Raise PropertyRefused if the frame needs too many."""
        self.left -= layers
        if self.left < 0:
            raise PropertyRefused(
                "Placed compositions multiply, or text animators and live booleans are so many, that no frame can hold them."
            )


@dataclass(frozen=True, slots=True)
class FrameContext:
    """State shared by all evaluation contexts of one frame. Without `sounds`, audio layers are silent."""

    composition: Composition
    output_fps: float
    properties: PropertyReader
    budget: FrameBudget
    sounds: Sounds | None = None


class Values:
    """A layer's properties at one of its own times.

    They record what is read: `varies` if a value was read that can change from frame to frame, `reads_time` if such a value
    comes from more than keyframes: from the time itself, an expression or a data track.
    """

    __slots__ = ("_moving", "_numbers", "_properties", "_time", "layer", "reads_time", "varies")

    def __init__(self, layer: Layer, time: float, properties: PropertyReader) -> None:
        self.layer = layer
        self.varies = self.reads_time = False
        self._time = time
        self._moving = layer.moving
        self._numbers = layer.numbers
        self._properties = properties

    def forget_reads(self) -> None:
        """Discard the recorded reads."""
        self.varies = self.reads_time = False

    def count_time_as_read(self) -> None:
        """Record a read of the time, for callers that have the time from another source."""
        self.varies = self.reads_time = True

    def add_reads_of(self, other: Values) -> None:
        """Add the recorded reads of other values."""
        self.varies = self.varies or other.varies
        self.reads_time = self.reads_time or other.reads_time

    @property
    def time(self) -> float:
        """The layer's own time in seconds, recorded as read."""
        self.count_time_as_read()
        return self._time

    def number(self, path: str, default: float) -> float:
        """Return the property's animated value, else the stored value, else the default."""
        moving = self._moving.get(path)
        if moving is not None and (value := self._sampled(path, moving)) is not None:
            return value
        return self._numbers.get(path, default)

    def moving_or(self, path: str, default: float) -> float:
        """Return the property's animated value, else the default."""
        moving = self.moving(path)
        return default if moving is None else moving

    def moving(self, path: str) -> float | None:
        """Return the property's animated value, or None if it is not animated."""
        moving = self._moving.get(path)
        return None if moving is None else self._sampled(path, moving)

    def moving_of(self, paths: Mapping[str, str]) -> dict[str, float]:
        """Return the values of the animated properties among `paths`, by their keys in it."""
        return {key: value for key, path in paths.items() if (value := self.moving(path)) is not None}

    def moving_below(self, *prefixes: str) -> dict[str, float]:
        """Return the values of the animated properties whose paths begin with one of the prefixes, by path."""
        return self.moving_of({path: path for path in self._moving if path.startswith(prefixes)})

    def moves_any(self, paths: frozenset[str]) -> bool:
        """Return True if one of the properties is animated."""
        return not paths.isdisjoint(self._moving)

    def stored(self, path: str) -> float | None:
        """Return the property's static value, None if the layer does not store one."""
        return self._numbers.get(path)

    def data(self, path: str) -> DataValue | None:
        """Return the value of a data track, None if the layer does not have the track."""
        track = self.layer.data.get(path)
        if track is None:
            return None
        self.count_time_as_read()
        return sample_data(track, self._time)

    def _sampled(self, path: str, moving: Moving) -> float | None:
        if moving.varies:
            self.varies = True
            self.reads_time = self.reads_time or moving.expression is not None
        if moving.expression is not None:
            return self._properties.value(self.layer, path, self._time)
        assert moving.track is not None
        value = sample_scalar(moving.track, self._time)
        if value is None or -LARGEST <= value <= LARGEST:
            return value
        return LARGEST if value > 0 else -LARGEST


class EvaluationContext:
    """One plan at one time in seconds. `stack` holds the ids of the placed compositions that lead to it, its own last."""

    __slots__ = (
        "_bar_frame",
        "_times",
        "_values",
        "_worlds",
        "clones",
        "combined",
        "frame",
        "guides",
        "plan",
        "stack",
        "time",
    )

    def __init__(self, frame: FrameContext, plan: Plan, time: float, stack: tuple[str, ...] = ()) -> None:
        self.frame = frame
        self.plan = plan
        self.time = time
        self.stack = stack
        self.clones: dict[str, Clone | None] = {}
        self.guides: dict[str, Guide | None] = {}
        """Results of `clone_places.py`, by layer."""
        self.combined: dict[str, CombinedOutline | None] = {}
        """Results of live booleans (`shapes.py`), by layer."""
        self._bar_frame: int | None = None
        self._times: dict[str, float] = {}
        self._values: dict[str, Values] = {}
        self._worlds: dict[str, Affine] = {}

    def is_live(self, layer: Layer) -> bool:
        """Return True if the layer is within one of its bars, or has none.

        A hidden layer's bars are off (document.md 2.10.3).
        """
        if not layer.bars:
            return True
        if not layer.visible:
            return False
        if self._bar_frame is None:
            self._bar_frame = self._timeline_frame()
        frame = self._bar_frame
        for start, duration, _ in layer.bars:  # noqa: SIM110  asked for every layer
            if start <= frame < start + duration:
                return True
        return False

    def _timeline_frame(self) -> int:
        """Return the timeline frame that bars are compared with. Times after the last frame count as the last frame."""
        composition = self.frame.composition
        last = max(0, round_half_up(composition.duration_seconds * composition.timeline_fps) - 1)
        return min(round_half_up(self.time * composition.timeline_fps), last)

    def own_time(self, layer: Layer) -> float:
        """Return the time on the layer's own axis."""
        found = self._times.get(layer.id)
        if found is None:
            found = self._times[layer.id] = self.mapped(layer, self.time)
        return found

    def mapped(self, layer: Layer, time: float, *, exact: bool = False) -> float:
        """Return a time of this context on the layer's own axis; `exact` leaves out the step to whole frames (document.md 2.10.3)."""
        time = self.unstretched(layer, time, exact=exact)
        return layer.time.stretched(layer.time.posterized(time)) if not layer.time.is_plain else time

    def unstretched(self, layer: Layer, time: float, *, exact: bool = False) -> float:
        """Return a time of this context as the layer's stretch, reversal and freezing take it: after delay, remaps and bar."""
        time -= layer.delay
        for unit in layer.remapped_by:
            time = self.remapped(unit, time)
        return self._in_bar(layer, time, exact) if layer.bars and layer.visible else time

    def remapped(self, layer: Layer, time: float) -> float:
        """Return a time of this context after the layer's own remap.

        A remap without keyframes is the number of that name on the node's Transform.
        """
        static = self.frame.composition.facts.numbers.get(layer.source_id, {})
        for path in ("timeRemap", "precompTime"):
            moving = layer.moving.get(path)
            value = Values(layer, time, self.frame.properties).moving(path) if moving else static.get(path)
            if value is not None:
                return value
        return time

    def values(self, layer: Layer) -> Values:
        """Return the layer's properties at its own time."""
        found = self._values.get(layer.id)
        if found is None:
            found = self._values[layer.id] = Values(layer, self.own_time(layer), self.frame.properties)
        return found

    def values_at(self, layer: Layer, own_time: float) -> Values:
        """Return the layer's properties at another of its own times."""
        return Values(layer, own_time, self.frame.properties)

    def world(self, layer: Layer) -> Affine:
        """Return the map from the layer's space to the composition, its parents' included (animation.md 6.3)."""
        chain = []
        current: Layer | None = layer
        while current is not None and current.id not in self._worlds:
            chain.append(current)
            current = current.parent
        world = affine.IDENTITY if current is None else self._worlds[current.id]
        for ancestor in reversed(chain):
            world = affine.product(world, local(self.values(ancestor)))
            self._worlds[ancestor.id] = world
        return world

    def _in_bar(self, layer: Layer, time: float, exact: bool) -> float:
        composition = self.frame.composition
        fps = composition.timeline_fps
        frame = round_half_up(time * fps)
        for start, duration, source_in in layer.bars:
            if start <= frame < start + duration:
                exact = exact or not composition.parity.bars_step_at_timeline_rate
                return (source_in + ((time * fps if exact else frame) - start)) / fps
        return time


def scales(values: Values) -> tuple[float, float]:
    """Return both scale factors. An axis overrides the uniform scale, an animated value a stored one (animation.md
    6.2).
    """
    stored = values.stored("scale")
    if not values.moves_any(SCALES):
        still = 1.0 if stored is None else stored
        scale_x, scale_y = values.stored("scaleX"), values.stored("scaleY")
        return still if scale_x is None else scale_x, still if scale_y is None else scale_y
    uniform = values.moving("scale")
    found = []
    for path in ("scaleX", "scaleY"):
        value = values.moving(path)
        value = uniform if value is None else value
        value = values.stored(path) if value is None else value
        value = stored if value is None else value
        found.append(1.0 if value is None else value)
    return found[0], found[1]


def local(values: Values) -> Affine:
    """Return T(x, y) R(rotation) S(scale) of the layer without its parents, which its children inherit."""
    scale_x, scale_y = scales(values)
    return affine.placed(
        values.number("x", 0.0), values.number("y", 0.0), values.number("rotation", 0.0), scale_x, scale_y
    )
