"""Copies of a node made by its cloner (layers.md 12.1)."""

from __future__ import annotations

from collections.abc import Mapping

from motion.formulas import affine, outline
from motion.formulas.cloner import Clone, CloneDrivers, Cloner, cloner, clones
from motion.formulas.outline import Point, Polyline
from motion.schema.contents import shape_content
from motion.schema.nodes import Node


def copies(node: Node, nodes: Mapping[str, Node]) -> tuple[tuple[Clone, CloneDrivers | None], ...] | None:
    """Return the copies of a node with an enabled cloner, None for any other node. If other layers drive the cloner,
    each copy has the data that places it frame by frame. Delays are taken from the layers at rest.
    """
    config = cloner(node.anywhere("__cloner"))
    if config is None:
        return None
    path, driver = nodes.get(config.path_layer_id), nodes.get(config.falloff.layer_id)
    made = clones(
        config,
        None if path is None else _path(path, node),
        None if driver is None else _offset(driver, node),
    )
    path_id, driver_id = path and config.mode == "path" and path.id, driver and _measures(config) and driver.id
    if not path_id and not driver_id:
        return tuple((clone, None) for clone in made)
    return tuple(
        (clone, CloneDrivers(config, index, len(made), path_id or None, driver_id or None))
        for index, clone in enumerate(made)
    )


def _measures(config: Cloner) -> bool:
    return config.falloff.source == "layer" and (config.falloff.shape != "none" or config.falloff.push != 0.0)


def _path(driver: Node, node: Node) -> Polyline | None:
    """Return the driver's outline in the cloner's frame."""
    content = shape_content(driver)
    width, height = driver.number_or("width", 220.0), driver.number_or("height", 220.0)
    line = outline.driver_line(content.runs, content.primitive, width, height)
    x, y = _offset(driver, node)
    scale = driver.number_or("scale", 1.0)
    scales = driver.number_or("scaleX", scale), driver.number_or("scaleY", scale)
    placed = affine.placed(x, y, driver.number_or("rotation", 0.0), *scales)
    return line._replace(points=tuple(affine.applied(placed, *point) for point in line.points))


def _offset(driver: Node, node: Node) -> Point:
    return driver.number_or("x", 0.0) - node.number_or("x", 0.0), driver.number_or("y", 0.0) - node.number_or("y", 0.0)
