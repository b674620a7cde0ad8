"""Effects that show cells of one colour: computing a cell once gives the colour that each of its pixels would
compute."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.effects import Box
from gpu_renderer.effects.passes import EffectChain
from gpu_renderer.effects.registry import find
from gpu_renderer.effects.values import resolve
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot
from tests.gpu_renderer.effects.chains import buffer_of, chained, entry, picture, scene_of, target_of

pytestmark = pytest.mark.gl
BOXES = (Box(0, 0, 40, 30), Box(7.5, -3.25, 51.5, 24.75), Box(-30, -20, 300, 200), Box(4, 6, 1, 1))
STACKS = (
    entry("mosaic", horizontalBlocks=7.0, verticalBlocks=5.0),
    entry("mosaic", horizontalBlocks=500.0, verticalBlocks=3.0),
    entry("halftone", cellSize=5.0, screenAngle=33.0, colorize=True),
    entry("halftone", cellSize=2.0, screenAngle=-120.0, blendWithOriginal=40.0),
)


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("stored", STACKS, ids=lambda stored: stored.type)
def test_colours_made_once_a_cell_are_those_that_each_pixel_makes(
    painter: Painter, box: Box, mirrored: bool, stored: EffectSnapshot
) -> None:
    scene, effect = scene_of(picture(), box=box, mirrored=mirrored), find(stored.type)
    assert effect is not None
    each = EffectChain(painter, target_of(painter, picture()), scene, scene.frame)
    each.apply(effect.shader, resolve(effect, stored))
    wanted = buffer_of(each.target)
    painter.pool.give_back(each.target)
    np.testing.assert_array_equal(chained(painter, picture(), stored, scene=scene), wanted)
