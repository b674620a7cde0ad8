"""Layers, cameras and lights in space (three-d.md 1 to 3 and 6)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from motion.evaluate.context import EvaluationContext, Values, scales
from motion.formulas import affine, matrix4
from motion.formulas.affine import Parts
from motion.formulas.matrix4 import Point3
from motion.model.content import LightContent
from motion.model.layer import Layer
from motion.snapshot import Camera, Light, Matrix4

AXES = ("X", "Y", "Z")


class Shift(NamedTuple):
    """Offset of a layer's own position, px, and rotation, degrees."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    rotation_x: float = 0.0
    rotation_y: float = 0.0
    rotation: float = 0.0


REST = Shift()


def world(context: EvaluationContext, layer: Layer, turn: Point3 | None = None, shift: Shift = REST) -> Matrix4:
    """Return the world matrix of a 3D layer, without the x and y of its anchor. `turn` replaces its orientation, degrees."""
    values = context.values(layer)
    scale_z = values.number("scaleZ", 1.0)
    parents = _parents(context, layer)
    if parents is not None:
        return matrix4.product(parents, _local(values, scale_z, turn, shift))
    flat = affine.decomposed(context.world(layer))
    return _composed(values, flat, scale_z, turn, shift)


def facing_turn(context: EvaluationContext, layer: Layer) -> Point3 | None:
    """Return the orientation that turns a layer toward the eye, degrees; None for a layer with its own (three-d.md 2)."""
    if layer.auto_orient != "camera":
        return None
    values = context.values(layer)
    values.count_time_as_read()
    eye = (camera(context) or default_camera(context)).eye
    origin = matrix4.applied(world(context, layer), (0.0, 0.0, values.number("anchorZ", 0.0)))
    pitch, yaw = towards(origin, eye)
    own_pitch, own_yaw = values.number("rotationX", 0.0), values.number("rotationY", 0.0)
    return pitch - own_pitch, yaw - own_yaw, values.number("orientationZ", 0.0)


def sampled(
    context: EvaluationContext, layer: Layer, values: Values, scale: tuple[float, float], *, ignores_parents: bool
) -> Matrix4:
    """Return the world matrix at the time of `values`, a sample of motion blur. Orientation, depth scale and anchor are those of the frame."""
    now = context.values(layer)
    turn = (now.number("orientationX", 0.0), now.number("orientationY", 0.0), now.number("orientationZ", 0.0))
    own = _composed(
        values, _flat(values, scale), now.number("scaleZ", 1.0), turn, REST, anchor_z=now.number("anchorZ", 0.0)
    )
    if layer.parent is None or ignores_parents:
        return own
    return matrix4.product(_parents(context, layer) or matrix4.of_plane(context.world(layer.parent)), own)


def position(context: EvaluationContext, layer: Layer, point: Point3) -> Point3:
    """Return the world position of a point in a camera's or light's own space, through its parents."""
    if layer.parent is None:
        return point
    parents = _parents(context, layer)
    if parents is not None:
        return matrix4.applied(parents, point)
    x, y = affine.applied(context.world(layer.parent), point[0], point[1])
    return x, y, point[2]


def camera(context: EvaluationContext) -> Camera | None:
    """Return the active camera: the topmost one that is visible and within its bars. None without one."""
    active = next(
        (camera for camera in reversed(context.plan.cameras) if camera.visible and context.is_live(camera)), None
    )
    return None if active is None else _camera(context, active)


def default_camera(context: EvaluationContext) -> Camera:
    """Return the camera of a composition that has none."""
    focal_length = matrix4.default_focal_length(context.plan.settings.width)
    center_x, center_y = context.plan.settings.width / 2, context.plan.settings.height / 2
    eye = (center_x, center_y, -focal_length)
    return Camera(_view(eye, 0.0, 0.0, 0.0), focal_length, eye)


def projected(view: Camera, context: EvaluationContext, point: Point3) -> tuple[float, float] | None:
    """Return the projection of a world point, composition px, or None for a point behind the eye."""
    x, y, z = matrix4.applied(view.view, point)
    if z < 1.0:
        return None
    center_x, center_y = context.plan.settings.width / 2, context.plan.settings.height / 2
    return center_x + view.focal_length * x / z, center_y + view.focal_length * y / z


