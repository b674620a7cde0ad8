"""What drawing a step comes to where that is contents and light, one over the other, over what is below them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpu_renderer.display_list.paint import Ink, Look, Spot
from gpu_renderer.effects import Light, Lit
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.opengl.targets import Target


class Content(NamedTuple):
    """Content on a quad, as `quads.draw` takes it."""

    ink: Ink
    quad: Matrix3
    opacity: float
    look: Look
    is_smooth: bool = True
    known: Spot | None = None
    mode: int = 0
    """The number of its blend mode, over what has passed through 8 bits; 0 where it lies plainly over what is below it."""


class Coarse(NamedTuple):
    """The passage of all that is below a blended layer through 8 bits."""


class Buffer(NamedTuple):
    """A layer's own buffer, in front of its light if it has any, with an opacity and through a track matte."""

    lit: Lit
    opacity: float
    matte_mode: int = 0
    """MATTE in shaders/include/matte.glsl."""
    matte: Target | None = None
    """None as well where the matte has no pixel."""


Laid = Content | Light | Coarse | Buffer
LaidStep = Callable[[int], tuple[Laid, ...] | None]
"""What drawing a step comes to, bottom up, by its index; None where it is more than this over what is below it."""
