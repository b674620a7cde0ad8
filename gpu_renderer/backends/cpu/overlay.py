"""Layers that stand still over footage: kept as colours, and laid over each of its frames by a loop.

The loop does what a software rasteriser's blending does, number for number: half floats of what is below become single ones,
`source + below * (1 - alpha)` is rounded after each step, and the result is cut off to a half float again. `blends_alike`
tries out whether the rasteriser at hand does so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl import blend, quads
from gpu_renderer.backends.gl.blit import is_by_channel
from gpu_renderer.backends.gl.layer_contents import Inks
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.graph import Draw, RenderGraph, Scene, Step
from gpu_renderer.display_list.paint import Picture
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Parts, Region, around, pixels, shared
from gpu_renderer.host.loops import Coats, planes_coat, reference_laid
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

Floats = npt.NDArray[np.float32]
SETTLED_FRAMES = 3
"""For how many frames the layers must have stood still before they are kept."""
BYTES_MAX = 48 << 20
TEXEL_BYTES = 16
_CODES = 256
_TRIED = Region(0, 0, 128, 128)
_BLENDS: WeakKeyDictionary[Painter, bool] = WeakKeyDictionary()
_LINEAR: WeakKeyDictionary[Painter, Floats] = WeakKeyDictionary()

DrawPasses = Callable[[RenderGraph, Target, Parts, Callable[[Step], None]], None]
"""Draws all steps but the lowest over parts of a target, and tells after each pass whose it was."""


class _Above(NamedTuple):
    """What is drawn over footage, and where."""

    scene: Scene
    steps: tuple[Step, ...]
    references: tuple[tuple[str, Draw], ...]
    """Layers that effects of these read: the footage itself perhaps, which does not stand still."""
    parts: Parts


class StillLayers:
    """Keeps the layers above the footage of one sequence of frames."""

    def __init__(self, painter: Painter, inks: Inks) -> None:
        self._painter, self._inks = painter, inks
        self._above: _Above | None = None
        self._still_frames = 0
        self._coats: Coats | None = None

    def find(self, graph: RenderGraph, parts: Parts, draw: DrawPasses) -> Coats | None:
        """All above the lowest layer, from bottom to top, once it has stood still; None where it moves or is no plain blending."""
        above = _Above(graph.scene, graph.steps[1:], graph.references, parts)
        if above != self._above:
            self._above, self._still_frames, self._coats = above, 0, None
        self._still_frames += 1
        if self._still_frames == SETTLED_FRAMES and self._may_be_kept(graph):
            self._coats = self._drawn(graph, parts, draw)
        return self._coats

    def forget(self) -> None:
        """Keeps nothing."""
        self._above = self._coats = None

    def _may_be_kept(self, graph: RenderGraph) -> bool:
        is_by_table = is_by_channel(graph.scene.color) and blend.is_opaque(graph, graph.scene.frame)
        return is_by_table and all(map(bounds.lies_over, graph.steps[1:])) and blends_alike(self._painter)

    def _drawn(self, graph: RenderGraph, parts: Parts, draw: DrawPasses) -> Coats | None:
        """Each pass over nothing, which leaves its own colours; None where they take too much room."""
        places = {id(step): shared(parts, bounds.of_step(step, graph.scene, self._inks)) for step in graph.steps[1:]}
        room = around(parts).snapped(graph.scene.frame)  # edges are derivatives, which pixels share by twos
        if TEXEL_BYTES * sum(map(pixels, places.values())) > BYTES_MAX:
            return None
        found: list[tuple[Region, Floats]] = []
        with self._painter.pool.lent(room, "f4") as target:

            def keep(step: Step) -> None:
                found.extend((place, _planes(self._painter, target, place)) for place in places[id(step)])
                self._painter.erase(target, places[id(step)])

            draw(graph, target, parts, keep)
        are_fit = all(np.all((planes >= 0.0) & (planes <= 1.0)) for _, planes in found)
        return Coats([planes_coat(place, planes) for place, planes in found]) if are_fit else None


def blends_alike(painter: Painter) -> bool:
    """Whether blending comes out as the loop's, tried on noise; small numbers and nearly opaque ones with the others."""
    if painter not in _BLENDS:
        rng = np.random.default_rng(0)
        shape = (_TRIED.height, _TRIED.width, 4)
        below = (rng.random(shape) ** rng.integers(1, 9, shape)).astype(np.float16)
        above = (rng.random(shape) ** rng.integers(1, 9, shape)).astype(np.float32)
        with painter.pool.lent(_TRIED, "f2") as into, painter.pool.lent(_TRIED, "f4") as source:
            into.texture.write(below.tobytes())
            source.texture.write(above.tobytes())
            painter.draw("copy.frag", into, textures={"u_source": source}, blend="over")
            painter.settle()
            blended = np.frombuffer(into.texture.read(), np.float16).reshape(shape)
        laid = reference_laid(below[..., :3].astype(np.float32), above[..., :3], np.float32(1.0) - above[..., 3:])
        _BLENDS[painter] = bool(np.array_equal(blended[..., :3].astype(np.float32), laid))
    return _BLENDS[painter]


def linear_codes(painter: Painter) -> Floats:
    """The linear half float that is drawn for each of the 256 codes of an opaque picture, as single floats."""
    if painter not in _LINEAR:
        codes = np.repeat(np.arange(_CODES, dtype=np.uint8)[:, None], 4, axis=1)
        codes[:, 3] = _CODES - 1
        line = Region(0, 0, _CODES, 1)
        with painter.pool.lent(line, "f1") as shown, painter.pool.lent(line, "f2") as into:
            shown.texture.write(codes.tobytes())
            picture = Picture(shown.texture, _CODES, 1, is_opaque=True)
            quads.draw(painter, picture, matrix.scaling(_CODES, 1), into)
            painter.settle()
            drawn = np.frombuffer(into.texture.read(), np.float16).reshape(_CODES, 4)
        _LINEAR[painter] = np.ascontiguousarray(drawn[:, 0].astype(np.float32))
    return _LINEAR[painter]


def _planes(painter: Painter, target: Target, place: Region) -> Floats:
    """The colours of a part of a target of single floats and what they let through: (4, rows, columns)."""
    painter.settle()
    texels = np.empty((place.height, place.width, 4), np.float32)
    box = place._replace(x=place.x - target.region.x, y=place.y - target.region.y)
    painter.calls.read_texels(target.texture, box, texels.ctypes.data, texels.strides[0])
    planes = np.ascontiguousarray(np.moveaxis(texels, 2, 0))
    planes[3] = np.float32(1.0) - planes[3]
    return planes
