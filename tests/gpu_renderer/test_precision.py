"""Images below layers that amplify small differences are filtered in full precision (display_list/routing.py)."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.session import Output, RenderSession, SessionOptions
from motion.bundle import read_document
from tests.gpu_renderer.documents import document, layer

pytestmark = pytest.mark.gl
DARK, LIGHT, COLUMNS = 12, 60, 160


def test_a_dark_ramp_below_a_blend_is_rounded_once_in_linear_light() -> None:
    white = layer("white", width=20, height=60, fill="#ffffff")
    white["components"].append({"id": "white-fx", "type": "fx", "props": {"blendMode": "multiply"}})
    row = still(document(ramp(), white))[45, :, 0].astype(int)
    beyond = np.r_[1 : COLUMNS // 2 - 12, COLUMNS // 2 + 12 : COLUMNS - 1]
    assert np.abs(row - rounded_in_linear_light())[beyond].max() <= 1


def test_a_gradient_below_a_blend_has_the_dither_that_the_blend_amplifies() -> None:
    """A mask that covers everything makes the shape a raster, and changes no pixel."""
    corners = ((-999, -999), (999, -999), (999, 999), (-999, 999))
    points = [{"x": x, "y": y, "inX": x, "inY": y, "outX": x, "outY": y} for x, y in corners]
    path = {"id": "all", "mode": "add", "closed": True, "feather": 0, "opacity": 1, "expansion": 0, "inverted": False}
    found = []
    for mask in ({}, {"mask": {"paths": [path | {"points": points}]}}):
        shown = layer("gradient", width=COLUMNS, height=90, shapeType="rect")
        fill = {
            "type": "linear",
            "angle": 33,
            "stops": [{"offset": 0, "color": "#306070"}, {"offset": 1, "color": "#a05040"}],
        }
        shown["components"].append({"id": "gradient-fx", "type": "fx", "props": {"fill": fill, **mask}})
        mixed = layer("mixed", width=80, height=60, fill="#f4f4f4")
        mixed["components"].append({"id": "mixed-fx", "type": "fx", "props": {"blendMode": "hard-mix"}})
        found.append(still(document(shown, mixed)))
    assert len(np.unique(found[0][20:70, 45:115, :3].reshape(-1, 3), axis=0)) > 1
    assert np.array_equal(found[0], found[1])


def test_a_baked_picture_is_filtered_without_a_bias() -> None:
    grain = np.random.default_rng(5).integers(40, 200, (90, 180)).astype(np.uint8)
    reduced = picture("grain", grain, width=120, height=60)
    effect = {"id": "fx", "type": "shift-channels", "params": {}}  # a copy at the stored size changes no pixel
    reduced["components"].append({"id": "grain-fx", "type": "fx", "props": {"effects": [effect]}})
    shown = still(document(reduced))[15:75, 20:140, 0].astype(float)
    off = (shown - bilinear(grain, 60, 120))[1:-1, 1:-1]
    assert np.abs(off).max() <= 1.0
    assert abs(off.mean()) < 0.1  # GPUs round the weights of a filter to 1/256


def test_a_group_with_effects_is_graded_as_its_picture_would_be() -> None:
    brightened = [{"id": "fx", "type": "brightness", "params": {"amount": 800}}]
    alone = ramp()
    alone["components"].append({"id": "ramp-fx", "type": "fx", "props": {"effects": brightened}})
    inner = {**ramp(), "parent": "group"}
    group = {**layer("group", __kind="group", x=0, y=0), "children": ["ramp"]}
    group["components"].append({"id": "group-fx", "type": "fx", "props": {"precomp": True, "effects": brightened}})
    grouped = document(group)
    grouped["scene"]["nodes"].append(inner)
    expected, shown = (still(record)[45, 1:-1, 0].astype(int) for record in (document(alone), grouped))
    assert np.abs(shown - expected).max() <= 1


def test_faint_particles_are_not_rounded_before_they_are_composited() -> None:
    """A layer beyond the frame that blends with what is below it changes no pixel, but has always been exact below."""
    fog = layer("fog", __kind="particle", x=80.4, y=45.3, width=150, height=80)
    shown = {"opacityStart": 0.06, "opacityEnd": 0, "colorStart": "#f7f55e", "colorEnd": "#4d632d", "blend": "normal"}
    fog["components"].append({"id": "fog-fx", "type": "fx", "props": {"particle": shown}})
    far = layer("far", x=-9000)
    far["components"].append({"id": "far-fx", "type": "fx", "props": {"blendMode": "screen"}})
    record, exact = document(fog), document(fog, far)
    for made in (record, exact):
        made["comps"]["comp_root"]["background"] = "#000000"
    assert np.abs(still(record, 20).astype(int) - still(exact, 20)).max() <= 1


def test_the_edge_of_a_scoped_effect_has_four_samples_a_pixel() -> None:
    """White within a slanted scope, black beyond: the edge has three mixtures, not one for every share."""
    corners = [(-60, -40), (10, -40), (30, 40), (-60, 40)]
    points = [{"x": x, "y": y, "inX": x, "inY": y, "outX": x, "outY": y} for x, y in corners]
    path = {
        "id": "scope",
        "mode": "none",
        "closed": True,
        "feather": 0,
        "opacity": 1,
        "expansion": 0,
        "inverted": False,
    }
    effect = {"id": "fx", "type": "invert", "params": {"amount": 100}, "maskId": "scope"}
    black = layer("black", width=120, height=80, fill="#000000")
    props = {"mask": {"paths": [path | {"points": points}]}, "effects": [effect]}
    black["components"].append({"id": "black-fx", "type": "fx", "props": props})
    levels = np.unique(still(document(black))[10:80, 60:130, 0])
    assert levels[0] == 0
    assert levels[-1] == 255
    assert 2 <= len(levels) <= 5


def test_a_steep_table_gives_the_same_levels_with_both_backends() -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    params = {"gamma": 3.82, "pedestal": 0.06, "gain": 9.64, "blueGamma": 1.2, "bluePedestal": -0.45, "blueGain": 1.07}
    steep = picture("steep", levels, width=150, height=80)
    effect = {"id": "fx", "type": "gamma-pedestal-gain", "params": params}
    steep["components"].append({"id": "steep-fx", "type": "fx", "props": {"effects": [effect]}})
    one, other = (still(document(steep), drawing=Optimisations(native_kernels=on)).astype(int) for on in (True, False))
    assert len(np.unique(one[..., 2])) > 5
    assert np.abs(one - other).max() <= 1


def ramp() -> dict[str, Any]:
    """Return a picture of two pixels over the whole frame: a ramp between the centres of its halves."""
    return picture("ramp", np.array([[DARK, LIGHT]], np.uint8), width=COLUMNS, height=90)


def picture(name: str, levels: npt.NDArray[np.uint8], *, width: int, height: int) -> dict[str, Any]:
    """Return a layer with a grey picture in the middle of the frame."""
    file = io.BytesIO()
    Image.fromarray(np.repeat(levels[..., None], 3, axis=2)).save(file, "PNG")
    src = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    return layer(name, __kind="image", width=width, height=height, src=src)


def bilinear(levels: npt.NDArray[np.uint8], rows: int, columns: int) -> npt.NDArray[np.float64]:
    """Resize by interpolating between the four nearest pixels, without rounding."""
    found = levels.astype(np.float64)
    for axis, count in enumerate((rows, columns)):
        side = found.shape[axis]
        at = np.clip((np.arange(count) + 0.5) * side / count - 0.5, 0, side - 1)
        first = np.floor(at).astype(int)
        share = np.expand_dims(at - first, 1 - axis)
        low, high = (np.take(found, np.minimum(first + step, side - 1), axis) for step in (0, 1))
        found = low + (high - low) * share
    return found


def rounded_in_linear_light() -> npt.NDArray[np.int64]:
    """Return the ramp's sRGB levels after rounding to 8 bits in linear light."""
    share = np.clip((np.arange(COLUMNS) + 0.5) / COLUMNS * 2 - 0.5, 0, 1)
    encoded = (DARK + (LIGHT - DARK) * share) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    rounded = np.floor(linear * 255 + 0.5) / 255
    shown = np.where(rounded <= 0.0031308, rounded * 12.92, 1.055 * rounded ** (1 / 2.4) - 0.055)
    return np.floor(shown * 255 + 0.5).astype(np.int64)


def still(record: dict[str, Any], frame: int = 0, drawing: Optimisations | None = None) -> npt.NDArray[np.uint8]:
    opened = read_document(json.dumps(record).encode())
    with (
        RenderSession(SessionOptions(FontFolders(FONTS), drawing=drawing or Optimisations())) as session,
        session.open(opened, Output(), lambda src: None) as job,
    ):
        return np.array(session.still(job, frame))
