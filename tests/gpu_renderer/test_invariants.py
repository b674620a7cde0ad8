"""Properties of all documents: order of layers, groups of one, effects that do nothing, moves, damage.

Each test draws a few random documents; `--slow` draws hundreds.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from gpu_renderer import effects
from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.session import Output, RenderSession, SessionOptions
from motion.bundle import read_document
from tests.gpu_renderer.documents import document, layer
from tests.gpu_renderer.random_documents import RandomDocument

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]
Record = dict[str, Any]
Picture = npt.NDArray[np.uint8]
EXAMPLES = pytest.mark.parametrize("examples", [15, pytest.param(300, marks=pytest.mark.slow)])
SEEDS = st.integers(0, 1_000_000)
FRAMES = st.integers(0, 5)
TRANSFORMS_IN_SPACE = {"z", "rotationX", "rotationY", "extrusionDepth"}
MOVED = ("blur", "drop-shadow", "glow", "stroke", "fill", "brightness", "levels", "gaussian-blur", "inner-shadow", "inner-glow",
         "linear-wipe", "add-grain", "vegas", "bevel", "sharpen", "tint", "median", "roughen-edges", "wave-warp", "keylight")  # fmt: skip
"""Effects whose result depends on the layer and not on its place in the frame."""
LEVELS_MAX = 2
LEVELS_BETWEEN_BACKENDS, SHARE_MAX = 8, 0.005
"""The golden tolerance: at most this share of the pixels may be further apart."""
TIMED = {"echo", "wide-time", "force-motion-blur", "posterize-time"}


def still(session: RenderSession, record: Record, frame: int, output: Output | None = None) -> Picture:
    with session.open(read_document(json.dumps(record).encode()), output or Output(), lambda src: None) as job:
        return np.array(session.still(job, frame))


def holds_for(examples: int, **drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], None]:
    """Run a check for a number of random values."""
    few = settings(
        max_examples=examples, derandomize=examples < 100, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate,),
    )  # fmt: skip
    return lambda check: few(given(**drawn)(check))()


def props(node: Record, kind: str) -> Record:
    found = [component["props"] for component in node["components"] if component["type"] == kind]
    return found[0] if found else {}


def root(record: Record) -> Record:
    return next(node for node in record["scene"]["nodes"] if node["id"] == "comp_root")


@EXAMPLES
def test_an_opaque_layer_on_top_hides_everything(session: RenderSession, examples: int) -> None:
    @holds_for(examples, seed=SEEDS, frame=FRAMES)
    def check(seed: int, frame: int) -> None:
        record = RandomDocument(seed).made()
        for node in record["scene"]["nodes"]:
            props(node, "Transform").pop("castShadows", None)  # the shadows of 3D layers are drawn over all layers
        # A layer whose matte is not among the layers of the frame takes the one above it, which is then not drawn.
        for name in ("taken", "cover"):
            record["scene"]["nodes"].append(layer(name, x=80, y=45, width=4000, height=4000, fill="#2468ac"))
            root(record)["children"].append(name)
        shown = still(session, record, frame)
        assert (shown == np.array([0x24, 0x68, 0xAC, 255])).all()


@EXAMPLES
def test_a_group_of_one_equals_its_layer(session: RenderSession, examples: int) -> None:
    @holds_for(examples, seed=SEEDS, frame=FRAMES, index=st.integers(0, 5))
    def check(seed: int, frame: int, index: int) -> None:
        record = RandomDocument(seed).made()
        nodes = {node["id"]: node for node in record["scene"]["nodes"]}
        sources = {props(node, "fx").get("matte", {}).get("sourceId") for node in record["scene"]["nodes"]}
        children = root(record)["children"]
        # A layer above a matted one can become its matte, if the named one is not among the layers of the frame.
        matted = (number for number, child in enumerate(children) if "matte" in props(nodes[child], "fx"))
        below = children[: next(matted, None)]
        flat = [child for child in below if is_flat(nodes[child]) and child not in sources]
        assume(len(flat) > index)
        grouped = copy.deepcopy(record)
        group_of_one(grouped, flat[index])
        assert np.array_equal(still(session, grouped, frame), still(session, record, frame))


def is_flat(node: Record) -> bool:
    """Return True for a shape or text outside 3D space, without a matte and clones, and constant over its frame.

    Only direct children of a composition have a bar in its timeline, which aligns their times with whole frames.
    """
    transform, fx = props(node, "Transform"), props(node, "fx")
    is_drawn = transform.get("__kind") in ("shape", "text") and not fx.get("isAdjustment")
    is_timed = fx.get("motionBlur") or {effect["type"] for effect in fx.get("effects", [])} & TIMED
    return bool(
        is_drawn
        and not is_timed
        and not TRANSFORMS_IN_SPACE & transform.keys()
        and not {"matte", "__cloner"} & fx.keys()
    )


def group_of_one(record: Record, name: str) -> None:
    """Put a layer of the main composition into a new group."""
    children = root(record)["children"]
    children[children.index(name)] = "one"
    next(node for node in record["scene"]["nodes"] if node["id"] == name)["parent"] = "one"
    components = [
        {"id": "one-t", "type": "Transform", "props": {"__kind": "group", "x": 0, "y": 0}},
        {"id": "one-fx", "type": "fx", "props": {"precomp": True}},
    ]
    group = {"id": "one", "name": "one", "parent": "comp_root", "children": [name], "components": components}
    record["scene"]["nodes"].append(group)


@EXAMPLES
def test_a_disabled_effect_changes_nothing(session: RenderSession, examples: int) -> None:
    names = st.sampled_from([kind.id for kind in effects.every_effect()])

    @holds_for(examples, seed=SEEDS, frame=FRAMES, name=names)
    def check(seed: int, frame: int, name: str) -> None:
        record = RandomDocument(seed).made()
        more = copy.deepcopy(record)
        for node in more["scene"]["nodes"]:
            fx = props(node, "fx")
            if fx:
                fx["effects"] = [*fx.get("effects", []), {"id": "off", "type": name, "params": {}, "enabled": False}]
        assert np.array_equal(still(session, more, frame), still(session, record, frame))


IDLE: dict[str, Record] = {
    "blur": {"amount": 0}, "glow": {"radius": 0}, "drop-shadow": {"softness": 0, "distance": 0}, "sharpen": {"amount": 0},
    "noise": {"amount": 0}, "light-sweep": {"intensity": 0}, "lens-flare": {"brightness": 0}, "light-rays": {"opacity": 0},
    "set-matte": {}, "spotlight": {"ambient": 100, "intensity": 0}, "force-motion-blur": {"shutterAngle": 0},
    "echo": {"numEchoes": 0}, "wide-time": {"forwardSteps": 0, "backwardSteps": 0},
}  # fmt: skip
BAKED_IDLE: dict[str, Record] = {
    "median": {"radius": 0}, "linear-wipe": {"completion": 0}, "gaussian-blur": {"blurriness": 0},
    "inner-shadow": {"opacity": 0}, "wave-warp": {"waveHeight": 0},
    "scatter": {"amount": 0}, "texturize": {"contrast": 0},
    "radial-blur": {"amount": 0}, "grid-wipe": {"completion": 0}, "light-burst": {"intensity": 0}, "corner-pin": {},
}  # fmt: skip


@EXAMPLES
@pytest.mark.parametrize("idle", [IDLE, BAKED_IDLE], ids=["on-screen", "baked"])
def test_an_idle_effect_changes_nothing(session: RenderSession, examples: int, idle: dict[str, Record]) -> None:
    @holds_for(examples, seed=SEEDS, name=st.sampled_from(sorted(idle)), at=st.integers(0, 3))
    def check(seed: int, name: str, at: int) -> None:
        # With an effect on the same route: alone, the idle one would change how the content is drawn.
        first = "add-grain" if idle is BAKED_IDLE else "brightness"
        stack = [{"id": "first", "type": first, "params": {}}]
        stack += [
            random_effect
            for random_effect in random_effects(seed)
            if idle is BAKED_IDLE or is_on_screen(random_effect["type"])
        ]
        more = [*stack]
        more.insert(min(at, len(more)), {"id": "idle", "type": name, "params": idle[name]})
        idling, bare = (still(session, one_layer(seed, effects), 0).astype(int) for effects in (more, stack))
        assert np.abs(idling - bare).max() <= 1  # gradients of a layer without effects are drawn in full precision


@EXAMPLES
def test_a_layer_moved_by_whole_pixels_is_the_same_there(session: RenderSession, examples: int) -> None:
    @holds_for(examples, seed=SEEDS, half=st.integers(1, 30))
    def check(seed: int, half: int) -> None:
        right = 2 * half  # analytic edges use derivatives over blocks of two by two pixels
        stack = [random_effect for random_effect in random_effects(seed) if random_effect["type"] in MOVED]
        here = still(session, one_layer(seed, stack), 0)
        there = still(session, one_layer(seed, stack, right), 0)
        apart = np.abs(there[:, right:].astype(int) - here[:, : here.shape[1] - right])
        assert apart.max() <= LEVELS_MAX


def is_on_screen(name: str) -> bool:
    kind = effects.find(name)
    return kind is not None and kind.route is not effects.Route.RASTER


def random_effects(seed: int) -> list[Record]:
    """Return up to three effects. Those that carry light far do not reach the edges of `one_layer`'s frame."""
    made = RandomDocument(seed)
    found = [made.effect("one", index) for index in range(seed % 4)]
    pool = [held for held in found if "LayerId" not in json.dumps(held)]
    return [*pool, *({"id": f"m{seed % 7}", "type": MOVED[seed % len(MOVED)], "params": {}} for _ in range(1))]


