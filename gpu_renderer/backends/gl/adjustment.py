"""Adjustment layers: their effects apply to everything below them (format/compositing.md 2.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

import moderngl

from gpu_renderer import effects
from gpu_renderer.backends.gl import layers
from gpu_renderer.display_list.contents import stage_filter
from gpu_renderer.display_list.graph import Scene
from gpu_renderer.display_list.paint import Filter
from gpu_renderer.effects import EffectScene
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target
from motion.snapshot import LayerSnapshot

SHADER = "compositing/grade.frag"


class _Grading(TypedDict):
    """Shader arguments of a colour stage."""

    defines: dict[str, object]
    textures: dict[str, Target | moderngl.Texture]
    uniforms: dict[str, UniformValue]


def adjust(
    painter: Painter,
    into: Target,
    layer: LayerSnapshot,
    scene: Scene,
    rects: Rects,
    layer_target: Callable[[str], Target | None],
) -> None:
    """Run the layer's colour stage and effects on parts of the target. The effects can read other layers."""
    where = EffectScene.adjustment(scene.frame, scene.view_scale, layer_target)
    grading, in_place = _grading(painter, stage_filter(layer.effects)), painter.can_read_in_place
    if in_place and effects.is_pointwise_stack(layer.effects):
        _grade(painter, into, rects, grading)
        effects.retouch(painter, into, layer.effects, where, rects)
        return
    for part in rects:
        held = part.intersection(into.region)
        graded = _graded(painter, into, held, grading, in_place=in_place)
        result = effects.chain(painter, graded, layer.effects, where, in_place=in_place)
        painter.copy(result, into, held)
        painter.pool.give_back(result)


def _graded(painter: Painter, source: Target, part: Region, grading: _Grading, *, in_place: bool) -> Target:
    """Return a new target with a graded part of another one. The caller owns it."""
    if not in_place:
        return painter.applied(SHADER, source, region=part, **grading)
    copied = layers.copied(painter, source, part)
    _grade(painter, copied, (part,), grading)
    return copied


def _grade(painter: Painter, into: Target, rects: Rects, grading: _Grading) -> None:
    painter.draw(
        SHADER, into, scissor=rects, defines={**grading["defines"], "IN_PLACE": 1}, textures=grading["textures"],
        uniforms=grading["uniforms"],
    )  # fmt: skip


def _grading(painter: Painter, filter: Filter) -> _Grading:
    defines: dict[str, object] = {} if filter.stage is None else {"MATRIX": 1}
    if filter.table is not None:
        defines["TABLES"] = 1
    return {
        "defines": defines,
        "textures": {} if filter.table is None else {"u_grade_table": painter.textures.table(filter.table)},
        "uniforms": {} if filter.stage is None else filter.stage.uniforms,
    }
