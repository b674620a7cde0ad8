"""Noise of half a level that the reference's canvas adds to gradients before it rounds them to 8 bits.

Measured on a reference picture whose effect amplifies it. Skia's own dither on the processor ranks the same 64 places of a
square of 8 x 8 px in another order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import skia

from gpu_renderer.content.vector import surface

_SIDE_PX = 8
_EFFECT = """
uniform shader paint;
uniform shader ranks;  // 0, 4 .. 252 of 255

half4 main(float2 at) {
    half4 color = paint.eval(at);
    half noise = (ranks.eval(at).r * 255.0 / 256.0 - 63.0 / 128.0) / 255.0;
    return half4(clamp(color.rgb + noise, half3(0.0), color.aaa), color.a);
}
"""


def dithered(shader: Any, matrix: Any) -> Any:
    """Return the shader with the noise for pixels that a matrix leads to; the shader itself where that cannot be inverted."""
    from_pixels = skia.Matrix()
    if not matrix.invert(from_pixels):
        return shader
    effect, ranks = _parts()
    tiled = ranks.makeShader(skia.TileMode.kRepeat, skia.TileMode.kRepeat, skia.SamplingOptions(), from_pixels)
    builder = skia.RuntimeShaderBuilder(effect)
    builder.setChild("paint", shader)
    builder.setChild("ranks", tiled)
    return builder.makeShader()


@lru_cache(maxsize=1)
def _parts() -> tuple[Any, Any]:
    """Return the effect, and the rank of every place of the square, four times as an 8-bit level."""
    y, x = np.mgrid[:_SIDE_PX, :_SIDE_PX]
    rank = (y & 1) << 5 | (x & 1) << 4 | (y & 2) << 2 | (x & 2) << 1 | (y & 4) >> 1 | (x & 4) >> 2
    level = (4 * rank).astype(np.uint8)
    return skia.RuntimeEffect.MakeForShader(_EFFECT), surface.image(np.dstack([level] * 3 + [np.full_like(level, 255)]))
