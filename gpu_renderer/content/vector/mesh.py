"""A raster drawn through a deformed triangle mesh: puppet and skeleton rigs.

A mesh is drawn on the frame's own pixels, as on a GPU. A layer with several sub-frames draws it in the layer's space
first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import skia

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector import surface
from gpu_renderer.content.vector.outline import SAMPLES
from gpu_renderer.content.vector.paints import rgba_of
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region, enclosing
from motion.snapshot import Mesh

MARGIN_MAX_PX = 512.0
"""Limit of the mesh's extent beyond its box. Farther parts are cut off."""


@dataclass(frozen=True, slots=True)
class PlacedMesh:
    """A mesh with its placement: `quad` maps the unit square of the unpadded box to the frame.

    `is_smooth`: True for four samples a pixel, as in the scene. Otherwise a pixel is covered if its centre is.
    """

    mesh: Mesh
    quad: Matrix3
    frame: Region
    is_smooth: bool

    def places(self, width: float, height: float) -> surface.Points:
        """Return the vertices of the mesh in frame pixels, shape (n, 2)."""
        unit = np.array(self.mesh.vertices)[:, :2] / (width, height) + 0.5
        points = np.c_[unit, np.ones(len(unit))] @ np.array(self.quad).reshape(3, 3).T
        with np.errstate(all="ignore"):
            found: surface.Points = points[:, :2] / points[:, 2:]
        return found

    def region(self, width: float, height: float) -> Region:
        """Return the frame pixels that the mesh of a width x height box can touch, empty if a vertex is not finite."""
        places = self.places(width, height)
        if not np.isfinite(places).all():
            return Region(*self.frame[:2], 0, 0)
        low = np.maximum(places.min(axis=0), self.frame[:2])
        high = np.minimum(places.max(axis=0), np.add(self.frame[:2], self.frame[2:]))
        return enclosing(*low.tolist(), *np.maximum(low, high).tolist())


def on_frame(raster: Raster, placed: PlacedMesh) -> surface.Pixels:
    """Return the raster drawn through the mesh, on the pixels of `placed.region`.

    uint8, shape (rows, columns, 4), encoded premultiplied. A pixel that is covered in part has the mean of its samples.
    """
    x, y, columns, rows = placed.region(raster.width, raster.height)
    places = placed.places(raster.width, raster.height)[np.array(placed.mesh.triangles).ravel()]
    vertices = _vertices(raster, placed.mesh, places)
    texture, size = _texture(raster), (columns, rows)
    centre = _drawn(vertices, texture, size, (x, y))
    if not placed.is_smooth:
        return centre
    origins = [(x + dx - 0.5, y + 0.5 - dy) for dx, dy in SAMPLES]  # the scene of a GPU has its rows bottom-up
    around = [_drawn(vertices, texture, size, origin) for origin in origins]
    covered = [_drawn(vertices, skia.Paint(), size, origin)[..., 3] for origin in origins]
    is_edge = np.min(covered, axis=0) < 255
    mean = np.mean(np.asarray(around, np.uint16)[:, is_edge], axis=0)
    centre[is_edge] = np.round(mean)
    return centre


def _drawn(
    vertices: skia.Vertices, paint: skia.Paint, size: tuple[int, int], origin: tuple[float, float]
) -> surface.Pixels:
    pixels, canvas = surface.rgba(*size)
    canvas.translate(-origin[0], -origin[1])
    canvas.drawVertices(vertices, paint, skia.BlendMode.kSrcOver)
    return pixels


def deformed(raster: Raster, mesh: Mesh) -> Raster:
    """Return the raster's pixels deformed by the mesh, in the same box with the padding that the mesh needs."""
    padding = _padding(raster, mesh)
    rows, columns = raster.pixels.shape[:2]
    scale_x = columns / (raster.width + 2.0 * raster.padding)
    scale_y = rows / (raster.height + 2.0 * raster.padding)
    width, height = raster.width + 2.0 * padding, raster.height + 2.0 * padding
    fitting = surface.fitting_scale(width * scale_x, height * scale_y, 1.0)
    pixels, canvas = surface.rgba(*(max(1, round(extent * fitting)) for extent in (width * scale_x, height * scale_y)))
    canvas.scale(pixels.shape[1] / width, pixels.shape[0] / height)
    canvas.translate(width / 2.0, height / 2.0)
    corners = np.array(mesh.vertices)[np.array(mesh.triangles).ravel()]
    canvas.drawVertices(_vertices(raster, mesh, corners[:, :2]), _texture(raster), skia.BlendMode.kSrcOver)
    return Raster(pixels, raster.width, raster.height, padding)


def _padding(raster: Raster, mesh: Mesh) -> float:
    places = np.abs(np.array(mesh.vertices)[:, :2])
    margin = places.max(axis=0) - (raster.width / 2.0, raster.height / 2.0)
    return max(raster.padding, float(math.ceil(min(MARGIN_MAX_PX, max(0.0, float(margin.max()))))))


def _vertices(raster: Raster, mesh: Mesh, places: surface.Points) -> skia.Vertices:
    """Return the triangles with the positions of their corners and texture coordinates in texels.

    Later ones are in front.

    The unit square of the mesh is the whole texture, padding included, so a padded raster shrinks onto its mesh.
    """
    rows, columns = raster.pixels.shape[:2]
    shown = np.array(mesh.vertices)[np.array(mesh.triangles).ravel(), 2:] * (columns, rows)
    texels = [skia.Point(u, v) for u, v in shown.tolist()]
    corners = [skia.Point(x, y) for x, y in places.tolist()]
    return skia.Vertices(skia.Vertices.VertexMode.kTriangles_VertexMode, corners, texels, None)


def _texture(raster: Raster) -> skia.Paint:
    sampling = skia.SamplingOptions(skia.FilterMode.kLinear)
    tile = skia.TileMode.kDecal if raster.padding > 0.0 else skia.TileMode.kClamp
    return skia.Paint(Shader=surface.image(rgba_of(raster)).makeShader(tile, tile, sampling))
