"""A raster drawn through a deformed triangle mesh: puppet and skeleton rigs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import skia

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector import surface
from gpu_renderer.content.vector.tint import rgba_of
from motion.snapshot import Mesh

MARGIN_MAX_PX = 512.0
"""How far a mesh may reach out of its box; what lies farther is cut off."""


def deformed(raster: Raster, mesh: Mesh, supersample: float = 1.0) -> Raster:
    """The raster's pixels carried along by the mesh, in the same box with the padding that the mesh needs.

    The result has `supersample` times as many pixels a side for each layer px as the raster.
    """
    padding = deformed_padding(raster, mesh)
    rows, columns = raster.pixels.shape[:2]
    scale_x = columns / (raster.width + 2.0 * raster.padding)
    scale_y = rows / (raster.height + 2.0 * raster.padding)
    width, height = raster.width + 2.0 * padding, raster.height + 2.0 * padding
    sides = width * scale_x * supersample, height * scale_y * supersample
    fitting = surface.fitting_scale(*sides, 1.0)
    pixels, canvas = surface.rgba(*(max(1, round(extent * fitting)) for extent in sides))
    canvas.scale(pixels.shape[1] / width, pixels.shape[0] / height)
    canvas.translate(width / 2.0, height / 2.0)
    canvas.drawVertices(_triangles(raster, mesh, scale_x, scale_y), _texture(raster), skia.BlendMode.kSrcOver)
    return Raster(pixels, raster.width, raster.height, padding)


def deformed_padding(raster: Raster, mesh: Mesh) -> float:
    """The padding of a raster under a mesh, layer px."""
    places = np.abs(np.array(mesh.vertices)[:, :2])
    margin = places.max(axis=0) - (raster.width / 2.0, raster.height / 2.0)
    return max(raster.padding, float(math.ceil(min(MARGIN_MAX_PX, max(0.0, float(margin.max()))))))


def _triangles(raster: Raster, mesh: Mesh, scale_x: float, scale_y: float) -> Any:
    """The mesh with texture coordinates in pixels of the raster; later triangles lie in front."""
    corners = np.array(mesh.vertices)[np.array(mesh.triangles).ravel()]
    places = [skia.Point(x, y) for x, y in corners[:, :2].tolist()]
    shown = corners[:, 2:] * (raster.width, raster.height) + raster.padding
    texels = [skia.Point(u, v) for u, v in (shown * (scale_x, scale_y)).tolist()]
    return skia.Vertices(skia.Vertices.VertexMode.kTriangles_VertexMode, places, texels, None)


def _texture(raster: Raster) -> Any:
    sampling = skia.SamplingOptions(skia.FilterMode.kLinear)
    tile = skia.TileMode.kDecal if raster.padding > 0.0 else skia.TileMode.kClamp
    return skia.Paint(Shader=surface.image(rgba_of(raster)).makeShader(tile, tile, sampling))