def one_layer(seed: int, stack: list[Record], right: int = 0) -> Record:
    """Return a document of one layer with effects, in the middle of a wide frame."""
    made = RandomDocument(seed)
    shown: Record = {"__kind": "shape", "x": 180 + right, "y": 80, "width": 52, "height": 36}
    fx: Record = {"effects": copy.deepcopy(stack)}
    kind = made.random.choice(["rect", "ellipse", "gradient", "stroked", "path", "text"])
    more = made.shape("one", kind, shown, fx)
    if kind == "text":
        shown["__kind"] = "text"
    if made.maybe(0.3):
        fx["mask"] = {"paths": [made.mask()]}
    node = layer("one", **shown)
    node["components"] += [*more, {"id": "one-fx", "type": "fx", "props": fx}]
    record = document(node, size=(420, 160))
    record["comps"]["comp_root"]["background"] = "#8c96a0"  # bright colour: the end of a glow is less than a level
    return record


@EXAMPLES
def test_both_backends_draw_the_same_picture(session: RenderSession, examples: int) -> None:
    by_opengl = SessionOptions(fonts=FontFolders(FONTS), drawing=Optimisations(native_kernels=False))
    with RenderSession(by_opengl) as other:

        @holds_for(examples, seed=SEEDS, frame=FRAMES)
        def check(seed: int, frame: int) -> None:
            record = RandomDocument(seed).made()
            apart = np.abs(still(session, record, frame).astype(int) - still(other, record, frame)).max(axis=2)
            assert (apart > LEVELS_BETWEEN_BACKENDS).mean() <= SHARE_MAX


@EXAMPLES
def test_a_frame_drawn_from_its_damage_is_the_whole_frame(session: RenderSession, examples: int) -> None:
    @holds_for(examples, seed=SEEDS)
    def check(seed: int) -> None:
        record = RandomDocument(seed).made()
        with session.open(read_document(json.dumps(record).encode()), Output(), lambda src: None) as job:
            run = [np.array(session.still(job, frame)) for frame in range(4)]
        for frame in (1, 3):
            assert np.array_equal(still(session, record, frame), run[frame])
