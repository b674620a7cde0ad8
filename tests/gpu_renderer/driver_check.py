"""Program that draws the golden cases with the OpenGL driver of the environment. Its last output line is a JSON
report.

The report lists every error, undefined behaviour and message of high severity from the driver (KHR_debug) with its
case.
"""

from __future__ import annotations

import ctypes
import json
import sys
from ctypes import CFUNCTYPE, c_char_p, c_int, c_uint, c_void_p
from typing import Any

import numpy as np
from PIL import Image

from gpu_renderer.errors import GpuUnavailable
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.opengl.context import LIBRARY, create_context, identity
from gpu_renderer.opengl.painter import Painter
from tests.golden.test_golden import CASES, FOLDER, render_case

LEVELS_MAX = 8
"""Drivers filter 8-bit textures with different precision."""
DEBUG_OUTPUT, DEBUG_OUTPUT_SYNCHRONOUS = 0x92E0, 0x8242
FATAL_TYPES, FATAL_SEVERITY = (0x824C, 0x824E), 0x9146
"""GL_DEBUG_TYPE_ERROR, GL_DEBUG_TYPE_UNDEFINED_BEHAVIOR; GL_DEBUG_SEVERITY_HIGH."""
_Callback = CFUNCTYPE(None, c_uint, c_uint, c_uint, c_uint, c_int, c_char_p, c_void_p)


class Messages:
    """Driver messages that a renderer must not cause."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._callback = _Callback(self._reported)
        address_of = ctypes.CDLL(LIBRARY).eglGetProcAddress
        address_of.restype, address_of.argtypes = c_void_p, (c_char_p,)
        enable = CFUNCTYPE(None, c_uint)(address_of(b"glEnable"))
        enable(DEBUG_OUTPUT)
        enable(DEBUG_OUTPUT_SYNCHRONOUS)
        CFUNCTYPE(None, _Callback, c_void_p)(address_of(b"glDebugMessageCallback"))(self._callback, None)

    def _reported(self, _source: int, kind: int, _id: int, severity: int, _size: int, text: bytes, _user: Any) -> None:
        if kind in FATAL_TYPES or severity == FATAL_SEVERITY:
            self.found.append(text.decode(errors="replace"))


def main() -> int:
    """Print the report, or the reason why no context can be created."""
    try:
        painter = Painter(create_context())
    except GpuUnavailable as error:
        sys.stdout.write(json.dumps({"unavailable": str(error)}))
        return 0
    messages = Messages()
    report: dict[str, Any] = {"renderer": identity(painter.context).renderer, "apart": {}, "messages": {}}
    for case in CASES:
        wanted = np.asarray(Image.open(FOLDER / case / "frame.png").convert("RGBA")).astype(int)
        for name, on in (("gl", Optimisations(native_kernels=False)), ("default", Optimisations())):
            far = np.abs(render_case(painter, FOLDER / case, on).astype(int) - wanted).max(axis=2) > LEVELS_MAX
            report["apart"][f"{case} {name}"] = float(far.mean())
            if messages.found:
                report["messages"][f"{case} {name}"], messages.found = messages.found, []
    sys.stdout.write(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
