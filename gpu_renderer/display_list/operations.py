"""Display list of a frame: typed draw operations with paint bounds, bottom first.

The list is plain data, the same for every backend. Two operations are equal if their descriptions are equal. Derived
fields (paint, bounds) are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from gpu_renderer import effects
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.raster import UnitRect
from gpu_renderer.display_list.graph import Adjustment, Draw, MovedLayer, Scene
from gpu_renderer.display_list.paint import Paint, PlacedQuad
from gpu_renderer.display_list.quad_rows import QuadRows
from gpu_renderer.geometry import color, damage, matrix
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.kernels.places import Numbers
from motion.records import record
from motion.snapshot import LinearGradient, RadialGradient

NOTHING = Region(0, 0, 0, 0)
CONVERSION_MARGIN_PX = 8
"""Upper bound of the distance between a changed pixel and the video samples that it changes, or the reverse."""


Maps = tuple[tuple[str, "Layer"], ...]
"""Layers by id."""


@record(frozen=True, slots=True)
class Layer:
    """A layer with its content: a `paint`, the list of a `group`, or neither if there is nothing to draw."""

    step: Draw
    scene: Scene = field(compare=False, repr=False)
    box: tuple[float, float] = field(compare=False)
    """Width and height of the layer's own box, px, without padding."""
    paint: Paint | None = field(compare=False, repr=False)
    group: DisplayList | None = field(compare=False, repr=False)
    matte: Layer | None = field(compare=False, repr=False)
    maps: Maps = ()
    """Layers that the effects read as maps. A change of a map changes the layer."""
    content_bounds: Region = field(default=NOTHING, compare=False)
    """Frame pixels that the content touches, before effects."""
    bounds: Region = field(default=NOTHING, compare=False)
    """Frame pixels that the layer can paint: content, filter margins of its effects, and a transparent rim."""
    placed: PlacedQuad | None = field(default=None, compare=False, repr=False)
    """Placement of the paint, for a bare layer."""

    @property
    def padding(self) -> float:
        """Padding of the content's quad around the box on every side, layer px."""
        if self.paint is not None:
            return self.paint.padding
        return 0.0 if self.group is None else effects.container_padding_px(self.step.layer)


@record(frozen=True, slots=True)
class LayerOperation:
    """Draw one layer, in the way that the subclass names."""

    layer: Layer
    bounds: Region = field(compare=False)


class DrawQuad(LayerOperation):
    """Draw paint on a quad over the backdrop with four samples a pixel. A plane is drawn with its effects."""


class DrawBuffer(LayerOperation):
    """Draw a layer into its own buffer, run its effects, and composite the buffer, through its matte if it has one."""


class DrawOverBackdrop(LayerOperation):
    """Draw a layer that blurs or refracts the backdrop: glass and backdrop blur."""


class BlendLayer(LayerOperation):
    """Quantise the whole target to 8 bits, then blend a layer by a mode that is not a fixed function."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawMoved:
    """Draw bare layers that moved over the backdrop, each as `DrawQuad` does. Their places are rows of arrays."""

    layers: tuple[MovedLayer, ...]
    paints: tuple[Paint, ...]
    places: Numbers
    """Numbers of each transform, and opacity. Shape (10, n)."""
    rows: QuadRows
    regions: Rects
    """Paint bounds of each layer. They can overlap."""
    bounds: Region
    quads: Callable[[], Iterable[DrawQuad]] = field(repr=False)
    """Function that returns the operations of the single layers."""

    def is_same_layers(self, other: DrawMoved) -> bool:
        """Return True if both draw the same layers, perhaps at other places."""
        if len(self.layers) != len(other.layers):
            return False
        pairs = zip(self.layers, other.layers, strict=True)
        return all(a.record is b.record and a.is_exact == b.is_exact and a.view == b.view for a, b in pairs)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, DrawMoved):
            return self is other
        return self.is_same_layers(other) and bool((self.places == other.places).all())

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Adjust:
    """Run the effects of an adjustment layer over everything drawn so far."""

    step: Adjustment
    maps: Maps
    """Same as `Layer.maps`."""
    bounds: Region = field(compare=False)


@dataclass(frozen=True, slots=True)
class DrawDepthGroup:
    """Draw planes that hide one another by depth, in painter's order."""

    layers: tuple[Layer, ...]
    bounds: Region = field(compare=False)


@dataclass(frozen=True, slots=True)
class DrawVideo:
    """Fill the frame with a decoded video frame: the opaque base of the list, upright and unchanged."""

    layer: Layer = field(compare=False)
    bounds: Region = field(compare=False)
    shown: DecodedFrame
    quad: Matrix3
    """Matrix from the unit square to the frame."""
    crop: UnitRect
    is_own_size: bool
    """True if the video covers the output pixel for pixel, so that an encoder can use its samples."""


Operation = DrawQuad | DrawMoved | DrawBuffer | DrawOverBackdrop | BlendLayer | Adjust | DrawDepthGroup | DrawVideo


def regions_of(operations: Iterable[Operation]) -> Iterator[Region]:
    """Yield the paint bounds of operations, those of moved layers one by one."""
    for operation in operations:
        if isinstance(operation, DrawMoved):
            yield from operation.regions
        else:
            yield operation.bounds


@dataclass(frozen=True, slots=True)
class DisplayList:
    """One composition: its background and its operations."""

    scene: Scene
    operations: tuple[Operation, ...]
    background: str | None = None
    background_paint: LinearGradient | RadialGradient | None = None
    references: Maps = field(default=(), compare=False, repr=False)
    """All layers that effects of this composition read.

    Each operation is also compared with the layers that it reads.
    """

    @property
    def base(self) -> tuple[Scene, str | None, LinearGradient | RadialGradient | None]:
        """Background of the list: scene, colour, gradient."""
        return self.scene, self.background, self.background_paint

    @property
    def video(self) -> DrawVideo | None:
        """Opaque video base, or None."""
        first = self.operations[0] if self.operations else None
        return first if isinstance(first, DrawVideo) else None

    @property
    def background_color(self) -> Rgba | None:
        """Linear premultiplied background colour, below the background's gradient, or None without a colour."""
        if self.background is None:
            return None
        red, green, blue, alpha = self.scene.linear(color.parse(self.background))
        return Rgba(red * alpha, green * alpha, blue * alpha, alpha)

    def fills(self, frame: Region) -> bool:
        """Return True if the background colour replaces the whole target's former content (compositing.md 1.6)."""
        scene = self.scene
        is_whole = matrix.pixel_aligned(scene.quad) and scene.clip == frame == matrix.bounds(scene.quad, frame)
        return self.background is not None and is_whole

    @property
    def above_base(self) -> Rects:
        """Bounds of the operations above the lowest one, without those inside the preceding bounds.

        They can overlap.
        """
        found: list[Region] = []
        for region in regions_of(self.operations[1:]):
            if not region.is_empty and not (found and region.intersection(found[-1]) == region):
                found.append(region)
        return tuple(found)

    @property
    def around_above_base(self) -> Rects:
        """Pixels on which the video's samples under other operations depend, as disjoint rectangles."""
        grown = (region.grown(CONVERSION_MARGIN_PX) for region in self.above_base)
        return damage.area(self.scene.frame, grown).rects()