def lights(context: EvaluationContext) -> tuple[Light, ...]:
    """Return all lights with an effect on the picture, also hidden and trimmed ones (three-d.md 6)."""
    found = [
        _light(context, layer, layer.content)
        for layer in context.plan.lights
        if isinstance(layer.content, LightContent)
    ]
    return tuple(light for light in found if light.intensity > 0)


def light_position(context: EvaluationContext, layer: Layer) -> Point3:
    """Return the position of a light in the world."""
    values = context.values(layer)
    own = (values.number("x", 0.0), values.number("y", 0.0), values.number("z", 0.0))
    return position(context, layer, own)


def towards(eye: Point3, target: Point3) -> tuple[float, float]:
    """Pitch and yaw in degrees that turn +z from the eye to the target."""
    dx, dy, dz = target[0] - eye[0], target[1] - eye[1], target[2] - eye[2]
    return math.degrees(math.atan2(-dy, math.hypot(dx, dz))), math.degrees(math.atan2(dx, dz))


def _parents(context: EvaluationContext, layer: Layer) -> Matrix4 | None:
    """Return the product of the parents' maps, None if no parent is 3D. A 2D parent's flat map replaces the maps above it."""
    chain: list[Layer] = []
    parent = layer.parent
    while parent is not None:
        chain.append(parent)
        parent = parent.parent
    if not any(ancestor.is_3d for ancestor in chain):
        return None
    product = matrix4.IDENTITY
    for ancestor in reversed(chain):
        product = (
            matrix4.product(product, _of_parent(context, ancestor))
            if ancestor.is_3d
            else matrix4.of_plane(context.world(ancestor))
        )
    return product


def _of_parent(context: EvaluationContext, layer: Layer) -> Matrix4:
    """Return the matrix of a 3D parent, anchor included. It ignores a static scaleZ.

    The parity switch maps the parent's time twice, and leaves out the animation of a parent that is itself a copy (Q8).
    """
    values = context.values(layer)
    if context.frame.composition.parity.ancestors_3d_mapped_twice and layer.moves:
        is_copy = layer.id != layer.source_id
        time = context.mapped(layer, context.own_time(layer))
        values = context.values_at(replace(layer, moving={}) if is_copy else layer, time)
    scale_z = values.moving("scaleZ")
    placed = _local(values, 1.0 if scale_z is None else scale_z, None, REST)
    anchor = (values.number("anchorX", 0.0), values.number("anchorY", 0.0), 0.0)
    return matrix4.product(placed, matrix4.translation(-anchor[0], -anchor[1], 0.0))


def _local(values: Values, scale_z: float, turn: Point3 | None, shift: Shift) -> Matrix4:
    return _composed(values, _flat(values, scales(values)), scale_z, turn, shift)


def _flat(values: Values, scale: tuple[float, float]) -> Parts:
    return Parts(values.number("x", 0.0), values.number("y", 0.0), values.number("rotation", 0.0), *scale)


def _composed(
    values: Values, flat: Parts, scale_z: float, turn: Point3 | None, shift: Shift, *, anchor_z: float | None = None
) -> Matrix4:
    """T(x, y, z) Rz Ry Rx S T(0, 0, -anchorZ): `flat` holds x, y, rotation and two scales, the values hold the rest.

    `turn` replaces the orientation of the values in degrees, `anchor_z` their anchor.
    """
    turn_x, turn_y, turn_z = turn or tuple(values.number(f"orientation{axis}", 0.0) for axis in AXES)
    placed = matrix4.product(
        matrix4.translation(flat.x + shift.x, flat.y + shift.y, values.number("z", 0.0) + shift.z),
        matrix4.turned(
            values.number("rotationX", 0.0) + turn_x + shift.rotation_x,
            values.number("rotationY", 0.0) + turn_y + shift.rotation_y,
            flat.rotation + turn_z + shift.rotation,
        ),
    )
    sized = matrix4.scaled(placed, flat.scale_x, flat.scale_y, scale_z)
    anchor_z = values.number("anchorZ", 0.0) if anchor_z is None else anchor_z
    return matrix4.product(sized, matrix4.translation(0.0, 0.0, -anchor_z)) if anchor_z else sized


