"""Mask paths of a layer as they are drawn (compositing.md 5)."""

from __future__ import annotations

from motion.snapshot import ImageSource, LayerSnapshot, MaskPath, MaskPoint, Source, SvgSource, VideoSource

KAPPA = 0.5522847498307936
RADIUS_PX_MIN = 0.5
Radii = tuple[float, float, float, float]


def has_paths(layer: LayerSnapshot) -> bool:
    """Return True if the layer has masks or a rounded outline."""
    return bool(layer.masks) or _radii(layer.source) is not None


def paths(layer: LayerSnapshot, width: float, height: float) -> tuple[MaskPath, ...]:
    """Return the layer's masks. A rounded picture's outline is one more path, which cuts."""
    radii = _radii(layer.source)
    if radii is not None:
        mode = "intersect" if is_masked(layer.masks) else "add"
        return (*layer.masks, MaskPath("corner-radius", mode, rounded(width, height, radii)))
    return layer.masks


def is_masked(paths: tuple[MaskPath, ...]) -> bool:
    """Return True if any path is on. A layer whose paths are all off is unmasked."""
    return any(path.mode != "none" and len(path.points) > 1 for path in paths)


def _radii(source: Source) -> Radii | None:
    """Return the corner radii of a picture, or None without rounded corners."""
    if not isinstance(source, (ImageSource, VideoSource, SvgSource)) or max(source.radii) <= RADIUS_PX_MIN:
        return None
    return source.radii


def rounded(width: float, height: float, radii: Radii) -> tuple[MaskPoint, ...]:
    """Return a rounded rectangle of four cubic arcs, clockwise from the top left (layers.md 4.2).

    Radii shrink until they fit.
    """
    x, y = width / 2, height / 2
    tl, tr, br, bl = (max(0.0, radius) for radius in radii)
    sides = ((width, tl + tr), (height, tr + br), (width, br + bl), (height, bl + tl))
    fitting = min([1.0, *(side / total for side, total in sides if total > side)])
    tl, tr, br, bl = tl * fitting, tr * fitting, br * fitting, bl * fitting
    corners = (
        ((-x, -y + tl), (-x + tl, -y), (0.0, -1.0), (1.0, 0.0), tl),
        ((x - tr, -y), (x, -y + tr), (1.0, 0.0), (0.0, 1.0), tr),
        ((x, y - br), (x - br, y), (0.0, 1.0), (-1.0, 0.0), br),
        ((-x + bl, y), (-x, y - bl), (-1.0, 0.0), (0.0, -1.0), bl),
    )
    points: list[MaskPoint] = []
    for (ax, ay), (bx, by), (ux, uy), (vx, vy), radius in corners:
        k = radius * KAPPA
        points.append(MaskPoint(ax, ay, ax, ay, ax + ux * k, ay + uy * k))
        points.append(MaskPoint(bx, by, bx - vx * k, by - vy * k, bx, by))
    return tuple(points)
