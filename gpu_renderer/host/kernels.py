"""Compiles and loads `kernels.c`: once a machine, when first needed, with the C compiler that is there.

Nothing depends on it but speed: without a compiler, or where what it made does not give the formula's bytes, shaders do the
same work.
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
from ctypes import c_int, c_ssize_t, c_void_p
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from gpu_renderer.errors import RenderError
from gpu_renderer.planes import Rows, reference_planes
from gpu_renderer.region import Region

log = logging.getLogger(__name__)
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared")
COMPILE_TIMEOUT_S = 120.0
HALF_PATTERNS = 1 << 16
DIGEST_BYTES = 32
_SOURCE = Path(__file__).with_suffix(".c")
_SIZES = ((18, 12), (37, 21), (2051, 3))
"""Of the pictures that a new library has to convert as the formula says: even, odd, more than one chunk wide."""


class KernelsUnavailable(RenderError):
    """The loops cannot be had on this machine; the message says why."""


class Kernels:
    """The loops, as functions of arrays. They run without the interpreter's lock."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._display_encode, self._nv12 = library.display_encode, library.nv12
        self._display_encode.argtypes = (c_void_p, c_void_p, c_void_p, c_ssize_t, c_int, c_int)
        self._nv12.argtypes = (
            c_void_p, c_ssize_t, c_int, c_int, c_void_p, c_void_p, c_ssize_t, c_int, c_int, c_int, c_int,
        )  # fmt: skip
        self._display_encode.restype = self._nv12.restype = None

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


@cache
def kernels() -> Kernels | None:
    """The loops, or None where they cannot be had, which is logged once."""
    try:
        return loaded(cache_folder())
    except KernelsUnavailable as error:
        log.info("frames are finished by shaders: %s", error)
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
    if not all(_agrees(made, width, height) for width, height in _SIZES):
        raise KernelsUnavailable("what the C compiler made gives other bytes than the formula")
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