def _camera(context: EvaluationContext, layer: Layer) -> Camera:
    """Eye and aim of a camera layer; a point of interest makes it look there (three-d.md 3)."""
    values = context.values(layer)
    settings = context.plan.settings
    default = matrix4.default_focal_length(settings.width)
    focal_length = max(1e-3, values.number("focalLength", default))
    own = (
        values.number("x", settings.width / 2),
        values.number("y", settings.height / 2),
        values.number("z", -focal_length),
    )
    eye = position(context, layer, own)
    aim = _point_of_interest(context, layer, (settings.width / 2, settings.height / 2, 0.0))
    yaw, pitch = values.number("orbitYaw", 0.0), values.number("orbitPitch", 0.0)
    eye = _orbited(eye, aim or (settings.width / 2, settings.height / 2, 0.0), yaw, pitch)
    if aim is not None:
        pitch, yaw = towards(eye, aim)
    pitch += values.number("orientationX", 0.0)
    yaw += values.number("orientationY", 0.0)
    strength = max(0.0, values.number("dofStrength", 0.0))
    return Camera(
        view=_view(eye, pitch, yaw, values.number("orientationZ", 0.0)),
        focal_length=focal_length,
        eye=eye,
        depth_of_field=strength > 0,
        focus_distance=values.number("focusDistance", focal_length),
        aperture=values.number("dofAperture", strength),
        strength=strength,
        f_stop=max(0.0, values.number("fStop", 0.0)),
        lens_px=values.layer.numbers.get("focalLength", default),  # keyframes do not count
    )


def _point_of_interest(context: EvaluationContext, layer: Layer, default: Point3) -> Point3 | None:
    """Return the point of interest in the world, None if the layer stores none of its coordinates."""
    values = context.values(layer)
    paths = tuple(f"poi{axis}" for axis in AXES)
    if not any(path in layer.numbers or path in layer.moving for path in paths):
        return None
    x, y, z = (values.number(path, fallback) for path, fallback in zip(paths, default, strict=True))
    return position(context, layer, (x, y, z))


def _orbited(eye: Point3, target: Point3, yaw: float, pitch: float) -> Point3:
    """target + Ry(yaw) Rx(pitch) (eye - target)."""
    if yaw == 0.0 and pitch == 0.0:
        return eye
    away = (eye[0] - target[0], eye[1] - target[1], eye[2] - target[2])
    x, y, z = matrix4.applied(matrix4.turned(pitch, yaw, 0.0), away)
    return target[0] + x, target[1] + y, target[2] + z


def _view(eye: Point3, pitch: float, yaw: float, roll: float) -> Matrix4:
    """Rz(-roll) Rx(-pitch) Ry(-yaw) T(-eye)."""
    turned = matrix4.product(
        matrix4.turned(0.0, 0.0, -roll),
        matrix4.product(matrix4.turned(-pitch, 0.0, 0.0), matrix4.turned(0.0, -yaw, 0.0)),
    )
    return matrix4.product(turned, matrix4.translation(-eye[0], -eye[1], -eye[2]))


def _light(context: EvaluationContext, layer: Layer, content: LightContent) -> Light:
    values = context.values(layer)
    standing = light_position(context, layer)
    aim = _point_of_interest(context, layer, (0.0, 0.0, 0.0))
    return Light(
        id=layer.id,
        light=content.light,
        color=content.color,
        intensity=values.number("intensity", 100.0) / 100.0,
        position=standing,
        direction=_direction(content, values, standing, aim),
        cone=values.number("lightCone", 45.0),
        cone_feather=min(1.0, max(0.0, values.number("lightConeFeather", 50.0) / 100.0)),
        radius=values.number("radius", 500.0),
        falloff=content.falloff,
        falloff_distance=max(1.0, values.number("falloffDistance", 500.0)),
        casts_shadows=content.casts_shadows,
        shadow_darkness=values.number("shadowDarkness", 100.0) / 100.0,
        shadow_diffusion=max(0.0, values.number("shadowDiffusion", 0.0)),
    )


def _direction(content: LightContent, values: Values, standing: Point3, aim: Point3 | None) -> Point3:
    """Return the unit vector along which the light shines (three-d.md 6.2)."""
    if aim is not None and (length := math.dist(standing, aim)) > 0:
        return (
            (aim[0] - standing[0]) / length,
            (aim[1] - standing[1]) / length,
            (aim[2] - standing[2]) / length,
        )
    angle = math.radians(values.number("lightAngle", 0.0))
    if content.light == "parallel":
        return math.cos(angle) / math.sqrt(2), math.sin(angle) / math.sqrt(2), -1 / math.sqrt(2)
    return math.cos(angle), math.sin(angle), 0.0
