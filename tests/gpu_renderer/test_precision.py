"""Pictures below layers that amplify small differences are filtered in full precision (display_list/routing.py)."""

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


def ramp() -> dict[str, Any]:
    """A picture of two pixels over the whole frame: a ramp between the centres of its halves."""
    picture = io.BytesIO()
    Image.fromarray(np.array([[[DARK] * 3, [LIGHT] * 3]], np.uint8)).save(picture, "PNG")
    src = "data:image/png;base64," + base64.b64encode(picture.getvalue()).decode()
    return layer("ramp", __kind="image", width=COLUMNS, height=90, src=src)


def rounded_in_linear_light() -> npt.NDArray[np.int64]:
    """The ramp's sRGB levels after 8 bits of linear light."""
    share = np.clip((np.arange(COLUMNS) + 0.5) / COLUMNS * 2 - 0.5, 0, 1)
    encoded = (DARK + (LIGHT - DARK) * share) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    rounded = np.floor(linear * 255 + 0.5) / 255
    shown = np.where(rounded <= 0.0031308, rounded * 12.92, 1.055 * rounded ** (1 / 2.4) - 0.055)
    return np.floor(shown * 255 + 0.5).astype(np.int64)


def still(record: dict[str, Any]) -> npt.NDArray[np.uint8]:
    opened = read_document(json.dumps(record).encode())
    with (
        RenderSession(SessionOptions(fonts=FontFolders(FONTS))) as session,
        session.open(opened, Output(), lambda src: None) as job,
    ):
        return np.array(session.still(job, 0))
