"""One node as a layer of a composition, with every default filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from motion.errors import PropertyRefused
from motion.formulas.cloner import Clone, CloneDrivers
from motion.formulas.mask_keys import mask_track
from motion.formulas.rigs import rig
from motion.migrations.mattes import structured
from motion.model.content import Content, MediaContent, TextContent
from motion.model.layer import Echo, Effect, ForcedBlur, Layer, MatteReference, Moving, WideTime
from motion.model.layer_time import Bar, LayerTime
from motion.model.settings import CompositionSettings
from motion.schema.animation import NodeAnimation
from motion.schema.contents import content, stored_masks
from motion.schema.nodes import Node
from motion.schema.paints import primary_stroke
from motion.schema.parameters import effects, numbers_of_time, parameters, time_effect
from motion.schema.styles import glass, style_effects
from motion.snapshot import EffectSnapshot, LinearGradient, Material, RadialGradient, SolidPaint
from motion.stored import Record, finite, flag, items, number, numbers, one_of, record, text, text_or_none

LAST_WINS = (
    "x", "y", "rotation", "opacity", "scaleX", "scaleY", "scale", "width", "height", "cornerRadius", "cornerRadiusTL",
    "cornerRadiusTR", "cornerRadiusBR", "cornerRadiusBL", "backdropBlur", "focalLength", "orbitYaw", "orbitPitch",
    "poiX", "poiY", "poiZ", "focusDistance", "dofStrength", "dofAperture", "fStop", "intensity", "radius", "lightAngle",
    "lightCone", "lightConeFeather", "falloffDistance", "shadowDarkness", "shadowDiffusion",
)  # fmt: skip
"""Numbers that count in the last component that stores them."""
FIRST_WINS = ("skew", "skewAxis", "fillOpacity")
"""Numbers that count in the first component that stores them."""
OF_TRANSFORM = (
    "anchorX", "anchorY", "anchorZ", "z", "rotationX", "rotationY", "orientationX", "orientationY", "orientationZ",
    "scaleZ", "extrusionDepth", "bevelDepth",
)  # fmt: skip
"""Numbers that count in the component Transform only."""
ANYWHERE_IN_SPACE = ("z", "orientationX", "orientationY", "orientationZ")
"""Properties that cameras and lights can have on any component."""

PLACING = (
    "x", "y", "z", "rotation", "rotationX", "rotationY", "orientationX", "orientationY", "orientationZ", "scale",
    "scaleX", "scaleY", "scaleZ", "anchorX", "anchorY", "anchorZ", "skew", "skewAxis",
)  # fmt: skip
"""The property paths that a layer's place depends on."""

REMAPS_MAX = 100
"""Most groups in each other that remap time. Each layer in them looks at all of them in every frame."""

