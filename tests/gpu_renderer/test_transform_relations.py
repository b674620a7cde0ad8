"""Transforms on different nodes give equal pictures if their product is equal.

As in `test_relations`, a relation changes a random document in a way that changes no frame according to the format. It
does not apply to every document.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

import numpy as np
import pytest

from gpu_renderer import effects
from gpu_renderer.commands.options import FONTS
from gpu_renderer.effects.values import Route
from gpu_renderer.session import Output, RenderSession
from tests.gpu_renderer.documents import layer
from tests.gpu_renderer.random_documents import RandomDocument, Record
from tests.gpu_renderer.test_relations import (
    FRAME_COUNT,
    MAIN,
    add,
    bars_spelled,
    empty_root,
    has_sampled_times,
    layers,
    nodes,
    props,
    renamed,
    stills,
    tracks,
)

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]
Pair = tuple[Record, Record, Output]
"""Two documents with the same picture in this output."""
Relation = Callable[[Record], Pair | None]
"""Returns None if it does not apply to the document."""

PLACE: Final = ("x", "y", "rotation")
"""The first factors of a layer's transform. Its scale follows (animation.md 6.3)."""
SPACE: Final = ("z", "rotationX", "rotationY")
MOVED_PX: Final = {"x": 40.0, "y": 25.0, "z": 90.0}
UNPLACED: Final = ("camera", "light", "audio", "comp", "null", "group")
OF_THE_COMPOSITION: Final = ("dissolve", "drop-shadow", "dropShadow", "__cloner", "maskId", "precomp")
"""Words in documents whose lengths or cells are those of the composition, which a null does not scale."""
SEEDS_TRIED: Final = 400
PAIRS: Final = 4


def kind(node: Record) -> str:
    found: str = props(node, "Transform").get("__kind", "group")
    return found


def in_space(node: Record) -> bool:
    return kind(node) in ("shape", "text") and any(path in props(node, "Transform") for path in SPACE)


def has_other_times(record: Record) -> bool:
    """Return True if layers are drawn at other times than the frame's, which a bar or another node would not share."""
    return has_sampled_times(record) or "__cloner" in json.dumps(record)


def is_flat(record: Record) -> bool:
    return not any(in_space(node) or kind(node) in ("camera", "light") for node in layers(record))


def held_by_nulls(record: Record) -> Pair | None:
    """Give position and rotation of each layer to a null around it (layers.md 3.3)."""
    if has_other_times(record):
        return None
    changed = copy.deepcopy(record)
    for index, name in enumerate(list(nodes(changed)[MAIN]["children"])):
        node = nodes(changed)[name]
        if kind(node) in UNPLACED:
            continue
        own, around = props(node, "Transform"), layer(f"null-{name}", __kind="null", x=0, y=0)
        props(around, "Transform").update({path: own.pop(path) for path in PLACE if path in own})
        moving = tracks(changed, name)
        tracks(changed, around["id"]).update({path: moving.pop(path) for path in PLACE if path in moving})
        nodes(changed)[MAIN]["children"].remove(name)
        node["parent"] = around["id"]
        add(changed, {**around, "children": [name]}, index)
    return record, changed, Output()


def read_from_other_layers(record: Record) -> Pair | None:
    """Move each track to a null of its own, from which an expression reads it (animation.md 4.5)."""
    if has_sampled_times(record):
        return None
    changed, count = copy.deepcopy(record), 0
    for name, moving in list(changed["animation"]["tracks"].items()):
        for path in list(moving):
            holder, count = layer(f"holder{count}", __kind="null"), count + 1
            tracks(changed, holder["id"])["x"] = moving.pop(path)
            source = {"src": f"layer('#{holder['id']}', 'x')", "enabled": True}
            changed["animation"]["expressions"].setdefault(name, {})[path] = source
            add(changed, holder, len(nodes(changed)[MAIN]["children"]))
    return (record, changed, Output()) if count else None


def spliced_under_a_transform(record: Record) -> Pair | None:
    """Place the composition collapsed, or under a null, with one transform (document.md 2.10.5)."""
    if has_other_times(record) or not is_flat(record):
        return None
    transform = {"x": 30, "y": -12, "rotation": 17, "scaleX": 0.8, "scaleY": -1.1}
    collapsed, grouped = copy.deepcopy(record), copy.deepcopy(record)
    bars_spelled(collapsed, random.Random())
    renamed(collapsed, {MAIN: "inner"})
    collapsed["comps"][MAIN] = {**collapsed["comps"]["inner"], "id": MAIN}
    collapsed["scene"]["nodes"].append(empty_root())
    instance = layer("spliced", __kind="comp", **transform)
    placing = {"precomp": True, "__compRef": "inner", "collapseTransforms": True}
    instance["components"].append({"id": "spliced-fx", "type": "fx", "props": placing})
    add(collapsed, instance, 0)
    put_under(grouped, layer("null", __kind="null", **transform))
    return collapsed, grouped, Output()


