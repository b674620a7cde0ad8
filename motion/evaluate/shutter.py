"""Motion blur samples and the ghosts of echoes (compositing.md 10, animation.md 3.6)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from motion.evaluate import space
from motion.evaluate.clone_places import clone_opacity
from motion.evaluate.context import EvaluationContext, Values, local, scales
from motion.formulas import affine, matrix4
from motion.model.layer import Echo, Layer, WideTime
from motion.snapshot import Ghost, Sample, Transform2D, Transform3D
from motion.stored import LARGEST
from motion.timing import round_half_up

BLURRED_PATHS = (
    "x", "y", "rotation", "scale", "scaleX", "scaleY", "z", "rotationX", "rotationY",
    "orientationX", "orientationY", "orientationZ",
)  # fmt: skip
"""Only keyframes on one of these make a layer blur."""

GHOST_PATHS = ("x", "y", "z", "rotationX", "rotationY", "rotation")
"""Properties that ghosts have at their own time."""
ANGLE_MAX = 360.0
FORCED_SAMPLES_MIN, FORCED_SAMPLES_MAX = 2.0, 32.0
FAINTEST_GHOST = 0.002
GHOSTS_MAX = 64
ECHO_BLENDS = {0: "add", 1: "lighten", 2: "darken", 3: "screen", 4: "normal", 5: "normal"}
IN_FRONT = 5


@dataclass(frozen=True, slots=True)
class Shutter:
    """Opening of the shutter around a frame, in degrees of a frame, and its number of samples."""

    angle: float
    phase: float
    samples: int
    limit: int


def samples(context: EvaluationContext, layer: Layer, placed: Transform2D | Transform3D) -> tuple[Sample, ...]:
    """Return evenly spaced placements of the layer while the shutter is open, or none without motion blur."""
    shutter = _shutter(context, layer)
    if (
        shutter is None
        or shutter.angle <= 0
        or not any(path in layer.moving and layer.moving[path].has_keys for path in BLURRED_PATHS)
    ):
        return ()
    count = _count(context, layer, shutter)
    return tuple(
        _sample(context, layer, time, placed) for time in times(shutter, context.time, context.frame.output_fps, count)
    )


def times(shutter: Shutter, time: float, fps: float, count: int) -> list[float]:
    """Return the composition times of the samples: both ends of the window included, a phase of -90 centres it."""
    window = shutter.angle / 360.0 / max(1.0, fps)
    shift = (shutter.phase + 90.0) / 360.0 / max(1.0, fps)
    if count <= 1:
        return [time]
    return [time + shift + (index / (count - 1) - 0.5) * window for index in range(count)]


def ghosts(
    context: EvaluationContext, layer: Layer, placed: Transform2D | Transform3D, opacity: float
) -> tuple[Ghost, ...]:
    """Return the layer at other times, farthest first. Position and rotation are moved by their change until that time."""
    if layer.echo is None:
        return ()
    values = context.values(layer)
    values.count_time_as_read()
    if isinstance(layer.echo, Echo):
        steps, blend = _echoes(layer.echo, values), ECHO_BLENDS.get(layer.echo.operator, "add")
    else:
        steps, blend = _wide_steps(layer.echo, values, context.plan.settings.fps), "normal"
    in_front = isinstance(layer.echo, Echo) and layer.echo.operator == IN_FRONT
    now = context.values_at(layer, context.time)
    found = []
    for offset, strength in steps:
        if strength > FAINTEST_GHOST and context.time + offset >= 0:
            then = context.values_at(layer, context.time + offset)
            found.append(Ghost(_moved(context, layer, placed, now, then), opacity * strength, blend, in_front))
    return tuple(found)


def _echoes(echo: Echo, values: Values) -> list[tuple[float, float]]:
    """Return (seconds, opacity) of each ghost, farthest in time first (effects.md 8.12)."""

    def number(name: str, stored: float) -> float:
        return _parameter(values, echo.id, name, stored)

    step, strength = number("echoTime", echo.step_seconds), number("startIntensity", echo.intensity) / 100.0
    decay = number("decay", echo.decay) / 100.0
    found = []
    for index in range(1, round_half_up(min(float(GHOSTS_MAX), max(0.0, number("numEchoes", echo.count)))) + 1):
        found.append((step * index, strength))
        strength = max(-LARGEST, min(LARGEST, strength * decay))
    return list(reversed(found)) if step else []


def _wide_steps(wide: WideTime, values: Values, fps: float) -> list[tuple[float, float]]:
    """Return steps of one frame to both sides, all with one opacity."""

    def count(name: str, stored: float) -> int:
        return round_half_up(min(float(GHOSTS_MAX), max(0.0, _parameter(values, wide.id, name, stored))))

    ahead, behind = count("forwardSteps", wide.ahead), count("backwardSteps", wide.behind)
    offsets = [*range(1, ahead + 1), *range(-1, -behind - 1, -1)]
    return [(offset / fps, 1.0 / (ahead + behind + 1)) for offset in sorted(offsets, key=abs, reverse=True)]


def _parameter(values: Values, effect_id: str, name: str, stored: float) -> float:
    """Return a number of an effect, from its track if there is one (effects.md 1.2)."""
    return values.moving_or(f"effect.{effect_id}.{name}", stored)


def _shutter(context: EvaluationContext, layer: Layer) -> Shutter | None:
    settings, forced = context.frame.composition.motion_blur, layer.forced_blur
    if forced is not None:
        values = context.values(layer)
        angle = _parameter(values, forced.id, "shutterAngle", forced.shutter_angle)
        count = _parameter(values, forced.id, "samples", forced.samples)
        angle, count = min(ANGLE_MAX, max(0.0, angle)), min(FORCED_SAMPLES_MAX, max(FORCED_SAMPLES_MIN, count))
        return Shutter(angle, settings.shutter_phase, int(count), settings.adaptive_limit)
    if not settings.enabled or not layer.motion_blur:
        return None
    return Shutter(settings.shutter_angle, settings.shutter_phase, settings.samples, settings.adaptive_limit)


def _count(context: EvaluationContext, layer: Layer, shutter: Shutter) -> int:
    """Return the number of samples. A layer that travels far gets more: one for every two pixels, up to the limit."""
    first, last = times(shutter, context.time, context.frame.output_fps, 2)
    a, b = _values(context, layer, first), _values(context, layer, last)
    travel = math.hypot(b.number("x", 0.0) - a.number("x", 0.0), b.number("y", 0.0) - a.number("y", 0.0))
    return min(shutter.limit, max(shutter.samples, math.ceil(min(travel, 1e6) / 2)))


def _values(context: EvaluationContext, layer: Layer, time: float) -> Values:
    snaps = context.frame.composition.parity.blur_snaps_to_frames
    return context.values_at(layer, context.mapped(layer, time, exact=not snaps))


def _sample(context: EvaluationContext, layer: Layer, time: float, placed: Transform2D | Transform3D) -> Sample:
    """Return the layer's transform at a time, without its parents as in the reference, or with them (Q9)."""
    values = _values(context, layer, time)
    opacity = values.number("opacity", 100.0) / 100.0 * clone_opacity(context, layer)
    if isinstance(placed, Transform2D):
        return Sample(_sampled(context, layer, values, placed), opacity)
    matrix = space.sampled(
        context,
        layer,
        values,
        _blur_scales(values),
        ignores_parents=context.frame.composition.parity.blur_ignores_parents,
    )
    flat = _sampled(context, layer, values, placed.flat)
    return Sample(replace(placed, matrix=matrix, flat=flat) if matrix4.is_finite(matrix) else flat, opacity)


