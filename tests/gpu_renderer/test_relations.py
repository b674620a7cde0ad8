"""Documents with equal meaning give equal pictures: spelling, order, names, containers and times have no effect.

A relation changes a random document in a way that changes no frame according to the format. It returns a function
that maps frames. Each relation is tested with a few documents; `--slow` uses a hundred.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.session import Output, RenderSession
from motion.bundle import read_document
from tests.gpu_renderer.documents import layer
from tests.gpu_renderer.random_documents import FPS, SECONDS, RandomDocument

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]
Record = dict[str, Any]
Picture = npt.NDArray[np.uint8]
Relation = Callable[[Record, random.Random], Callable[[int], int] | None]
"""Changes a document in place. Returns a function from a frame to the same frame of the changed document, or None if
they are equal."""

FRAME_COUNT: Final = round(SECONDS * FPS)
MAIN: Final = "comp_root"
TIMED: Final = ("echo", "wide-time", "force-motion-blur", "posterize-time")
DEFAULTS: Final = {"x": 0, "y": 0, "rotation": 0, "opacity": 100, "skew": 0, "skewAxis": 0, "fillOpacity": 100, "backdropBlur": 0, "anchorX": 0, "anchorY": 0}  # fmt: skip
FX_DEFAULTS: Final = {
    "fxEnabled": True, "blendMode": "normal", "guide": False, "motionBlur": False, "preserveTransparency": False, "effects": [], "layerStyles": {},
    "time": {"stretch": 100, "reverse": False, "freeze": False, "freezeTime": 0, "frameBlend": "none"},
}  # fmt: skip
ANIMATED: Final = (
    "x",
    "y",
    "z",
    "rotation",
    "rotationX",
    "rotationY",
    "opacity",
    "scaleX",
    "width",
    "height",
    "cornerRadius",
    "radius",
)


def stills(session: RenderSession, record: Record, frames: list[int], output: Output | None = None) -> list[Picture]:
    with session.open(read_document(json.dumps(record).encode()), output or Output(), lambda src: None) as job:
        return [np.array(session.still(job, frame)) for frame in frames]


def nodes(record: Record) -> dict[str, Record]:
    return {node["id"]: node for node in record["scene"]["nodes"]}


def layers(record: Record) -> list[Record]:
    return [node for node in record["scene"]["nodes"] if node["parent"] is not None]


def props(node: Record, kind: str) -> Record:
    found: list[Record] = [component["props"] for component in node["components"] if component["type"] == kind]
    return found[0] if found else {}


def tracks(record: Record, node: str) -> Record:
    return record["animation"]["tracks"].setdefault(node, {})  # type: ignore[no-any-return]


def add(record: Record, node: Record, at: int) -> None:
    record["scene"]["nodes"].append(node)
    nodes(record)[MAIN]["children"].insert(at, node["id"])


def still_numbers(record: Record, pick: random.Random) -> Iterator[tuple[str, str, float]]:
    """Yield some properties and effect parameters without keyframes: layer, path, value."""
    for node in layers(record):
        if props(node, "fx").get("motionBlur") or any(e["type"] in TIMED for e in props(node, "fx").get("effects", [])):
            continue  # a moving layer is sampled at several times
        numbers = {path: value for path, value in props(node, "Transform").items() if path in ANIMATED}
        for effect in props(node, "fx").get("effects", []):
            numbers |= {f"effect.{effect['id']}.{key}": value for key, value in effect["params"].items()}
        for path, value in numbers.items():
            if isinstance(value, float | int) and path not in tracks(record, node["id"]) and pick.random() < 0.5:
                yield node["id"], path, value


def bars(record: Record, *clips: tuple[str, int, int, int]) -> None:
    """Give the main composition a timeline: (layer, start, duration, source in) of each bar, in frames."""
    made = [
        {
            "id": f"bar{index}", "trackId": "t", "sourceId": node, "enabled": True,
            "clip": {"start": start, "duration": duration, "sourceIn": source, "sourceDuration": None},
        }
        for index, (node, start, duration, source) in enumerate(clips)
    ]  # fmt: skip
    track = {"id": "t", "name": "Composition", "layers": made}
    rate = {"fps": FPS, "nominal": FPS, "dropFrame": False}
    record["timelines"] = {MAIN: {"id": MAIN, "frameRate": rate, "duration": FRAME_COUNT, "tracks": [track]}}


def placed(record: Record) -> None:
    """Place the main composition, over an opaque layer, in the middle of a new composition of the same size."""
    size = record["comps"][MAIN]["width"], record["comps"][MAIN]["height"]
    add(record, layer("cover", x=size[0] / 2, y=size[1] / 2, width=4000, height=4000, fill="#405060"), 0)
    renamed(record, {MAIN: "inner"})
    record["comps"][MAIN] = {**record["comps"]["inner"], "id": MAIN}
    instance = layer("placed", __kind="comp", x=size[0] / 2, y=size[1] / 2)
    instance["components"].append({"id": "placed-fx", "type": "fx", "props": {"precomp": True, "__compRef": "inner"}})
    record["scene"]["nodes"].append(empty_root())
    add(record, instance, 0)


def empty_root() -> Record:
    """Return the root node of a main composition without layers."""
    group = {"id": "main-group", "type": "group", "props": {"__kind": "group"}}
    return {"id": MAIN, "name": MAIN, "parent": None, "children": [], "components": [group]}


def renamed(record: Record, names: dict[str, str]) -> None:
    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): walk(held) for key, held in value.items()}
        if isinstance(value, list):
            return [walk(held) for held in value]
        return names.get(value, value) if isinstance(value, str) else value

    changed = walk(record)
    record.clear()
    record.update(changed)


def has_sampled_times(record: Record) -> bool:
    """Return True if a frame shows several times. Other sampled times depend on bars and frame rates."""
    found = [props(node, "fx") for node in layers(record)]
    return any(fx.get("motionBlur") or any(e["type"] in TIMED for e in fx.get("effects", [])) for fx in found)


def other_order_of_keys(record: Record, pick: random.Random) -> None:
    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: walk(value[key]) for key in pick.sample(sorted(value), len(value))}
        return [walk(held) for held in value] if isinstance(value, list) else value

    changed = walk(record)
    record.clear()
    record.update(changed)


def other_order_of_nodes(record: Record, pick: random.Random) -> None:
    pick.shuffle(record["scene"]["nodes"])


def other_names(record: Record, pick: random.Random) -> None:
    if any(props(node, "Transform").get("__kind") == "particle" for node in layers(record)):
        return  # the name is the seed
    renamed(record, {name: f"n{pick.random()}" for name in nodes(record) if name != MAIN})


def defaults_spelled(record: Record, pick: random.Random) -> None:
    for node in layers(record):
        held = {key for component in node["components"] for key in component["props"]}
        props(node, "Transform").update({key: value for key, value in DEFAULTS.items() if key not in held})
        fx = props(node, "fx")
        if props(node, "Transform")["__kind"] != "comp":  # its own time would be set
            fx.update({key: copy.deepcopy(value) for key, value in FX_DEFAULTS.items() if key not in fx})
    record["colorManagement"] = {"workingSpace": "srgb-linear", "displayTransform": "srgb", "bitDepth": 16}


def foreign_parts(record: Record, pick: random.Random) -> None:
    """Add data that no frame depends on."""
    for node in record["scene"]["nodes"]:
        node |= {"locked": True, "color": "#123456", "transform": {"position": {"x": 77, "y": 3}, "rotation": 20}}
        node["components"].append({"id": "more", "type": "Nonsense", "props": {"foo": [1, {"bar": 2}]}})
    lost = layer("lost", fill="#ff0000")
    record["scene"]["nodes"].insert(0, {**lost, "parent": None})
    record |= {"guides": {"grid": True}, "plugins": [{"id": "x", "kinds": ["y"]}]}


def hidden_layer(record: Record, pick: random.Random) -> None:
    hidden = layer("hidden", __kind=pick.choice(["shape", "adjustment", "null"]), fill="#ff0000", width=400, height=400)
    add(record, {**hidden, "visible": False}, pick.randrange(1 + len(nodes(record)[MAIN]["children"])))


def distant_layer(record: Record, pick: random.Random) -> None:
    add(record, layer("far", x=-90_000), 0)


def clear_layer(record: Record, pick: random.Random) -> None:
    add(record, layer("clear", opacity=0), 0)


def equal_keyframes(record: Record, pick: random.Random) -> None:
    for node, path, value in list(still_numbers(record, pick)):
        keys = [{"t": 0, "value": value, "easing": "easeInOut"}, {"t": 1, "value": value}]
        tracks(record, node)[path] = {"nodeId": node, "prop": path, "keyframes": keys}


def constant_expressions(record: Record, pick: random.Random) -> None:
    for node, path, value in list(still_numbers(record, pick)):
        source = {"src": repr(value), "enabled": True}
        record["animation"]["expressions"].setdefault(node, {})[path] = source


def own_values(record: Record, pick: random.Random) -> None:
    for node, moving in record["animation"]["tracks"].items():
        sources = {path: {"src": pick.choice(["value", "var a = value; a"]), "enabled": True} for path in moving}
        record["animation"]["expressions"][node] = sources


def bars_spelled(record: Record, pick: random.Random) -> None:
    bars(record, *((name, 0, FRAME_COUNT, 0) for name in nodes(record)[MAIN]["children"]))


def bars_cut(record: Record, pick: random.Random) -> None:
    names = nodes(record)[MAIN]["children"]
    halves = [(name, cut, length, cut) for name in names for cut, length in ((0, 2), (2, FRAME_COUNT - 2))]
    bars(record, *halves)


def bars_begun_earlier(record: Record, pick: random.Random) -> None:
    bars(record, *((name, -7, FRAME_COUNT + 7, -7) for name in nodes(record)[MAIN]["children"]))


def plain_groups(record: Record, pick: random.Random) -> None:
    """Put a group or a null around each layer of the main composition."""
    if has_sampled_times(record):
        return  # only a direct child of a composition has a bar, which aligns its times with whole frames
    kind = pick.choice(["group", "null"])
    for index, name in enumerate(list(nodes(record)[MAIN]["children"])):
        if props(nodes(record)[name], "Transform")["__kind"] == "comp":
            continue
        around = layer(f"around{index}", __kind=kind, x=0, y=0)
        nodes(record)[MAIN]["children"].remove(name)
        nodes(record)[name]["parent"] = around["id"]
        add(record, {**around, "children": [name]}, index)


def spliced(record: Record, pick: random.Random) -> None:
    """Put the layers into a collapsed composition at the origin, with their own bars."""
    bars_spelled(record, pick)
    renamed(record, {MAIN: "inner"})
    record["comps"][MAIN] = {**record["comps"]["inner"], "id": MAIN}
    record["scene"]["nodes"].append(empty_root())
    instance = layer("spliced", __kind="comp", x=0, y=0)
    placing = {"precomp": True, "__compRef": "inner", "collapseTransforms": True}
    instance["components"].append({"id": "spliced-fx", "type": "fx", "props": placing})
    add(record, instance, 0)


def placed_later(record: Record, pick: random.Random) -> Callable[[int], int]:
    record["comps"][MAIN]["durationSeconds"] = 3
    if has_sampled_times(record):
        return lambda frame: frame
    later = pick.randrange(1, 9)
    bars(record, ("placed", later, 20, 0))
    return lambda frame: frame + later


def remapped_to_itself(record: Record, pick: random.Random) -> None:
    keys = [{"t": 0, "value": 0, "easing": "linear"}, {"t": 1024, "value": 1024}]
    tracks(record, "placed")["timeRemap"] = {"nodeId": "placed", "prop": "timeRemap", "keyframes": keys}


def placed_twice(record: Record, pick: random.Random) -> None:
    """Place the composition in another one in between."""
    renamed(record, {MAIN: "between", "placed": "deeper"})
    record["scene"]["nodes"].append(empty_root())
    record["comps"][MAIN] = {**record["comps"]["between"], "id": MAIN}
    outer = layer("placed", __kind="comp", x=record["comps"][MAIN]["width"] / 2, y=record["comps"][MAIN]["height"] / 2)
    outer["components"].append({"id": "placed-fx", "type": "fx", "props": {"precomp": True, "__compRef": "between"}})
    add(record, outer, 0)


IN_PLACE: Final[tuple[Relation, ...]] = (
    other_order_of_keys, other_order_of_nodes, other_names, defaults_spelled, foreign_parts, hidden_layer, distant_layer, clear_layer,
    equal_keyframes, constant_expressions, own_values, bars_spelled, bars_cut, bars_begun_earlier, plain_groups,
    spliced,
)  # fmt: skip
PLACED: Final[tuple[Relation, ...]] = (placed_later, remapped_to_itself, placed_twice)
"""Relations that place a document in another one."""
LEVELS: Final[Mapping[Relation, int]] = {placed_twice: 1}
"""Maximum level difference of pixels: the extra buffer rounds to half floats once more."""


def seeds(slow: bool) -> range:
    return range(5_000, 5_100) if slow else range(5)


@pytest.mark.parametrize("relation", IN_PLACE + PLACED, ids=lambda relation: relation.__name__)
def test_documents_that_mean_the_same_have_the_same_pixels(
    session: RenderSession, relation: Relation, slow: bool
) -> None:
    for seed in seeds(slow):
        pick = random.Random(seed)
        record = RandomDocument(seed).made()
        if relation in PLACED:
            placed(record)
            record["comps"][MAIN]["durationSeconds"] = record["comps"]["inner"]["durationSeconds"] = 3
        changed = copy.deepcopy(record)
        answer = relation(changed, pick) or (lambda frame: frame)
        frames = sorted(pick.sample(range(FRAME_COUNT), 2))
        first, second = stills(session, record, frames), stills(session, changed, [answer(frame) for frame in frames])
        apart = max(int(np.abs(one.astype(int) - other).max()) for one, other in zip(first, second, strict=True))
        assert apart <= LEVELS.get(relation, 0), f"document {seed}, frames {frames}: {apart} levels apart"
