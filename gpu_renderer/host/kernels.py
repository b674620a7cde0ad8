"""Compiles and loads `kernels.c` and `composite.c`: once a machine, when first needed, with the C compiler that is there.

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
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gpu_renderer.errors import RenderError
from gpu_renderer.host import trials
from gpu_renderer.host.loops import Kernels

log = logging.getLogger(__name__)
COMPILERS = ("cc", "gcc", "clang")
FLAGS = (
    "-std=c11", "-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-ffinite-math-only",
    "-fno-signed-zeros",
)  # fmt: skip
"""No step of single floats is contracted with the next, so that every processor gives the same bytes. The last two let the least and
the most of two numbers be one instruction: which zero or what of no number comes out is not asked."""
EXTENSIONS = {"avx2": "-mavx2", "fma": "-mfma", "f16c": "-mf16c"}
"""Of x86 processors, by their names in `/proc/cpuinfo`: used where there are all of them."""
LIBRARIES = ("-lm",)
COMPILE_TIMEOUT_S = 120.0
DIGEST_BYTES = 32
_FOLDER = Path(__file__).parent
_SOURCES = (_FOLDER / "kernels.c", _FOLDER / "composite.c")


class KernelsUnavailable(RenderError):
    """The loops cannot be had on this machine; the message says why."""


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
    texts = (source.read_bytes() for source in sorted((*_SOURCES, *_FOLDER.glob("*.h"))))
    parts = (*texts, " ".join((*FLAGS, *_extensions(), *LIBRARIES)).encode(), platform.machine().encode())
    return f"kernels-{hashlib.sha256(b'/'.join(parts)).hexdigest()[:16]}.so"


@cache
def _extensions() -> tuple[str, ...]:
    """What the compiler may use of this machine's processor beyond what all of its kind have."""
    try:
        described = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ()
    flags = next((line.split() for line in described.splitlines() if line.startswith("flags")), [])
    return tuple(EXTENSIONS.values()) if EXTENSIONS.keys() <= set(flags) else ()


def _compiled(folder: Path) -> Path:
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise KernelsUnavailable(f"there is no C compiler ({', '.join(COMPILERS)})")
    made = folder / "kernels.so"
    command = (compiler, *FLAGS, *_extensions(), *map(str, _SOURCES), *LIBRARIES, "-o", str(made))
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
    if not trials.passed(made):
        raise KernelsUnavailable("what the C compiler made gives other bytes than the formulas")
    return made