def drawn_at_double_size(record: Record) -> Pair | None:
    """Draw a flat composition into twice its size, or scale its layers by a null: the raster scales are equal."""
    if has_sampled_times(record) or not is_flat(record) or len(record["comps"]) > 1:
        return None
    if any(word in json.dumps(record) for word in OF_THE_COMPOSITION) or any(map(is_baked, layers(record))):
        return None
    changed, settings = copy.deepcopy(record), record["comps"][MAIN]
    size = {"width": 2 * settings["width"], "height": 2 * settings["height"]}
    changed["comps"][MAIN].update(size)
    put_under(changed, layer("null", __kind="null", x=0, y=0, scaleX=2, scaleY=2))
    return record, changed, Output(**size)


def is_baked(node: Record) -> bool:
    """Return True if the layer is drawn on a canvas of its own, whose size can depend on the output's size alone."""
    found = [effects.find(entry["type"]) for entry in props(node, "fx").get("effects", [])]
    is_faded = props(node, "Transform").get("fillOpacity", 100) < 100
    return is_faded or any(effect is not None and effect.route is Route.RASTER for effect in found)


def moved_with_the_camera(record: Record) -> Pair | None:
    """Move everything in space, the camera too, by a null in space (three-d.md 2, 3). The tree keeps its order."""
    changed = copy.deepcopy(record)
    main = nodes(changed)[MAIN]["children"]
    moved = [node for node in layers(changed) if in_space(node) or kind(node) in ("camera", "light")]
    cameras = [node for node in moved if kind(node) == "camera"]
    if has_sampled_times(record) or len(cameras) != 1 or not any(map(in_space, moved)):
        return None
    if any(node["id"] not in main or props(node, "Transform").get("castShadows") for node in moved):
        return None
    camera, width = props(cameras[0], "Transform"), changed["comps"][MAIN]["width"]
    if "orbitYaw" in camera:
        return None  # it turns about the middle of the composition, which stays
    camera.setdefault("z", -(width / 2) / np.tan(np.radians(39.6 / 2)))
    for node in moved:
        node["parent"] = "null"
        for path, distance in MOVED_PX.items():
            own = props(node, "Transform")
            own[path] = own.get(path, 0) - distance
            for key in tracks(changed, node["id"]).get(path, {"keyframes": []})["keyframes"]:
                key["value"] -= distance
    add(changed, layer("null", __kind="null", rotationX=0, **MOVED_PX), 0)
    return record, changed, Output()


def put_under(record: Record, parent: Record) -> None:
    """Make the node the parent of all layers of the main composition."""
    children = nodes(record)[MAIN]["children"]
    for name in children:
        nodes(record)[name]["parent"] = parent["id"]
    nodes(record)[MAIN]["children"] = []
    add(record, {**parent, "children": children}, 0)


LEVELS: Final[Mapping[Relation, int]] = {
    held_by_nulls: 1,
    read_from_other_layers: 0,
    spliced_under_a_transform: 0,
    drawn_at_double_size: 2,
    moved_with_the_camera: 8,
}
"""Maximum level difference. Another order of products changes their last bits, which edges show."""
SHARE_MAX: Final = 0.002
"""Share of pixels, at edges, that can differ by more."""


@pytest.mark.parametrize("relation", LEVELS, ids=lambda relation: relation.__name__)
def test_equal_products_of_transforms_give_the_same_pixels(
    session: RenderSession, relation: Relation, slow: bool
) -> None:
    found = (pair for seed in range(SEEDS_TRIED) if (pair := relation(RandomDocument(seed).made())) is not None)
    pairs = list(islice(found, 10 * PAIRS if slow else PAIRS))
    assert len(pairs) >= PAIRS, "the relation applies to too few documents"
    for number, (first, second, output) in enumerate(pairs):
        frames = [number % FRAME_COUNT]
        one, other = stills(session, first, frames, output)[0], stills(session, second, frames, output)[0]
        levels = LEVELS[relation]
        far = np.abs(one.astype(int) - other).max(axis=2) > levels
        assert far.mean() <= (SHARE_MAX if levels else 0), f"pair {number}: {far.mean():.2%} of the pixels differ"
