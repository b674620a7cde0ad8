"""The names of a property's expression (animation.md 4.4, 4.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from motion.formulas import noise
from motion.formulas.expressions import own_keys, surroundings
from motion.formulas.expressions.host import ExpressionHost
from motion.formulas.expressions.mathematics import FUNCTIONS, MATH, argument, is_given, round_half_up
from motion.formulas.expressions.values import ExpressionError, Native, Record, Value, divide, text
from motion.formulas.keyframes import velocity


class Reader(Protocol):
    """Read other properties within the same evaluation."""

    def value(self, node_id: str, path: str, time: float) -> float | None:
        """Return a property's value, including its expression."""

    def control(self, name: str, time: float) -> float:
        """Return the value of an expression control."""


class PropertyScope:
    """One run of one property's expression. Its only state is the random counter, which starts anew every time."""

    __slots__ = ("_counter", "_host", "_node_id", "_path", "_reader", "_seed", "_time", "_track")

    def __init__(self, host: ExpressionHost, reader: Reader, node_id: str, path: str, time: float) -> None:
        self._host = host
        self._reader = reader
        self._node_id = node_id
        self._path = path
        self._time = time
        self._track = host.track(node_id, path) or own_keys.EMPTY
        self._seed: float | None = None  # what seedRandom set
        self._counter = 0

    def lookup(self, name: str) -> Value:
        """Return the value of a variable or function. Raises ExpressionError for an unknown name."""
        fixed = FUNCTIONS.get(name)
        if fixed is not None:
            return fixed
        variable = _VARIABLES.get(name)
        if variable is not None:
            return variable(self)
        function = _FUNCTIONS.get(name)
        if function is None:
            raise ExpressionError(f"{name} is not known")
        return Native(lambda arguments: function(self, arguments))

    def _property_seed(self) -> float:
        """Return the seed of the property's noise. Copies have that of their original, whose id they are addressed by."""
        return float(noise.property_seed(self._node_id, self._path))

    def _draw(self) -> float:
        self._counter += 1
        return noise.draw(self._property_seed() if self._seed is None else self._seed, self._counter)

    # ------------------------------------------------------------------------------------------------- variables

    def _math(self) -> Value:
        """Return Math with a `random` that is equal in every run."""
        return Record({**MATH.members, "random": Native(lambda arguments: self._draw())})

    def _value(self) -> Value:
        return own_keys.value_at(self._track, self._time)

    def _velocity(self) -> Value:
        return velocity(self._track, self._time)

    def _speed(self) -> Value:
        return abs(velocity(self._track, self._time))

    def _num_keys(self) -> Value:
        return float(len(self._track.keys))

    def _layer_markers(self) -> Value:
        return surroundings.markers(self._host.layer_markers(self._node_id), self._time)

    def _this_composition(self) -> Value:
        facts = self._host.composition()
        return Record(
            {
                "width": float(facts.width),
                "height": float(facts.height),
                "duration": float(facts.duration_seconds),
                "fps": float(facts.fps),
                "frameDuration": 1.0 / max(1.0, facts.fps),
                "numLayers": float(facts.layer_count),
                "layer": Native(self._layer),
                "marker": surroundings.markers(self._host.composition_markers(), self._time),
            }
        )

    def _this_layer(self) -> Value:
        width, height = surroundings.layer_size(self._host, self._node_id)
        name = self._host.layer_facts(self._node_id).name
        coordinates = surroundings.coordinates(self._host, self._node_id, self._time)
        return Record({"name": name, "width": width, "height": height, "marker": self._layer_markers(), **coordinates})

    def _this_property(self) -> Value:
        names = ("value", "valueAtTime", "velocity", "speed", "velocityAtTime", "loopOut", "loopIn")
        return Record({name: self.lookup(name) for name in names})

    def _coordinate(self, name: str) -> Value:
        return surroundings.coordinates(self._host, self._node_id, self._time)[name]

    def _source_rect(self) -> Value:
        return surroundings.source_rect(self._host, self._node_id, self._time)

    # ------------------------------------------------------------------------------------------------- functions

    def _wiggle(self, arguments: Sequence[Value]) -> Value:
        frequency, amplitude = argument(arguments, 0, 2.0), argument(arguments, 1, 30.0)
        octaves = argument(arguments, 2, 1.0)
        count = int(min(8.0, max(1.0, octaves))) if not math.isnan(octaves) else 1
        factor, time = argument(arguments, 3, 0.5), argument(arguments, 4, self._time)
        offset = noise.wiggle_offset(self._property_seed(), time, frequency, amplitude, count, factor)
        return own_keys.value_at(self._track, self._time) + offset

    def _random(self, arguments: Sequence[Value]) -> Value:
        u = self._draw()
        if is_given(arguments, 1):
            low = argument(arguments, 0)
            return low + (argument(arguments, 1) - low) * u
        return u * argument(arguments, 0, 1.0)

    def _gauss_random(self, arguments: Sequence[Value]) -> Value:
        first, second = self._draw(), self._draw()
        return math.sqrt(-2.0 * math.log(max(1e-9, first))) * math.cos(math.tau * second)

    def _seed_random(self, arguments: Sequence[Value]) -> Value:
        self._seed, self._counter = argument(arguments, 0, 0.0), 0
        return 0.0

    def _noise(self, arguments: Sequence[Value]) -> Value:
        x, y = argument(arguments, 0), argument(arguments, 1, 0.0)
        return 2.0 * (noise.smooth_noise(1.7 * x + 31.4 * y) - 0.5)

    def _value_at_time(self, arguments: Sequence[Value]) -> Value:
        return own_keys.value_at(self._track, argument(arguments, 0))

    def _velocity_at_time(self, arguments: Sequence[Value]) -> Value:
        return velocity(self._track, argument(arguments, 0))

    def _loop_out(self, arguments: Sequence[Value]) -> Value:
        return own_keys.loop_out(self._track, self._time, _mode(arguments))

    def _loop_in(self, arguments: Sequence[Value]) -> Value:
        return own_keys.loop_in(self._track, self._time, _mode(arguments))

    def _key(self, arguments: Sequence[Value]) -> Value:
        return own_keys.key(self._track, argument(arguments, 0))

    def _nearest_key(self, arguments: Sequence[Value]) -> Value:
        return own_keys.nearest_key(self._track, argument(arguments, 0, self._time))

    def _time_to_frames(self, arguments: Sequence[Value]) -> Value:
        fps = argument(arguments, 1, float(self._host.composition().fps))
        return round_half_up(argument(arguments, 0, self._time) * fps)

    def _frames_to_time(self, arguments: Sequence[Value]) -> Value:
        return divide(argument(arguments, 0), argument(arguments, 1, float(self._host.composition().fps)))

    def _posterize_time(self, arguments: Sequence[Value]) -> Value:
        fps, time = argument(arguments, 0), argument(arguments, 1, self._time)
        frames = time * fps
        return time if not fps > 0.0 else (math.floor(frames) if math.isfinite(frames) else frames) / fps

    def _layer(self, arguments: Sequence[Value]) -> Value:
        if not is_given(arguments, 1):
            return self._layer_object(arguments)
        return self._read(arguments, self._time)

    def _layer_at(self, arguments: Sequence[Value]) -> Value:
        return self._read(arguments, argument(arguments, 2, self._time))

    def _read(self, arguments: Sequence[Value], time: float) -> Value:
        if len(arguments) < 2:
            raise ExpressionError("a layer and a property are needed")
        node_id = surroundings.found_layer(self._host, arguments[0])
        if node_id is None or math.isnan(time):
            return 0.0
        return self._reader.value(node_id, text(arguments[1]), time) or 0.0

    def _layer_object(self, arguments: Sequence[Value]) -> Value:
        node_id = surroundings.found_layer(self._host, arguments[0]) if arguments else None
        if node_id is None:
            raise ExpressionError("there is no such layer")
        facts = self._host.composition()
        coordinates = surroundings.coordinates(self._host, node_id, self._time)
        name = self._host.layer_facts(node_id).name
        return Record({"width": float(facts.width), "height": float(facts.height), "name": name, **coordinates})

    def _control(self, arguments: Sequence[Value]) -> Value:
        return self._reader.control(text(arguments[0]), self._time) if arguments else 0.0


