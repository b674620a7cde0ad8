"""Formula in numpy for the conversion of samples to pixels, to compare kernels and libswscale with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Plane, Samples, Weights


def reference_pixels(samples: Samples, by: Weights, part: Region) -> Plane:
    """Convert a part of the frame: uint8 RGBA of shape (rows, columns, 4), opaque.

    Chroma is sited in the middle of each block of four pixels and interpolated bilinearly; the plane's edges repeat.
    Values above 2^31 are negative, as in libswscale.
    """
    cut = np.s_[part.y : part.bottom, part.x : part.right]
    blue, red = (_doubled(_doubled(plane).T).T[cut].astype(np.uint32) for plane in samples[1:])
    grey = by[0] * samples.luma[cut].astype(np.uint32)
    sums = (grey + by[1] * red + by[5], grey + by[2] * red + by[3] * blue + by[6], grey + by[4] * blue + by[7])
    codes = [np.clip(code.view(np.int32) >> 22, 0, 255) for code in sums]
    return np.stack([*codes, np.full_like(codes[0], 255)], axis=-1).astype(np.uint8)


def _doubled(plane: npt.NDArray[np.integer]) -> npt.NDArray[np.uint16]:
    """Return two rows for each row, times four: three parts of the row and one of its neighbour."""
    held = np.pad(plane.astype(np.uint16), ((1, 1), (0, 0)), mode="edge")
    rows = np.stack([held[:-2] + 3 * held[1:-1], 3 * held[1:-1] + held[2:]], axis=1)
    return rows.reshape(-1, plane.shape[1])
