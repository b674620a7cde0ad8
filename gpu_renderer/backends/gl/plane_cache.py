"""Planes with effects, each flattened once as long as it shows the same: a camera that moves changes nothing in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from gpu_renderer.backends.gl import flattening
from gpu_renderer.cache.targets import KeptTargets
from gpu_renderer.display_list.graph import Draw, RenderGraph, Scene, Tint
from gpu_renderer.display_list.paint import Flattened, Ink, Look
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import ColorManagement, LayerSnapshot, Transform2D

_HOME = Transform2D(0.0, 0.0)
BYTES_MAX = 64 << 20


@dataclass(frozen=True, slots=True)
class _Wanted:
    """All that a flattened plane depends on."""

    layer: LayerSnapshot
    ink: Ink
    group: RenderGraph | None
    gain: Tint
    frame: Region
    color: ColorManagement
    maps: tuple[tuple[str, Draw], ...]


class Sheets:
    """Keeps flattened planes by their layer."""

    def __init__(self, painter: Painter, *, keep: bool) -> None:
        self._painter = painter
        self._kept: KeptTargets[tuple[_Wanted, Flattened]] = KeptTargets(painter.pool, BYTES_MAX if keep else 0)
        self._asked: Counter[str] = Counter()
        self._found: dict[int, tuple[Draw, Scene, Flattened]] = {}
        """What the frame has asked for: a step that is looked at twice is the same plane."""

    @property
    def count(self) -> int:
        """How many targets are held."""
        return self._kept.count

    def flattened(
        self,
        ink: Ink,
        look: Look,
        step: Draw,
        scene: Scene,
        maps: tuple[tuple[str, Draw], ...],
        layer_target: Callable[[str], Target | None],
        *,
        in_place: bool,
    ) -> Flattened:
        """The plane with its effects, good until the frame's end. `maps`: the layers that its effects read."""
        found = self._found.get(id(step))
        if found is not None and found[0] is step and found[1] is scene:
            return found[2]
        layer = replace(step.layer, transform=_HOME, opacity=1.0, matte=None, samples=(), ghosts=())
        wanted = _Wanted(layer, ink, step.group, look.gain, scene.frame, scene.color, maps)
        self._asked[layer.id] += 1
        place = f"{layer.id}:{self._asked[layer.id]}"
        kept = self._kept.find(place)
        if kept is not None and kept[0][0] == wanted:
            flat = kept[0][1]
        else:
            flat = flattening.flattened(self._painter, ink, look, step, scene, layer_target, in_place=in_place)
            self._kept.put(place, (wanted, flat), flat.target)
        self._found[id(step)] = (step, scene, flat)
        return flat

    def end_frame(self) -> None:
        """Ends what the frame asked for; what is over the budget is given back."""
        self._asked.clear()
        self._found.clear()
        self._kept.trim()

    def clear(self) -> None:
        """Gives everything back."""
        self._kept.clear()
