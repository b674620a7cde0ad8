"""Compile the kernels into shared libraries with a plain C interface, one for each CPU level.

The libraries do not use Python's headers, which may not be installed.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ZIG = "ziglang==0.17.1"
"""C compiler as a wheel. It is a build requirement if the machine has no compiler."""
COMPILERS = ("cc", "gcc", "clang")
SOURCES = ("kernels.c", "composite.c", "windows.c", "line_blurs.c", "convolution.c", "extents.c", "places.c", "level.c")
FLAGS = (
    "-std=c11", "-O3", "-fPIC", "-shared", "-DNDEBUG", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-ffinite-math-only", "-fno-signed-zeros",
)  # fmt: skip
"""Compiler flags. Contraction of float operations is off, so that every processor gives the same bytes. The last two flags
allow a single instruction for minimum or maximum, because these operands are never infinite or NaN."""
LEVELS = {"x86_64": {"baseline": (), "avx2": ("-mavx2", "-mfma", "-mf16c")}}
"""Compiler flags of each library, by machine. `render_kernels` selects the last one that the processor supports."""
GLIBC = "2.28"


def system_compiler() -> list[str] | None:
    """Return the command of the machine's C compiler (`CC`, otherwise the usual names), or None."""
    named = os.environ.get("CC")
    if named:
        return shlex.split(named)
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    return [found] if found and _works(found) else None


def build(folder: Path) -> None:
    """Write `kernels-LEVEL.so` for each CPU level of this machine to the folder. Raises SystemExit with the compiler's message."""
    command = system_compiler() or _zig()
    folder.mkdir(parents=True, exist_ok=True)
    sources = [str(Path(__file__).parent / "src" / name) for name in SOURCES]
    with tempfile.TemporaryDirectory() as cache:
        # By default, Zig stores 100 MB in the home folder, and fails if that is missing or read-only.
        environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        levels = LEVELS.get(platform.machine(), {"baseline": ()})

        def compile_level(level: str) -> subprocess.CompletedProcess[str]:
            words = [*command, *FLAGS, *levels[level], *sources, "-lm", "-o", str(folder / f"kernels-{level}.so")]
            return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

        with ThreadPoolExecutor() as pool:
            for done in pool.map(compile_level, levels):
                if done.returncode:
                    raise SystemExit(f"{shlex.join(command)} could not compile the kernels:\n{done.stderr}")


def _works(compiler: str) -> bool:
    """Return True if the compiler finds the C library's headers, which are often missing."""
    test = "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"
    command = [compiler, "-fsyntax-only", "-xc", "-"]
    return subprocess.run(command, input=test, text=True, capture_output=True, check=False).returncode == 0


def _zig() -> list[str]:
    if importlib.util.find_spec("ziglang") is None:
        raise SystemExit("there is no C compiler, and the build requirement ziglang is not installed")
    return [sys.executable, "-m", "ziglang", "cc", "-target", f"{platform.machine()}-linux-gnu.{GLIBC}", "-s"]