KINDS_IN_SPACE = frozenset({"shape", "text", "image", "video", "null", "solid"})
UNIT_SQUARE = (0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class LayerContext:
    """Properties of a layer that are not in its node: composition, place in the tree, animation, copy. `delay` is in seconds.

    `content` replaces the content of the node.
    """

    id: str
    parent: Layer | None
    animation: NodeAnimation
    bars: tuple[Bar, ...]
    composition: CompositionSettings
    content: Content | None = None
    clone: Clone | None = None
    clone_drivers: CloneDrivers | None = None
    delay: float = 0.0
    solo: bool = False


def layer(node: Node, context: LayerContext) -> Layer:
    """Return the node as a layer of the composition in `context`."""
    moving = context.animation.moving
    layer_content = context.content or content(node)
    pinned = numbers(node.fx, "cornerPin")
    corner_pin = _corner_pin(pinned) if len(pinned) == len(items(node.fx, "cornerPin")) else None
    transform = node.component("Transform")
    return Layer(
        id=context.id,
        source_id=node.id,
        name=node.name,
        kind=node.kind,
        content=layer_content,
        numbers=_numbers(node),
        moving=moving,
        data=context.animation.data,
        bars=context.bars,
        time=_time(node, context.animation),
        visible=node.visible,
        solo=context.solo,
        parent=context.parent,
        is_time_unit=node.is_precomp,
        remapped_by=_remapped_by(context.parent),
        moves=_moves(moving, context.parent) or context.clone_drivers is not None,
        is_3d=corner_pin is None and _is_3d(node, transform),
        is_adjustment=node.fx.get("isAdjustment") is True,
        blend=text(node.fx, "blendMode") or "normal",
        preserve_transparency=node.fx.get("preserveTransparency") is True,
        masks=stored_masks(node),
        mask_track=mask_track(node.fx.get("maskAnim")),
        matte=_matte(node),
        effects=_effects(node, layer_content, moving, context.composition),
        glass=glass(node, context.composition),
        motion_blur=node.fx.get("motionBlur") is True,
        forced_blur=_forced_blur(node),
        echo=_echo(node, moving),
        auto_orient=_auto_orient(node),
        corner_pin=corner_pin,
        draft_quality=node.fx.get("quality") == "draft",
        continuous_raster=any(properties.get("continuousRasterize") is True for _, properties in node.components),
        material=_material(transform),
        casts_shadows=transform.get("castsShadows") is not False and transform.get("castsShadows") != "off",
        shadow_only="only" in (transform.get("castsShadows"), transform.get("acceptsShadows")),
        face_materials=dict(parameters(record(transform, "faceMaterials"))),
        rig=rig(node.fx.get("puppet"), node.fx.get("skeleton")),
        clone=context.clone,
        clone_drivers=context.clone_drivers,
        delay=context.delay,
    )


def _numbers(node: Node) -> dict[str, float]:
    transform = node.component("Transform")
    found = {path: value for path in LAST_WINS if (value := node.number(path)) is not None}
    found.update({path: value for path in FIRST_WINS if (value := node.first_number(path)) is not None})
    found.update({path: value for path in OF_TRANSFORM if (value := finite(transform.get(path))) is not None})
    if node.kind in {"camera", "light"}:
        found.update({path: value for path in ANYWHERE_IN_SPACE if (value := node.number(path)) is not None})
    return found


def _time(node: Node, animation: NodeAnimation) -> LayerTime:
    stored = record(node.fx, "time")
    posterize = time_effect(node, "posterize-time")
    rate = numbers_of_time(posterize, frameRate=12.0)["frameRate"] if posterize is not None else 0.0
    frozen = flag(stored, "freeze")
    return LayerTime(
        stretch=min(1000.0, max(1.0, number(stored, "stretch", 100.0))),
        reverse=flag(stored, "reverse"),
        freeze_time=number(stored, "freezeTime", 0.0) if frozen else None,
        frame_blend=one_of(stored, "frameBlend", "none", "mix", "pixelMotion"),
        posterize_fps=rate if rate >= 1.0 else None,
        anchor=animation.first,
        end=animation.last,
    )


def _remapped_by(parent: Layer | None) -> tuple[Layer, ...]:
    """Return the parents that composite as a unit (`is_time_unit`) and have keyframes for the time of their content."""
    if parent is None:
        return ()
    own = any(path in parent.moving and parent.moving[path].has_keys for path in ("timeRemap", "precompTime"))
    if not (own and parent.is_time_unit):
        return parent.remapped_by
    if len(parent.remapped_by) == REMAPS_MAX:
        fact = f"Layer “{parent.name}” lies in {REMAPS_MAX} groups that remap the time of their content, and remaps it, too"
        raise PropertyRefused(f"{fact}; at most {REMAPS_MAX} such groups in each other are allowed.")
    return (*parent.remapped_by, parent)


def _moves(moving: Mapping[str, Moving], parent: Layer | None) -> bool:
    own = any(path in moving and moving[path].varies for path in PLACING)
    return own or (parent is not None and parent.moves)


def _is_3d(node: Node, transform: Record) -> bool:
    """Return True for a layer in space (three-d.md 1). An adjustment layer never is, whatever kind it was made from."""
    axes = ("z", "rotationX", "rotationY")
    is_possible = node.kind in KINDS_IN_SPACE and node.fx.get("isAdjustment") is not True
    return is_possible and any(finite(transform.get(axis)) is not None for axis in axes)


def _matte(node: Node) -> MatteReference | None:
    stored = structured(node.fx.get("matte"))
    if stored is None:
        return None
    return MatteReference(
        one_of(stored, "mode", "alpha", "luma"), stored["inverted"] is True, text_or_none(stored, "sourceId")
    )


def _effects(
    node: Node, content: Content, moving: Iterable[str], composition: CompositionSettings
) -> tuple[Effect, ...]:
    """Return the own stack, then the styles, then what the appearance panel turns into effects (effects.md 1.3)."""
    paths = tuple(moving)
    stack = (*effects(node, paths), *style_effects(node, paths, composition))
    return (*stack, *_appearance(node, content, {effect.static.type for effect in stack}, frozenset(paths)))


def _appearance(node: Node, content: Content, present: set[str], paths: frozenset[str]) -> list[Effect]:
    """Return the outline and recolouring of pictures, the outline of texts (layers.md 9.5, text.md 6)."""
    found: list[Effect] = []
    if not isinstance(content, MediaContent | TextContent):
        return found
    stroke = content.stroke if isinstance(content, MediaContent) else primary_stroke(node.fx)
    if stroke is not None and stroke.opacity > 0 and "stroke" not in present:
        color = (
            stroke.paint.color
            if isinstance(stroke.paint, SolidPaint)
            else text(record(node.fx, "stroke"), "color", "#ffffff")
        )
        stored = (("width", stroke.width), ("color", color), ("opacity", stroke.opacity * 100.0))
        tracks = _color_tracks("stroke", paths) if isinstance(stroke.paint, SolidPaint) else ()
        tracks = (*tracks, ("width", "strokeWidth")) if "strokeWidth" in paths else tracks
        found.append(Effect(EffectSnapshot("paintstroke:primary", "stroke", stored), tracks))
    if isinstance(content, MediaContent) and not present & {"fill", "gradient-ramp"}:
        found.extend(_recolouring(content, paths))
    return found


def _color_tracks(base: str, paths: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Return the channels of a fill or stroke as those of an effect's colour, or nothing if the red one is not animated."""
    channels = [channel for channel in "rgba" if f"{base}_{channel}" in paths]
    return tuple((f"color_{channel}", f"{base}_{channel}") for channel in channels) if "r" in channels else ()


def _recolouring(media_content: MediaContent, paths: frozenset[str]) -> list[Effect]:
    match media_content.fill:
        case SolidPaint(color):
            stored: tuple[tuple[str, str | float], ...] = (("color", color), ("opacity", 100.0))
            return [Effect(EffectSnapshot("paintfill:primary", "fill", stored), _color_tracks("fill", paths))]
        case LinearGradient(angle=angle, stops=stops) if len(stops) >= 2:
            ramp = _ramp(stops[0].color, stops[-1].color, angle)
        case RadialGradient(stops=stops) if len(stops) >= 2:
            ramp = _ramp(stops[0].color, stops[-1].color, 90.0)
        case _:
            return []
    return [Effect(EffectSnapshot("paintfill:primary", "gradient-ramp", ramp))]


def _ramp(first: str, last: str, angle: float) -> tuple[tuple[str, str | float], ...]:
    return (("colorA", first), ("colorB", last), ("angle", angle), ("blend", 100.0))


def _is_container(node: Node) -> bool:
    """Return True if time effects do nothing on the layer (effects.md 5)."""
    return node.is_precomp or node.kind == "comp"


def _forced_blur(node: Node) -> ForcedBlur | None:
    stored = None if _is_container(node) else time_effect(node, "force-motion-blur")
    if stored is None:
        return None
    own = numbers_of_time(stored, shutterAngle=180.0, samples=12.0)
    return ForcedBlur(text(stored, "id"), own["shutterAngle"], own["samples"])


def _echo(node: Node, moving: Mapping[str, Moving]) -> Echo | WideTime | None:
    """Return the first echo effect if it can make copies, else the first wide-time effect (effects.md 8.12). Containers have none."""
    if _is_container(node):
        return None
    stored = time_effect(node, "echo")
    if stored is not None:
        own = numbers_of_time(stored, echoTime=-0.05, numEchoes=6.0, startIntensity=80.0, decay=70.0, echoOperator=0.0)
        step, count, intensity, decay, operator = own.values()
        echo = Echo(text(stored, "id"), step, count, intensity, decay, int(operator))
        makes_copies = (echo.step_seconds or f"effect.{echo.id}.echoTime" in moving) and (
            echo.count >= 0.5 or f"effect.{echo.id}.numEchoes" in moving
        )
        if makes_copies:
            return echo
    wide = time_effect(node, "wide-time")
    if wide is None:
        return None
    own = numbers_of_time(wide, forwardSteps=2.0, backwardSteps=2.0)
    return WideTime(text(wide, "id"), own["forwardSteps"], own["backwardSteps"])


def _auto_orient(node: Node) -> Literal["off", "path", "camera"]:
    if node.fx.get("autoOrient") is True:
        return "path"
    return one_of(node.fx, "autoOrient", "off", "path", "camera")


def _corner_pin(
    stored: tuple[float, ...],
) -> tuple[float, float, float, float, float, float, float, float] | None:
    """Return usable corners: eight numbers, not the identity, strictly convex (layers.md 3.4)."""
    if len(stored) != 8 or all(abs(a - b) <= 1e-6 for a, b in zip(stored, UNIT_SQUARE, strict=True)):
        return None
    corners = [(stored[index], stored[index + 1]) for index in range(0, 8, 2)]
    crosses = []
    for index, (ax, ay) in enumerate(corners):
        bx, by = corners[(index + 1) % 4]
        cx, cy = corners[(index + 2) % 4]
        crosses.append((bx - ax) * (cy - by) - (by - ay) * (cx - bx))
    convex = all(cross >= 1e-9 for cross in crosses) or all(cross <= -1e-9 for cross in crosses)
    x0, y0, x1, y1, x2, y2, x3, y3 = stored
    return (x0, y0, x1, y1, x2, y2, x3, y3) if convex else None


def _material(transform: Record) -> Material:
    accepts = transform.get("acceptsShadows")
    return Material(
        accepts_lights=transform.get("acceptsLights") is True,
        accepts_shadows=accepts is not False and accepts != "off",
        ambient=_fraction(transform, "ambient", 100.0),
        diffuse=_fraction(transform, "diffuse", 50.0),
        specular=_fraction(transform, "specular", 0.0),
        shininess=max(1.0, number(transform, "shininess", 32.0)),
        metal=_fraction(transform, "metal", 0.0),
        light_transmission=_fraction(transform, "lightTransmission", 0.0),
    )


def _fraction(transform: Record, key: str, default: float) -> float:
    return min(100.0, max(0.0, number(transform, key, default))) / 100.0
