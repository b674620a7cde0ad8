"""Compiles and loads `kernels.c`: once a machine, when first needed, with the C compiler that is there.

Nothing depends on it but speed: without a compiler, or where what it made does not give the formulas' bytes, shaders, numpy
and libswscale do the same work.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from ctypes import c_int, c_ssize_t, c_void_p
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.errors import RenderError
from gpu_renderer.planes import Rows, reference_planes
from gpu_renderer.region import Region
from gpu_renderer.samples import Plane, Samples, Weights, reference_pixels, weights

log = logging.getLogger(__name__)
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-ffp-contract=off")
COMPILE_TIMEOUT_S = 120.0
HALF_PATTERNS = 1 << 16
DIGEST_BYTES = 32
_SOURCE = Path(__file__).with_suffix(".c")
_SIZES = ((18, 12), (37, 21), (2051, 3))
"""Of the pictures that a new library has to convert as the formula says: even, odd, more than one chunk wide."""
_FOOTAGE_SIZES = ((18, 12), (2050, 4))
"""Of the frames whose samples it has to turn into NV12 and pixels."""


class KernelsUnavailable(RenderError):
    """The loops cannot be had on this machine; the message says why."""


class Sheet(NamedTuple):
    """A layer over footage. `planes`: float32 of shape (4, rows, columns) of numbers from 0 to 1, R, G and B linear and
    premultiplied, and the share of what is below that it lets through."""

    region: Region
    planes: npt.NDArray[np.float32]


class _Sheet(ctypes.Structure):
    """A sheet as the loop takes it."""

    _fields_ = (("planes", c_void_p), ("left", c_int), ("top", c_int), ("width", c_int), ("height", c_int))


class Sheets:
    """Sheets from bottom to top, put down for the loop once."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        assert all(sheet.planes.flags.c_contiguous and sheet.planes.dtype == np.float32 for sheet in sheets)
        self.sheets = tuple(sheets)
        self.packed = (_Sheet * len(sheets))(*(_Sheet(sheet.planes.ctypes.data, *sheet.region) for sheet in sheets))


