"""Samples of a decoded frame, 8-bit 4:2:0, and the integer weights that convert them to colours."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Plane = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.uint8]
"""Rows of bytes in memory, including padding."""
Weights = npt.NDArray[np.uint32]
"""Weights of Y, of Cr in R and G, of Cb in G and B, and offsets of R, G and B, modulo 2^32, with 22 fractional bits."""
_MATRICES = {
    "bt601": (104597, 132201, 25675, 53279),
    "bt709": (117489, 138438, 13975, 34925),
    "bt2020": (110013, 140363, 12277, 42626),
    "smpte240m": (117579, 136230, 16907, 35559),
}
"""libswscale's `ff_yuv2rgb_coeffs`: limited range, 16 fractional bits. Factors of Cr in R, Cb in B, Cb and Cr in G."""


class Samples(NamedTuple):
    """Planes of a frame of even size, uint8: Y (rows, columns), Cb and Cr (rows // 2, columns // 2)."""

    luma: Plane
    blue: Plane
    red: Plane

    def interleaved(self) -> tuple[Plane, Plane]:
        """Return the planes of NV12: (rows, columns) and (rows // 2, columns)."""
        pairs = self.red.astype("<u2")
        pairs <<= 8
        pairs |= self.blue
        return self.luma, pairs.view(np.uint8)


@cache
def weights(matrix: str, *, full_range: bool) -> Weights:
    """Return libswscale's weights for a named matrix and a range (`yuv2rgb.c`, `ff_yuv2rgb_c_init_tables`).

    libswscale rounds weights to 13 fractional bits, with 7 more for Y and 9 for chroma. Here chroma is in sixteenths.
    """
    grey, black = (1 << 16, 0) if full_range else ((1 << 16) * 255 // 219, 16)
    scaled = [code * 224 // 255 if full_range else code for code in _MATRICES[matrix]]
    of_grey, r_of_cr, b_of_cb, g_of_cb, g_of_cr = (
        code + 4 >> 3 for code in (grey, *scaled[:2], *(-code for code in scaled[2:]))
    )
    base = (1 << 21) - 512 * black * of_grey
    parts = [r_of_cr, g_of_cr, g_of_cb, b_of_cb]
    bases = [base - (r_of_cr << 16), base - (g_of_cr + g_of_cb << 16), base - (b_of_cb << 16)]
    every = [512 * of_grey, *(32 * part for part in parts), *bases]
    return np.array([number % (1 << 32) for number in every], np.uint32)
