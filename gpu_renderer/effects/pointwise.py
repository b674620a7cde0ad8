"""Passes that compute each pixel from the same pixel alone: their shaders include nothing that reads neighbours."""

from __future__ import annotations

from functools import cache

import shaders


@cache
def is_pointwise(shader: str) -> bool:
    """Return True if a pass of the GPU route may run in place, and over any part of a picture.

    One that reads elsewhere does not compile so.
    """
    return shaders.text("include/around.glsl") not in shaders.source(shader)
