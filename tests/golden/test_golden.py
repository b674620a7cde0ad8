"""Compare every case with its picture. `./farm test --golden-update` draws the pictures again: look at each one.

A case is a folder tests/golden/AREA/FEATURE with document.json, the picture frame.png and, if it is not the first
frame, its number in frame.txt. After a failure, tests/golden/_failed has actual, expected and difference side by
side.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from gpu_renderer.content.contents import Contents
from gpu_renderer.content.library import MediaLibrary
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.opengl.painter import Painter
from motion import build
from motion.bundle import read_document
from motion.evaluate import snapshot
from tests.gpu_renderer.drawing import drawn
from tests.gpu_renderer.fonts import reference_fonts

pytestmark = pytest.mark.gl
FOLDER = Path(__file__).parent
FAILED = FOLDER / "_failed"
CASES = sorted(path.parent.relative_to(FOLDER) for path in FOLDER.glob("*/*/document.json"))
LEVELS_MAX = 2
SHARE_MAX = 0.001
"""Share of pixels that can differ, because another version of the rasteriser can round edge pixels differently."""
LEVELS_MAX_OF_GPU, SHARES_MAX_OF_GPU = 8, {"effects/shared-straight-pixels": 0.01}
"""Tolerance on GPUs, which filter 8-bit textures with another precision than the rasteriser that drew the pictures.
Cases that divide by a small alpha show this in more pixels. Measured on an H200."""
Picture = npt.NDArray[np.uint8]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_document_is_drawn_as_its_picture_shows(painter: Painter, case: Path, golden_update: bool) -> None:
    actual = render_case(painter, FOLDER / case)
    picture = FOLDER / case / "frame.png"
    if golden_update:
        Image.fromarray(actual).save(picture, optimize=True)
        return
    expected = np.asarray(Image.open(picture).convert("RGBA"))
    levels, shares = (LEVELS_MAX, {}) if painter.is_software else (LEVELS_MAX_OF_GPU, SHARES_MAX_OF_GPU)
    far = np.abs(actual.astype(int) - expected).max(axis=2) > levels if actual.shape == expected.shape else None
    if far is None or far.mean() > shares.get(case.as_posix(), SHARE_MAX):
        pytest.fail(f"{case} is drawn otherwise: see {explained(case, actual, expected, far)}")


def render_case(painter: Painter, case: Path, options: Optimisations | None = None) -> Picture:
    """Return the case's frame, uint8 (rows, columns, 4)."""
    composition = build.build(read_document((case / "document.json").read_bytes()))
    number = case / "frame.txt"
    frame_index = int(number.read_text()) if number.exists() else 0
    fonts = reference_fonts().for_job()
    contents = Contents(fonts, MediaLibrary(lambda src: None, fonts))
    shown = snapshot(composition, frame_index / composition.fps, composition.fps)
    return drawn(painter, shown, contents=contents, options=options)


def explained(case: Path, actual: Picture, expected: Picture, far: npt.NDArray[np.bool_] | None) -> Path:
    """Write actual, expected and difference side by side; return the file."""
    FAILED.mkdir(exist_ok=True)
    path = FAILED / f"{'-'.join(case.parts)}.png"
    pictures = [actual, expected]
    if far is not None:
        marked = np.zeros_like(actual)
        marked[..., 0], marked[..., 3] = far * 255, 255
        pictures.append(marked)
    Image.fromarray(np.hstack(pictures) if far is not None else actual).save(path)
    return path
