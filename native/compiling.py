"""Compile the kernels into shared libraries with a plain C interface, one for each level of the processor.

The libraries do not use Python's headers, so that they can be built where these are not installed.
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
from pathlib import Path

ZIG = "ziglang==0.17.1"
"""A C compiler as a wheel: a build requirement where the machine has none."""
COMPILERS = ("cc", "gcc", "clang")
SOURCES = ("kernels.c", "composite.c", "windows.c", "line_blurs.c", "convolution.c", "level.c")
FLAGS = (
    "-std=c11", "-O3", "-fPIC", "-shared", "-DNDEBUG", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-ffinite-math-only", "-fno-signed-zeros",
)  # fmt: skip
"""No step of single floats is contracted with the next, so that every processor gives the same bytes. The last two allow one
instruction for the minimum or maximum of two numbers; the kernels never meet an infinity or a NaN there."""
LEVELS = {"x86_64": {"baseline": (), "avx2": ("-mavx2", "-mfma", "-mf16c")}}
"""Compiler flags of each library, by machine. `render_kernels` picks the last one that the processor has."""
GLIBC = "2.28"


def system_compiler() -> list[str] | None:
    """Return the command of the machine's C compiler (`CC`, else the usual names), or None."""
    named = os.environ.get("CC")
    if named:
        return shlex.split(named)
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    return [found] if found and _works(found) else None


def build(folder: Path) -> None:
    """Write `kernels-LEVEL.so` for each level of this machine into the folder. Raises SystemExit with the compiler's message."""
    command = system_compiler() or _zig()
    folder.mkdir(parents=True, exist_ok=True)
    sources = [str(Path(__file__).parent / "src" / name) for name in SOURCES]
    with tempfile.TemporaryDirectory() as cache:
        # Zig would keep 100 MB in the home folder, and does not work where there is none or it is read-only.
        environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        for level, flags in LEVELS.get(platform.machine(), {"baseline": ()}).items():
            words = [*command, *FLAGS, *flags, *sources, "-lm", "-o", str(folder / f"kernels-{level}.so")]
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{shlex.join(command)} could not compile the kernels:\n{done.stderr}")


def _works(compiler: str) -> bool:
    """Return True if the compiler finds the C library's headers: a compiler without them is common."""
    test = "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"
    command = [compiler, "-fsyntax-only", "-xc", "-"]
    return subprocess.run(command, input=test, text=True, capture_output=True, check=False).returncode == 0


def _zig() -> list[str]:
    if importlib.util.find_spec("ziglang") is None:
        raise SystemExit("there is no C compiler, and the build requirement ziglang is not installed")
    return [sys.executable, "-m", "ziglang", "cc", "-target", f"{platform.machine()}-linux-gnu.{GLIBC}", "-s"]
