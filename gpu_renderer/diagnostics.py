"""What this machine draws and encodes with, asked by doing it: for `./farm doctor` and for logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpu_renderer import area
from gpu_renderer.context import create_context, identity
from gpu_renderer.encode.probe import probe
from gpu_renderer.encode.profile import PREFERENCE
from gpu_renderer.errors import GpuUnavailable
from gpu_renderer.painter import Painter
from gpu_renderer.planes import encoder_frame, layout, reference_planes
from gpu_renderer.readback import ReadbackRing
from gpu_renderer.region import Region
from gpu_renderer.text.folders import FontFolders

EGL_DEVICES_MAX = 16


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `remedy` says how to mend it, where it is wrong. `works` is None for a remark."""

    subject: str
    works: bool | None
    found: str
    remedy: str = ""


def findings(fonts: FontFolders, device_index: int | None = None) -> Iterator[Finding]:
    """GL, its devices, drawing and reading back, encoders, fonts. The process's own context is not touched."""
    yield from _gl(device_index)
    yield from _encoders()
    yield _fonts(fonts)


def _gl(device_index: int | None) -> Iterator[Finding]:
    try:
        context = create_context(device_index)
    except GpuUnavailable as error:
        yield Finding("OpenGL", False, str(error), "install EGL and a driver: apt install libegl1 libgl1-mesa-dri")
        return
    who = identity(context)
    kind = "software" if who.is_software else "hardware"
    yield Finding("OpenGL", True, f"{who.renderer} ({kind}), {who.vendor}, {who.version}")
    if who.is_software:
        yield Finding(
            "GPU",
            None,
            "none: frames are drawn on the processor",
            "with a GPU: its driver's EGL files (/usr/share/glvnd/egl_vendor.d) and, in a container, "
            "NVIDIA_DRIVER_CAPABILITIES=all",
        )
    yield _colours(Painter(context))
    context.release()
    yield Finding("EGL devices", None, "; ".join(_devices()) or "none")


def _colours(painter: Painter) -> Finding:
    """Draws one colour, converts it, reads it back and compares it with the formula."""
    rgb = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    of = layout(16, 16)
    ring = ReadbackRing(painter, of, 1, pixel_buffers=True)
    with painter.pool.lent(Region(0, 0, 16, 16), "f1") as target:
        target.framebuffer.clear(200 / 255, 100 / 255, 50 / 255, 1.0)
        ring.put(target, area.whole(target.region), encoder_frame(of))
        luma = np.frombuffer(memoryview(ring.collect().planes[0]), np.uint8)[0]
    ring.close()
    painter.pool.release()
    expected = reference_planes(rgb)[0][0, 0]
    if abs(int(luma) - int(expected)) <= 1:
        return Finding("drawing and reading back", True, "gives the colours asked for")
    return Finding(
        "drawing and reading back", False, f"luma {luma} instead of {expected}", "update or change the GL driver"
    )


def _devices() -> list[str]:
    """Each EGL device by its index; the list ends at the first that does not exist."""
    found: list[str] = []
    for index in range(EGL_DEVICES_MAX):
        try:
            context = create_context(index)
        except GpuUnavailable:
            break
        found.append(f"{index}: {identity(context).renderer}")
        context.release()
    return found


def _encoders() -> Iterator[Finding]:
    results = [probe(codec) for codec in PREFERENCE]
    for result in results:
        remark = "encodes" if result.works else f"does not encode here ({result.reason})"
        yield Finding(f"encoder {result.codec}", True if result.works else None, remark)
    if not any(result.works for result in results):
        yield Finding("encoder", False, "none works", "reinstall the package av, whose wheels carry libx264")


def _fonts(fonts: FontFolders) -> Finding:
    files = fonts.files()
    families = {file.family for file in files}
    if not files:
        return Finding("fonts", False, "none is installed", "run ./farm fonts")
    return Finding("fonts", True, f"{len(files)} faces of {len(families)} families")
