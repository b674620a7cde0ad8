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
from PIL.PngImagePlugin import PngInfo

from gpu_renderer.content import library
from gpu_renderer.content.library import MediaLibrary
from gpu_renderer.content.media import bitmaps
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


@pytest.mark.parametrize(("format", "is_turned"), [("PNG", True), ("AVIF", True), ("WEBP", False)])
def test_other_formats_are_turned_where_chromium_turns_them(tmp_path: Path, format: str, is_turned: bool) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = pictures(tmp_path).picture(saved(tmp_path, encoded(format, exif=exif, quality=95)))
    assert pixels is not None
    assert pixels.shape == ((40, 20, 4) if is_turned else (20, 40, 4))
    if format == "PNG":
        assert pixels[0, 19].tolist() == [0, 0, 0, 255]


def test_the_exif_of_a_webp_is_found_behind_a_chunk_of_odd_size(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    webp = encoded("WEBP", exif=exif)
    body = webp[12:30] + b"JUNK\x01\0\0\0x\0" + webp[30:]
    data = b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body
    pixels = pictures(tmp_path).picture(saved(tmp_path, data))
    assert pixels is not None
    assert pixels.shape == (20, 40, 4)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_png_is_turned_like_a_photograph(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    ramp = Image.fromarray(np.mgrid[:16, :24].sum(axis=0).astype(np.uint8) * 6)
    found = []
    for kind in ("PNG", "JPEG"):
        file = io.BytesIO()
        ramp.save(file, kind, exif=exif, quality=100)
        found.append(pictures(tmp_path).picture(saved(tmp_path, file.getvalue())))
    png, jpeg = found
    assert png is not None
    assert jpeg is not None
    assert png.shape == jpeg.shape
    assert np.abs(png.astype(int) - jpeg).max() <= 3


def test_the_first_frame_of_an_animation_is_shown(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "blue")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    pixels = pictures(tmp_path).picture(saved(tmp_path, out.getvalue()))
    assert pixels is not None
    assert pixels[4, 4].tolist() == [255, 0, 0, 255]


def animated_png(is_default_hidden: bool) -> bytes:
    """Return an animation of red and blue. Its default picture is lime, or the red frame."""
    hidden, *frames = (Image.new("RGB", (8, 8), color) for color in ("lime", "red", "blue"))
    first, *others = (hidden, *frames) if is_default_hidden else frames
    out = io.BytesIO()
    first.save(out, "PNG", save_all=True, default_image=is_default_hidden, append_images=others)
    return out.getvalue()


@pytest.mark.parametrize("is_default_hidden", [True, False])
def test_the_first_frame_of_an_animated_png_is_shown(tmp_path: Path, is_default_hidden: bool) -> None:
    pixels = pictures(tmp_path).picture(saved(tmp_path, animated_png(is_default_hidden)))
    assert pixels is not None
    assert pixels[4, 4].tolist() == [255, 0, 0, 255]


def partial_png(canvas: tuple[int, int], left: int) -> bytes:
    """Return an animation with a hidden lime picture, whose red first frame of 4 x 2 px is at `left` and 3 px from the top."""

    def body(width: int, height: int, color: bytes) -> bytes:
        return zlib.compress((b"\0" + color * width) * height)

    control = struct.pack(">IIIIIHHBB", 0, 4, 2, left, 3, 1, 10, 0, 0)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", *canvas, 8, 2, 0, 0, 0)), (b"acTL", struct.pack(">II", 1, 0)),
        (b"IDAT", body(8, 8, b"\0\xff\0")), (b"fcTL", control),
        (b"fdAT", struct.pack(">I", 1) + body(4, 2, b"\xff\0\0")), (b"IEND", b""),
    ]  # fmt: skip
    made = (
        struct.pack(">I4s", len(part), name) + part + struct.pack(">I", zlib.crc32(name + part))
        for name, part in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def test_a_first_frame_that_covers_a_part_of_its_canvas_stands_at_its_place() -> None:
    pixels = bitmaps.bitmap_pixels(partial_png((8, 8), 2))
    assert pixels.shape == (8, 8, 4)
    assert {tuple(pixel) for pixel in pixels[3:5, 2:6].reshape(-1, 4)} == {(255, 0, 0, 255)}
    assert pixels.sum() == 8 * 510


def test_a_first_frame_beyond_its_canvas_is_not_shown() -> None:
    assert bitmaps.bitmap_pixels(partial_png((8, 8), 5))[4, 4].tolist() == [0, 255, 0, 255]


@pytest.mark.parametrize("length", [0, 4, 12])
def test_an_animation_with_a_short_header_is_undecodable(length: int) -> None:
    whole = partial_png((8, 8), 2)
    header = b"IHDR" + whole[16 : 16 + length]
    damaged = whole[:8] + struct.pack(">I", length) + header + struct.pack(">I", zlib.crc32(header)) + whole[33:]
    with pytest.raises(MediaUndecodable):
        bitmaps.bitmap_pixels(damaged)


def test_the_canvas_of_a_small_first_frame_has_a_limited_size() -> None:
    with pytest.raises(MediaUndecodable, match="measures"):
        bitmaps.bitmap_pixels(partial_png((32768, 32768), 2))


def test_a_data_url_needs_no_file(tmp_path: Path) -> None:
    body = base64.b64encode(encoded("PNG")).decode()
    assert pictures(tmp_path).picture(f"data:image/png;base64,{body}") is not None
    svg = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='10' height='5'/%3E"
    pixels = pictures(tmp_path).picture(svg)
    assert pixels is not None
    assert pixels.shape == (1024, 2048, 4)


@pytest.mark.parametrize(
    "head",
    ["data:image/png;base64", "data:image/png;charset=x;base64", "data:image/png;BASE64", "data:image/png; base64 "],
)
def test_base64_is_read_as_in_browsers(tmp_path: Path, head: str) -> None:
    body = base64.b64encode(encoded("PNG", pnginfo=padded())).decode()
    assert body.endswith("=")
    broken = "%20\n".join((body[:100], body[100:].rstrip("=")))
    assert pictures(tmp_path).picture(f"{head},{broken}") is not None


def padded() -> PngInfo:
    """Return a chunk with which a picture's base64 has padding."""
    info = PngInfo()
    info.add(b"teXt", b"a" * (-len(encoded("PNG")) % 3 + 1))
    return info


@pytest.mark.parametrize("src", ["", "nothing-there"])
def test_a_source_with_nothing_behind_it_is_no_picture(tmp_path: Path, src: str) -> None:
    assert pictures(tmp_path).picture(src) is None


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of a few bytes that claims to be large."""
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b"")]
    parts = (struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def avif_bomb() -> bytes:
    """Return an AVIF whose header states more pixels than its coded picture has."""
    avif = encoded("AVIF")
    at = avif.index(b"ispe") + 8
    return avif[:at] + struct.pack(">II", 32_768, 3_100) + avif[at + 8 :]


@pytest.mark.parametrize("data", [bomb(32_769, 1), bomb(32_768, 3_100), avif_bomb()], ids=["side", "area", "avif"])
def test_the_stated_size_is_checked_before_a_picture_is_decoded(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(MediaUndecodable, match="measures"):
        pictures(tmp_path).picture(saved(tmp_path, data))
    assert pictures(tmp_path).picture(saved(tmp_path, bomb(32_768, 1))) is not None


def test_large_files_and_data_urls_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded("PNG")
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    for limit, places in ((len(data), [saved(tmp_path, data)]), (len(url) - 22, [url])):
        for module in (bitmaps, library):
            monkeypatch.setattr(module, "FILE_MAX_BYTES", limit)
        assert pictures(tmp_path).picture(places[0]) is not None
        for module in (bitmaps, library):
            monkeypatch.setattr(module, "FILE_MAX_BYTES", limit - 1)
        with pytest.raises(MediaUndecodable, match="too large"):
            pictures(tmp_path).picture(places[0])


def damaged(avif: bytes) -> bytes:
    """Return an AVIF whose coded picture is all zeros."""
    start = avif.index(b"mdat") + 4
    return avif[:start] + bytes(len(avif) - start)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"not a picture", encoded("TIFF"), b"<svg", b"<?xml version='1.0'?><html><svg/></html>",
        encoded("WEBP")[:-1], encoded("AVIF")[:-1], damaged(encoded("AVIF")),
    ],
    ids=["empty", "text", "tiff", "cut-svg", "html", "cut-webp", "cut-avif", "damaged-avif"],
)  # fmt: skip
def test_a_file_that_cannot_be_decoded_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(MediaUndecodable) as refusal:
        pictures(tmp_path).picture(saved(tmp_path, data))
    assert str(tmp_path) not in refusal.value.public_message


@pytest.mark.parametrize("format", ["PNG", "JPEG"])
def test_a_file_that_is_cut_off_shows_its_first_rows(tmp_path: Path, format: str) -> None:
    noise, out = np.random.default_rng(1).integers(0, 256, (64, 48, 3), np.uint8), io.BytesIO()
    Image.fromarray(noise).save(out, format)
    pixels = pictures(tmp_path).picture(saved(tmp_path, out.getvalue()[: out.tell() // 2]))
    assert pixels is not None
    assert pixels.shape == (64, 48, 4)
    assert pixels[[0, -1], :, 3].tolist() == [[255] * 48, [0] * 48]


@pytest.mark.parametrize("src", ["data:image/png;base64", "data:image/png;base64,A"])
def test_a_malformed_data_url_is_refused(tmp_path: Path, src: str) -> None:
    with pytest.raises(MediaUndecodable):
        pictures(tmp_path).picture(src)


def with_chunk(png: bytes, name: bytes, content: bytes) -> bytes:
    chunk = struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    return png[:33] + chunk + png[33:]


PLAIN = [200, 100, 50, 255]
WIDE = struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)


@pytest.mark.parametrize(
    ("gamma", "color"),
    [(45455, PLAIN), (44000, PLAIN), (47000, PLAIN), (0, PLAIN), (100000, [229, 168, 122, 255])],
)
def test_a_gamma_of_srgb_changes_no_colour_and_another_one_counts(tmp_path: Path, gamma: int, color: list[int]) -> None:
    png = with_chunk(encoded("PNG"), b"gAMA", struct.pack(">I", gamma))
    pixels = pictures(tmp_path).picture(saved(tmp_path, png))
    assert pixels is not None
    assert pixels[15, 30].tolist() == pytest.approx(color, abs=1)


def test_significant_bits_reduce_no_colour(tmp_path: Path) -> None:
    png = with_chunk(encoded("PNG"), b"sBIT", bytes([5, 6, 5]))
    pixels = pictures(tmp_path).picture(saved(tmp_path, png))
    assert pixels is not None
    assert pixels[15, 30].tolist() == PLAIN


def test_primaries_count_only_with_a_gamma(tmp_path: Path) -> None:
    alone = with_chunk(encoded("PNG"), b"cHRM", WIDE)
    library = pictures(tmp_path)
    for name, data in (("alone", alone), ("both", with_chunk(alone, b"gAMA", struct.pack(">I", 45455)))):
        (tmp_path / name).write_bytes(data)
    pixels, wide = library.picture("alone"), library.picture("both")
    assert pixels is not None
    assert wide is not None
    assert pixels[15, 30].tolist() == PLAIN
    assert wide[15, 30, 0] > 210


@pytest.mark.parametrize(
    ("codes", "color"),
    [
        ((1, 13), PLAIN),
        ((2, 2), PLAIN),
        ((12, 13), [215, 93, 31, 255]),
        ((1, 1), [197, 91, 39, 255]),
        ((1, 8), [229, 168, 122, 255]),
        ((4, 13), [232, 93, 30, 255]),
        ((5, 13), [203, 100, 51, 255]),
        ((6, 13), [196, 102, 49, 255]),
        ((8, 13), [222, 92, 32, 255]),
        ((9, 13), [241, 76, 29, 255]),
        ((10, 13), [255, 0, 61, 255]),
        ((11, 13), [211, 93, 32, 255]),
        ((22, 13), [202, 102, 49, 255]),
        ((1, 4), [201, 100, 46, 255]),
        ((1, 5), [189, 76, 26, 255]),
        ((1, 7), [206, 115, 68, 255]),
        ((1, 17), [200, 87, 34, 255]),
    ],
)
def test_codes_of_a_colour_space_replace_other_colour_chunks(
    tmp_path: Path, codes: tuple[int, int], color: list[int]
) -> None:
    """The colours are Chromium's."""
    png = with_chunk(encoded("PNG"), b"gAMA", struct.pack(">I", 45455 if codes == (2, 2) else 100_000))
    pixels = pictures(tmp_path).picture(saved(tmp_path, with_chunk(png, b"cICP", bytes([*codes, 0, 1]))))
    assert pixels is not None
    assert pixels[15, 30].tolist() == pytest.approx(color, abs=1)


@pytest.mark.parametrize("content", [b"", bytes([12, 13, 0]), bytes([12, 13, 0, 0]), bytes([12, 13, 1, 1])])
def test_codes_of_levels_that_are_not_full_rgb_do_not_count(tmp_path: Path, content: bytes) -> None:
    library = pictures(tmp_path)
    pixels = library.picture(saved(tmp_path, with_chunk(encoded("PNG"), b"cICP", content)))
    assert pixels is not None
    assert pixels[15, 30].tolist() == PLAIN
    assert not library.warnings


def test_a_gamma_of_the_wrong_size_does_not_count(tmp_path: Path) -> None:
    pixels = pictures(tmp_path).picture(saved(tmp_path, with_chunk(encoded("PNG"), b"gAMA", b"\0\1")))
    assert pixels is not None
    assert pixels[15, 30].tolist() == PLAIN


@pytest.mark.parametrize(("transfer", "is_named"), [(13, False), (16, True), (18, True)])
def test_levels_of_hdr_are_named(tmp_path: Path, transfer: int, is_named: bool) -> None:
    library = pictures(tmp_path)
    assert library.picture(saved(tmp_path, with_chunk(encoded("PNG"), b"cICP", bytes([9, transfer, 0, 1])))) is not None
    assert [("HDR" in line) for line in library.warnings] == [True] * is_named


@pytest.mark.parametrize("exif", [b"broken", b"II+\0\x08\0\0\0\x08\0\0\0"])
def test_a_chunk_that_is_cut_off_hides_no_picture(tmp_path: Path, exif: bytes) -> None:
    png = with_chunk(encoded("PNG"), b"eXIf", exif) + b"\x00\x00\xff\xffeXIf"
    assert pictures(tmp_path).picture(saved(tmp_path, png)) is not None


def wide_gamut_profile() -> bytes:
    """Return an ICC profile with Adobe RGB's primaries and a gamma of 2.2."""
    rows = ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))
    place = struct.Struct(">4s4x3i")
    tags = [(b"wtpt", (0.9642, 1.0, 0.8249)), *zip((b"rXYZ", b"gXYZ", b"bXYZ"), rows, strict=True)]
    bodies = [(name, place.pack(b"XYZ ", *(round(value * 65536) for value in xyz))) for name, xyz in tags]
    curve = struct.pack(">4s4xIH2x", b"curv", 1, round(2.2 * 256))
    bodies += [(name, curve) for name in (b"rTRC", b"gTRC", b"bTRC")]
    start = 128 + 4 + 12 * len(bodies)
    directory, content = struct.pack(">I", len(bodies)), b""
    for name, body in bodies:
        directory += struct.pack(">4sII", name, start + len(content), len(body))
        content += body
    header = struct.pack(
        ">I4sI4s4s4s12x4s28xiii48x", start + len(content), b"none", 0x02100000, b"mntr", b"RGB ", b"XYZ ", b"acsp",
        63190, 65536, 54061,
    )  # fmt: skip
    return header + directory + content


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "AVIF"])
def test_colours_of_a_wide_gamut_are_shown_in_srgb(tmp_path: Path, format: str) -> None:
    data = encoded(format, icc_profile=wide_gamut_profile(), quality=95)
    pixels = pictures(tmp_path).picture(saved(tmp_path, data))
    assert pixels is not None
    assert pixels[15, 30].tolist() == pytest.approx([229, 100, 43, 255], abs=6)


def test_a_profile_is_converted_to_srgb(tmp_path: Path) -> None:
    from PIL import ImageCms

    linear = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    pixels = pictures(tmp_path).picture(saved(tmp_path, encoded("PNG", icc_profile=linear)))
    assert pixels is not None
    assert np.abs(pixels[15, 30].astype(int) - [200, 100, 50, 255]).max() <= 1