class Kernels:
    """The loops, as functions of arrays. They run without the interpreter's lock."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._display_encode, self._nv12 = library.display_encode, library.nv12
        self._interleave, self._colour_decode = library.interleave, library.colour_decode
        self._layered = library.layered
        self._layered.argtypes = (
            c_void_p, c_int, c_int, c_int, c_int, c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_ssize_t,
        )  # fmt: skip
        self._display_encode.argtypes = (c_void_p, c_void_p, c_void_p, c_ssize_t, c_int, c_int)
        self._nv12.argtypes = (
            c_void_p, c_ssize_t, c_int, c_int, c_void_p, c_void_p, c_ssize_t, c_int, c_int, c_int, c_int,
        )  # fmt: skip
        planes = (c_void_p, c_ssize_t, c_void_p, c_void_p, c_ssize_t, c_int, c_int)
        self._interleave.argtypes = (*planes, c_void_p, c_void_p, c_ssize_t)
        self._colour_decode.argtypes = (*planes, c_void_p, c_void_p, c_int, c_int, c_int, c_int)
        self._display_encode.restype = self._nv12.restype = None
        self._interleave.restype = self._colour_decode.restype = self._layered.restype = None

    def display_encode(self, scene_address: int, levels: Rows, picture: Rows, part: Region) -> None:
        """Half floats of RGBA, the rows of `part` one after another, to opaque pixels of that part of a picture.

        `levels`: a level for each of the HALF_PATTERNS. `picture`: uint8 of shape (rows, columns, 4).
        """
        first = picture[part.y :, part.x :]
        self._display_encode(
            scene_address, levels.ctypes.data, first.ctypes.data, picture.strides[0], part.width, part.height
        )

    def nv12(self, picture: Rows, part: Region, luma_address: int, chroma_address: int, stride_bytes: int) -> None:
        """The samples of a part of a picture, of even edges; it may go one column or row beyond a picture of odd size."""
        height, width = picture.shape[:2]
        self._nv12(
            picture.ctypes.data, picture.strides[0], width, height, luma_address, chroma_address, stride_bytes,
            part.x, part.y, part.right, part.bottom,
        )  # fmt: skip

    def interleave(self, samples: Samples, luma_address: int, chroma_address: int, stride_bytes: int) -> None:
        """Writes the planes of a frame as those of NV12."""
        self._interleave(*_planes(samples), luma_address, chroma_address, stride_bytes)

    def colour_decode(self, samples: Samples, by: Weights, part: Region) -> Plane:
        """A part of a frame as pixels: uint8 RGBA of shape (rows, columns, 4), opaque; what `reference_pixels` says."""
        pixels = np.empty((part.height, part.width, 4), np.uint8)
        self._colour_decode(
            *_planes(samples), by.ctypes.data, pixels.ctypes.data, part.x, part.y, part.right, part.bottom
        )
        return pixels

    def layered(
        self, footage: Rows, part: Region, linear: npt.NDArray[np.float32], sheets: Sheets, levels: Rows, picture: Rows
    ) -> None:
        """Shows footage with sheets laid over it in a part of a picture; what `reference_laid` says, sheet by sheet.

        `footage`: uint8 RGBA of shape (rows, columns, 4) of the part. `linear`: what each of its 256 codes is in linear light,
        as half floats would hold it. `levels` and `picture` as for `display_encode`.
        """
        assert footage.shape == (part.height, part.width, 4), "pixels of the part"
        assert footage.flags.c_contiguous, "rows follow one another"
        self._layered(
            footage.ctypes.data, *part, linear.ctypes.data, sheets.packed, len(sheets.sheets), levels.ctypes.data,
            picture.ctypes.data, picture.strides[0],
        )  # fmt: skip


def reference_laid(
    below: npt.NDArray[np.float32], colours: npt.NDArray[np.float32], shares: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """A sheet over numbers that half floats hold, as software rasterisers blend: cut off, not rounded, to half floats again."""
    laid = colours + below * shares
    cut = laid.astype(np.float16)
    is_above = cut.astype(np.float32) > laid
    found: npt.NDArray[np.float32] = np.where(is_above, np.nextafter(cut, np.float16(0.0)), cut).astype(np.float32)
    return found


def _planes(samples: Samples) -> tuple[int, ...]:
    """A frame as the loops take it."""
    luma, blue, red = samples
    assert blue.strides == red.strides, "rows of Cb and Cr are equally long"
    assert luma.strides[1] == blue.strides[1] == 1, "samples of a row follow one another"
    height, width = luma.shape
    return (
        luma.ctypes.data, luma.strides[0], blue.ctypes.data, red.ctypes.data, blue.strides[0], width, height,
    )  # fmt: skip


@cache
def kernels() -> Kernels | None:
    """The loops, or None where they cannot be had, which is logged once."""
    try:
        return loaded(cache_folder())
    except KernelsUnavailable as error:
        log.info("frames are finished by shaders, footage is converted by libswscale: %s", error)
        return None


def loaded(folder: Path) -> Kernels:
    """The library kept in the folder, or compiled into it; into one that goes again where that cannot be written or run from.

    Raises KernelsUnavailable.
    """
    if sys.byteorder != "little":
        raise KernelsUnavailable("the processor keeps the highest byte first")
    path = folder / _file_name()
    try:
        return _opened(path)
    except (OSError, KernelsUnavailable):  # not there yet, or not whole
        log.debug("compiling %s", path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder) as making:
            return _opened(_compiled(Path(making)).replace(path))  # whole or not at all, whoever else does the same
    except OSError as error:
        log.debug("%s: %s", folder, error)
    try:
        with TemporaryDirectory() as making:
            return _opened(_compiled(Path(making)))
    except OSError as error:
        raise KernelsUnavailable(f"the library cannot be kept or loaded: {error}") from error


def cache_folder() -> Path:
    """Where the user's programs keep what they can make again; a folder that cannot be made where there is no home."""
    return Path(os.path.expanduser("~/.cache/render-farm"))  # noqa: PTH111  # Path's own raises then


def _file_name() -> str:
    parts = (_SOURCE.read_bytes(), " ".join(FLAGS).encode(), platform.machine().encode())
    return f"kernels-{hashlib.sha256(b'/'.join(parts)).hexdigest()[:16]}.so"


def _compiled(folder: Path) -> Path:
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise KernelsUnavailable(f"there is no C compiler ({', '.join(COMPILERS)})")
    made = folder / "kernels.so"
    command = (compiler, *FLAGS, str(_SOURCE), "-o", str(made))
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S)  # noqa: S603
    except subprocess.CalledProcessError as error:
        raise KernelsUnavailable(f"{compiler} failed: {error.stderr.strip()}") from error
    except subprocess.TimeoutExpired as error:
        raise KernelsUnavailable(f"{compiler} took over {COMPILE_TIMEOUT_S:.0f} s") from error
    library = made.read_bytes()
    made.write_bytes(library + hashlib.sha256(library).digest())
    return made


