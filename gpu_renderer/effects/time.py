"""Effects of time (format/effects.md 8.12): evaluation acts on them, no pixel does."""

from __future__ import annotations

from gpu_renderer.effects.parameters import choice, degrees, number, percent
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("echo", Tier.COMMON, Route.TIME)
class Echo(Effect):
    """Ghosts of the layer at other times."""

    parameters = (
        number("echoTime", -0.05, -2, 2, unit="s"),
        number("numEchoes", 6, 0, 64),
        percent("startIntensity", 80),
        percent("decay", 70),
        choice("echoOperator", 0, "Add", "Maximum", "Minimum", "Screen", "Composite In Back", "Composite In Front"),
    )


@effect("posterize-time", Tier.COMMON, Route.TIME)
class PosterizeTime(Effect):
    """Holds the layer's time at a lower rate."""

    parameters = (number("frameRate", 12, 1, 120, unit="fps"),)


@effect("wide-time", Tier.COMMON, Route.TIME)
class WideTime(Effect):
    """Ghosts of the neighbouring frames."""

    parameters = (
        number("forwardSteps", 2, 0, 64),
        number("backwardSteps", 2, 0, 64),
    )


@effect("force-motion-blur", Tier.COMMON, Route.TIME)
class ForceMotionBlur(Effect):
    """Motion blur with its own shutter."""

    parameters = (
        degrees("shutterAngle", 180, 0, 720),
        number("samples", 12, 2, 32),
    )
