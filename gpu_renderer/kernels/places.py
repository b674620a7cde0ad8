"""Bindings of the kernels that place flat layers (`native/src/places.c`)."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_void_p
from typing import Final

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.signatures import typed

Numbers = npt.NDArray[np.float64]
MAP_NUMBERS: Final = 6
_PLACE = np.dtype(
    [("to_unit", "f8", 12), ("touched", "i8", 4), ("region", "i8", 4), ("is_aligned", "i8"), ("is_shown", "i8")]
)
"""`struct place` of `places.c`."""


class PlaceKernels:
    """Place many flat layers at once. Arrays have a row for each layer.

    A map is six numbers: the images of the two unit vectors, and of the origin, x and y of each.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._place_maps = typed(library.place_maps, c_void_p, c_void_p, c_int, c_void_p)
        self._place_quads = typed(
            library.place_quads, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p, result=c_int
        )  # fmt: skip

    def maps(self, transforms: Numbers, view: Matrix3) -> Numbers:
        """Return the maps from layer px to frame px, see `matrix.placed`. Skews are ignored.

        `transforms`: x, y, rotation, scale_x, scale_y, anchor_x, anchor_y and two more.
        """
        count = len(transforms)
        assert transforms.shape == (count, 9) and transforms.flags.c_contiguous, "the kernel reads whole rows"
        found = np.empty((count, MAP_NUMBERS))
        numbers = (c_double * MAP_NUMBERS)(*view[:MAP_NUMBERS])
        self._place_maps(transforms.ctypes.data, numbers, count, found.ctypes.data)
        return found

    def quads(
        self, maps: Numbers, sizes: Numbers, boxes: Numbers, frame: Region, clip: Region
    ) -> tuple[Numbers, npt.NDArray[np.void]] | None:
        """Return the maps of quads on the subpixel grid and their places (`struct place`), or None if a number is too large.

        `sizes`: width and height in layer px. `boxes`: left, top, width and height of the content on the unit square.
        """
        count = len(maps)
        assert maps.shape == (count, MAP_NUMBERS) and maps.flags.c_contiguous, "the kernel reads whole rows"
        assert sizes.shape == (count, 2) and sizes.flags.c_contiguous, "the kernel reads whole rows"
        assert boxes.shape == (count, 4) and boxes.flags.c_contiguous, "the kernel reads whole rows"
        found, places = np.empty((count, MAP_NUMBERS)), np.empty(count, _PLACE)
        is_placed = self._place_quads(
            maps.ctypes.data, sizes.ctypes.data, boxes.ctypes.data, _corners(frame), _corners(clip), count,
            found.ctypes.data, places.ctypes.data,
        )  # fmt: skip
        return (found, places) if is_placed else None


def _corners(region: Region) -> ctypes.Array[c_double]:
    return (c_double * 4)(region.x, region.y, region.right, region.bottom)
