"""Pictures behind sources: layers.md 9.3."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpu_renderer.content.media.library import MediaLibrary
from gpu_renderer.errors import MediaUndecodable
from tests.gpu_renderer.fonts import reference_fonts


def pictures(folder: Path) -> MediaLibrary:
    return MediaLibrary(lambda src: folder / src, reference_fonts())


def encoded(format: str, mode: str = "RGB", **options: object) -> bytes:
    out = io.BytesIO()
    picture = Image.new(mode, (40, 20), (200, 100, 50, 128)[: len(mode)])
    picture.putpixel((0, 0), (0, 0, 0, 255)[: len(mode)])
    picture.save(out, format, **options)
    return out.getvalue()


def saved(folder: Path, data: bytes) -> str:
    (folder / "picture").write_bytes(data)
    return "picture"


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "AVIF"])
def test_the_formats_of_browsers_are_read(tmp_path: Path, format: str) -> None:
    pixels = pictures(tmp_path).picture(saved(tmp_path, encoded(format)))
    assert pixels is not None
    assert pixels.shape == (20, 40, 4)
    assert pixels[15, 30].tolist() == pytest.approx([200, 100, 50, 255], abs=6)


@pytest.mark.parametrize("format", ["PNG", "AVIF"])
def test_alpha_is_premultiplied(tmp_path: Path, format: str) -> None:
    pixels = pictures(tmp_path).picture(saved(tmp_path, encoded(format, "RGBA")))
    assert pixels is not None
    assert pixels[15, 30].tolist() == pytest.approx([100, 50, 25, 128], abs=3)


def test_a_photograph_is_turned_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = pictures(tmp_path).picture(saved(tmp_path, encoded("JPEG", exif=exif, quality=100)))
    assert pixels is not None
    assert pixels.shape == (40, 20, 4)
    assert pixels[0, 19, 0] < pixels[0, 0, 0]


def test_the_first_frame_of_an_animation_is_shown(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "blue")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    pixels = pictures(tmp_path).picture(saved(tmp_path, out.getvalue()))
    assert pixels is not None
    assert pixels[4, 4].tolist() == [255, 0, 0, 255]


def test_a_data_url_needs_no_file(tmp_path: Path) -> None:
    body = base64.b64encode(encoded("PNG")).decode()
    assert pictures(tmp_path).picture(f"data:image/png;base64,{body}") is not None
    svg = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='10' height='5'/%3E"
    pixels = pictures(tmp_path).picture(svg)
    assert pixels is not None
    assert pixels.shape == (1024, 2048, 4)


@pytest.mark.parametrize("src", ["", "nothing-there"])
def test_a_source_with_nothing_behind_it_is_no_picture(tmp_path: Path, src: str) -> None:
    assert pictures(tmp_path).picture(src) is None


def bomb() -> bytes:
    """A PNG of a few bytes that claims to be 60,000 pixels square."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b"")]
    parts = (struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize(
    "data",
    [b"", b"not a picture", encoded("TIFF"), bomb(), b"<svg", b"<?xml version='1.0'?><html><svg/></html>"],
    ids=["empty", "text", "tiff", "bomb", "cut-svg", "html"],
)
def test_what_cannot_be_decoded_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(MediaUndecodable) as refusal:
        pictures(tmp_path).picture(saved(tmp_path, data))
    assert str(tmp_path) not in refusal.value.public_message


@pytest.mark.parametrize("src", ["data:image/png;base64", "data:image/png;base64,A"])
def test_a_malformed_data_url_is_refused(tmp_path: Path, src: str) -> None:
    with pytest.raises(MediaUndecodable):
        pictures(tmp_path).picture(src)


def test_a_profile_is_converted_to_srgb(tmp_path: Path) -> None:
    from PIL import ImageCms

    linear = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    pixels = pictures(tmp_path).picture(saved(tmp_path, encoded("PNG", icc_profile=linear)))
    assert pixels is not None
    assert np.abs(pixels[15, 30].astype(int) - [200, 100, 50, 255]).max() <= 1