def _mode(arguments: Sequence[Value]) -> str:
    return text(arguments[0]) if is_given(arguments, 0) else "cycle"


_VARIABLES: Mapping[str, Callable[[PropertyScope], Value]] = {
    "Math": PropertyScope._math,
    "time": lambda scope: scope._time,
    "value": PropertyScope._value,
    "velocity": PropertyScope._velocity,
    "speed": PropertyScope._speed,
    "audio": lambda scope: scope._host.loudness(),
    "numKeys": PropertyScope._num_keys,
    "marker": PropertyScope._layer_markers,
    "thisComp": PropertyScope._this_composition,
    "thisLayer": PropertyScope._this_layer,
    "thisProperty": PropertyScope._this_property,
    "sourceRectAtTime": PropertyScope._source_rect,
    **{name: partial(PropertyScope._coordinate, name=name) for name in ("toComp", "fromComp", "toWorld", "fromWorld")},
}
_FUNCTIONS: Mapping[str, Callable[[PropertyScope, Sequence[Value]], Value]] = {
    "wiggle": PropertyScope._wiggle,
    "random": PropertyScope._random,
    "gaussRandom": PropertyScope._gauss_random,
    "seedRandom": PropertyScope._seed_random,
    "noise": PropertyScope._noise,
    "valueAtTime": PropertyScope._value_at_time,
    "velocityAtTime": PropertyScope._velocity_at_time,
    "loopOut": PropertyScope._loop_out,
    "loopIn": PropertyScope._loop_in,
    "key": PropertyScope._key,
    "nearestKey": PropertyScope._nearest_key,
    "timeToFrames": PropertyScope._time_to_frames,
    "framesToTime": PropertyScope._frames_to_time,
    "posterizeTime": PropertyScope._posterize_time,
    "layer": PropertyScope._layer,
    "layerAt": PropertyScope._layer_at,
    "ctrl": PropertyScope._control,
}