def _opened(path: Path) -> Kernels:
    """The library at a path, tried out. Raises OSError where there is none, KernelsUnavailable where it is not as made.

    Its own digest stands at its end: a process that loads a library of which a part was lost is killed.
    """
    library = path.read_bytes()
    if hashlib.sha256(library[:-DIGEST_BYTES]).digest() != library[-DIGEST_BYTES:]:
        raise KernelsUnavailable(f"{path} is not whole")
    try:
        made = Kernels(ctypes.CDLL(str(path)))
    except AttributeError as error:
        raise KernelsUnavailable(f"{path} lacks a function") from error
    tried = ((_agrees, _SIZES), (_decodes, _FOOTAGE_SIZES), (_lays, _SIZES))
    if not all(tries(made, *size) for tries, sizes in tried for size in sizes):
        raise KernelsUnavailable("what the C compiler made gives other bytes than the formulas")
    return made


def _agrees(made: Kernels, width: int, height: int) -> bool:
    """Whether display encoding and conversion of noise come out as they should."""
    rng = np.random.default_rng(width)
    levels = rng.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    scene = rng.integers(0, HALF_PATTERNS, (height, width, 4), dtype=np.uint16)
    picture = np.zeros((height, width, 4), np.uint8)
    made.display_encode(scene.ctypes.data, levels, picture, Region(0, 0, width, height))
    shown: npt.NDArray[np.uint8] = levels[scene]
    coded = (height + height % 2, width + width % 2)
    luma, chroma = np.zeros(coded, np.uint8), np.zeros((coded[0] // 2, coded[1]), np.uint8)
    made.nv12(picture, Region(0, 0, coded[1], coded[0]), luma.ctypes.data, chroma.ctypes.data, coded[1])
    formula = reference_planes(shown[..., :3])
    return (
        np.array_equal(picture[..., :3], shown[..., :3])
        and bool(np.all(picture[..., 3] == 255))
        and np.array_equal(luma, formula[0])
        and np.array_equal(chroma.reshape(formula[1].shape), formula[1])
    )


def _decodes(made: Kernels, width: int, height: int) -> bool:
    """Whether the samples of noise come out as they should, as NV12 and as pixels."""
    rng = np.random.default_rng(width)
    halves = (height // 2, width // 2)
    samples = Samples(*(rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((height, width), halves, halves)))
    luma, chroma = np.zeros((height, width), np.uint8), np.zeros((height // 2, width), np.uint8)
    made.interleave(samples, luma.ctypes.data, chroma.ctypes.data, width)
    by = weights("bt709", full_range=False)
    parts = (Region(0, 0, width, height), Region(3, 1, width - 4, height - 2))
    return all(map(np.array_equal, (luma, chroma), samples.interleaved())) and all(
        np.array_equal(made.colour_decode(samples, by, part), reference_pixels(samples, by, part)) for part in parts
    )


def _lays(made: Kernels, width: int, height: int) -> bool:
    """Whether sheets of noise over noise come out as they should: one over all, one that is cut by the part's edges."""
    rng = np.random.default_rng(width)
    part = Region(1, 1, width, height)
    footage = rng.integers(0, 256, (height, width, 4), dtype=np.uint8)
    linear = np.sort(rng.random(256) ** 4).astype(np.float16).astype(np.float32)
    levels = rng.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    inner = Region(3, 0, width - 4, height)
    sheets = [Sheet(at, (rng.random((4, at.height, at.width)) ** 4 / 2).astype(np.float32)) for at in (part, inner)]
    picture = np.zeros((height + 1, width + 1, 4), np.uint8)
    made.layered(footage, part, linear, Sheets(sheets), levels, picture)
    scene = np.zeros((height + 1, width + 1, 3), np.float32)
    scene[1:, 1:] = linear[footage[..., :3]]
    for (x, y, columns, rows), planes in sheets:
        held, own = np.s_[max(y, 1) : y + rows, x : x + columns], planes[:, max(1 - y, 0) :]
        scene[held] = reference_laid(scene[held], np.moveaxis(own[:3], 0, 2), own[3, ..., None])
    shown: npt.NDArray[np.uint8] = levels[scene.astype(np.float16).view(np.uint16)]
    return np.array_equal(picture[1:, 1:, :3], shown[1:, 1:]) and not picture[0].any() and not picture[:, 0].any()
