"""Adjustment layers drawn by the kernels of every library give OpenGL's bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_renderer.frame import renderer as frame_renderer
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.kernels.loading import installed, kernels, loaded
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import AdjustmentSource, EffectSnapshot, LayerSnapshot, Snapshot, Transform2D
from tests.gpu_renderer.drawing import Picture, gradient, is_close, paper, pixels, rect, renderer, snapshot

pytestmark = [
    pytest.mark.gl,
    pytest.mark.skipif(kernels() is None, reason="the native kernels are not installed"),
]
SIZE = (331, 203)
RAMP = EffectSnapshot("r", "gradient-ramp", (("blend", 70.0), ("angle", 33.0), ("colorB", "#20ff4080")))
GRAIN = EffectSnapshot("g", "noise", (("amount", 30.0), ("evolution", 77.0), ("monochrome", True)))
NOISE = EffectSnapshot("n", "noise", (("amount", 60.0), ("evolution", -5000.0), ("monochrome", False)))
HUE = EffectSnapshot("h", "hue-rotate", (("amount", 60.0),))
CURVE = EffectSnapshot("c", "posterize", (("levels", 5.0),))
FAR = EffectSnapshot("f", "noise", (("amount", 1e30), ("evolution", 1e30)))
VIGNETTE = EffectSnapshot("v", "vignette", (("amount", 40.0),))
STACKS = {
    "ramp": (RAMP,),
    "grain": (GRAIN,),
    "noise": (NOISE,),
    "noise without end": (FAR,),
    "matrix": (HUE,),
    "table": (CURVE,),
    "all": (CURVE, GRAIN, HUE, RAMP, NOISE),
}


def graded(*stack: EffectSnapshot, shift: float = 0.0) -> Snapshot:
    """Return layers of whole pixels below an adjustment layer, and a layer above it."""
    grade = LayerSnapshot("grade", "grade", AdjustmentSource(), Transform2D(0, 0), effects=stack)
    below = paper(gradient("#203040", "#ffe0c0", angle=30), *SIZE), rect("#ff2010", 90 + shift, 80, 60, 40, id="moves")
    above = rect("#40ff40", 200, 150, 60, 30, id="above", opacity=0.6)
    return snapshot(*below, grade, above, width=SIZE[0], height=SIZE[1])


def drawn(painter: Painter, *frames: Snapshot, by_kernels: bool) -> list[Picture]:
    made = renderer(painter, Optimisations(native_kernels=by_kernels))
    found = [pixels(made.draw(frame, *SIZE)).copy() for frame in frames]
    made.release()
    return found


@pytest.mark.parametrize("path", installed() if kernels() else [], ids=lambda path: path.stem)
@pytest.mark.parametrize("name", STACKS)
def test_every_library_gives_the_bytes_of_the_shaders(
    software: Painter, monkeypatch: pytest.MonkeyPatch, shaders_drawn: list[str], path: Path, name: str
) -> None:
    monkeypatch.setattr(frame_renderer, "kernels", lambda: loaded(path))
    frames = [graded(*STACKS[name], shift=shift) for shift in (0.0, 9.0)]
    expected = drawn(software, *frames, by_kernels=False)
    shaders_drawn.clear()
    found = drawn(software, *frames, by_kernels=True)
    assert not any("grade.frag" in shader for shader in shaders_drawn)
    assert all(is_close(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("stack", [(VIGNETTE,), (GRAIN, VIGNETTE)], ids=["unknown", "mixed"])
def test_other_stacks_are_left_to_the_shaders(
    software: Painter, shaders_drawn: list[str], stack: tuple[EffectSnapshot, ...]
) -> None:
    frame = graded(*stack)
    expected = drawn(software, frame, by_kernels=False)
    shaders_drawn.clear()
    assert is_close(drawn(software, frame, by_kernels=True)[0], expected[0])
    assert any("compositing/grade.frag" in shader for shader in shaders_drawn)