def _sampled(context: EvaluationContext, layer: Layer, values: Values, flat: Transform2D) -> Transform2D:
    if layer.parent is not None and not context.frame.composition.parity.blur_ignores_parents:
        parts = affine.decomposed(affine.product(context.world(layer.parent), local(values)))
        return replace(
            flat, x=parts.x, y=parts.y, rotation=parts.rotation, scale_x=parts.scale_x, scale_y=parts.scale_y
        )
    scale_x, scale_y = _blur_scales(values)
    return replace(
        flat,
        x=values.number("x", 0.0),
        y=values.number("y", 0.0),
        rotation=values.number("rotation", 0.0),
        scale_x=scale_x,
        scale_y=scale_y,
        skew=0.0,
        skew_axis=0.0,
    )


def _blur_scales(values: Values) -> tuple[float, float]:
    """Return the scales of a sample. An animated uniform scale overrides the axes (animation.md 3.6)."""
    uniform = values.moving("scale")
    return scales(values) if uniform is None else (uniform, uniform)


def _moved(
    context: EvaluationContext, layer: Layer, placed: Transform2D | Transform3D, now: Values, then: Values
) -> Transform2D | Transform3D:
    """Return the placement, moved by the change of position and rotation until a time (effects.md 8.12)."""
    shift = space.Shift(*(then.number(path, 0.0) - now.number(path, 0.0) for path in GHOST_PATHS))
    flat = placed.flat if isinstance(placed, Transform3D) else placed
    flat = replace(flat, x=flat.x + shift.x, y=flat.y + shift.y, rotation=flat.rotation + shift.rotation)
    if not isinstance(placed, Transform3D):
        return flat
    return replace(placed, matrix=space.world(context, layer, space.facing_turn(context, layer), shift), flat=flat)
