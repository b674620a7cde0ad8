"""Native kernels of the renderer: shared libraries, one for each CPU level, and the selection of one."""

from __future__ import annotations

import ctypes
from pathlib import Path

_FOLDER = Path(__file__).parent


def library() -> Path:
    """Return the path of the fastest library that this processor supports. Raises OSError if there is none."""
    baseline, faster = _FOLDER / "kernels-baseline.so", _FOLDER / "kernels-avx2.so"
    is_faster = ctypes.CDLL(str(baseline)).has_avx2() and faster.exists()
    return faster if is_faster else baseline


def libraries() -> list[Path]:
    """Return the paths of all libraries that this processor supports, slowest first."""
    baseline, fastest = _FOLDER / "kernels-baseline.so", library()
    return [baseline] if fastest == baseline else [baseline, fastest]
