"""Small pictures whose parts cost a decoder seconds or gigabytes, and valid pictures with many parts."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from farm_core.assets.inspection import kind_at
from farm_core.errors import BadRequest
from tests.api import media
from tests.api.media import chunk
from tests.attacks.bounded import bounded

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MANY = 200_000
HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
ROWS = zlib.compress(bytes(193 * 64))
PIXELS, END = chunk(b"IDAT", ROWS), chunk(b"IEND")


def png(before: bytes = b"", after: bytes = b"", pixels: bytes = PIXELS) -> bytes:
    return SIGNATURE + HEADER + before + pixels + after + END


def profile(size: int) -> bytes:
    return chunk(b"iCCP", b"x\0\0" + zlib.compress(bytes(size)))


def text(size: int) -> bytes:
    return chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(size)))


def gif(before: bytes) -> bytes:
    screen = b"GIF89a" + struct.pack("<HHBBB", 64, 64, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    return screen + before + b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0;"


def jpeg(**options: bool) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (64, 64)).save(file, "JPEG", **options)
    return file.getvalue()


def scanned(count: int) -> bytes:
    """Return a progressive JPEG that repeats its last scan without the scan's content."""
    whole = jpeg(progressive=True)
    start = whole.rfind(b"\xff\xda")
    (size,) = struct.unpack_from(">H", whole, start + 2)
    return whole[:-2] + whole[start : start + 2 + size] * count + whole[-2:]


def webp(chunks: bytes) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (1, 1)).save(file, "WEBP", lossless=True)
    body = b"WEBP" + b"VP8X" + struct.pack("<I", 10) + bytes(10) + file.getvalue()[12:] + chunks
    return b"RIFF" + struct.pack("<I", len(body)) + body


def kind(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return kind_at(str(path), None)


PARTS = {
    "png before": png(before=chunk(b"prVt") * MANY),
    "png pixels": png(pixels=chunk(b"IDAT") * MANY + PIXELS),
    "png after": png(after=chunk(b"prVt") * MANY),
    "gif comments": gif(b"!\xfe\1a\0" * MANY),
    "gif comment": gif(b"!\xfe" + b"\1a" * MANY + b"\0"),
    "gif zeros": gif(bytes(MANY)),
    "jpeg segments": jpeg()[:2] + b"\xff\xfe\0\2" * MANY + jpeg()[2:],
    "jpeg fill": jpeg()[:2] + b"\xff" * MANY + jpeg()[2:],
    "webp chunks": webp((b"abcd" + bytes(4)) * MANY),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_picture_of_very_many_parts_is_refused_before_a_decoder_reads_them(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="has more than 100,000 chunks, blocks or segments"):
        kind(tmp_path / "picture", PARTS[name])


def test_a_jpeg_of_very_many_scans_is_refused(tmp_path: Path) -> None:
    assert kind(tmp_path / "picture", scanned(40)) == "image/jpeg"
    with pytest.raises(BadRequest, match="has more than 100 scans"):
        kind(tmp_path / "picture", scanned(200))


@pytest.mark.parametrize("content", [b"Exif\0\0", b"Photoshop 3.0\0"])
def test_a_jpeg_of_very_many_segments_of_metadata_is_refused(content: bytes, tmp_path: Path) -> None:
    marker = b"\xff\xe1" if content.startswith(b"Exif") else b"\xff\xed"
    segment = marker + struct.pack(">H", 2 + len(content)) + content
    assert kind(tmp_path / "picture", jpeg()[:2] + segment * 100 + jpeg()[2:]) == "image/jpeg"
    with pytest.raises(BadRequest, match="more than 200 segments of EXIF or Photoshop data"):
        kind(tmp_path / "picture", jpeg()[:2] + segment * 300 + jpeg()[2:])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (png(before=profile(1000) * 2), "has several colour profiles"),
        (
            png(before=profile(20_000_000)),
            "a text or colour profile of the picture decompresses to more than 1,048,576",
        ),
        (png(before=text(20_000_000)), "a text or colour profile of the picture decompresses to more than 1,048,576"),
        (png(before=text(1_000_000) * 70), "the texts of the picture decompress to more than 67,108,864 bytes"),
        (media.huge_png(), "the picture is too large; at most 100,000,000 pixels can be drawn"),
        (
            media.huge_png(11_000),
            r"the picture is too large \(11000 x 11000\); at most 100,000,000 pixels and 16,384 on a side can be drawn",
        ),
    ],
    ids=["profiles", "profile", "text", "texts", "size", "size of no bomb"],
)
def test_a_decompression_bomb_is_named_as_such(data: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=reason):
        kind(tmp_path / "picture", data)


@pytest.mark.parametrize(("brand", "name"), [("heic", "a HEIC photo; save it as JPEG"), ("avif", "an AVIF picture")])
def test_a_picture_in_iso_media_is_named_instead_of_called_a_damaged_video(
    brand: str, name: str, tmp_path: Path
) -> None:
    brands = b"ftyp" + brand.encode() + bytes(4) + b"mif1" + brand.encode()
    data = struct.pack(">I", 4 + len(brands)) + brands + struct.pack(">I4s", 0x20, b"meta") + bytes(200)
    with pytest.raises(BadRequest, match=f"it is {name}.*Accepted are PNG"):
        kind(tmp_path / "picture", data)


def test_ordinary_pictures_of_many_parts_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "picture"
    assert kind(path, png(pixels=b"".join(chunk(b"IDAT", ROWS[i : i + 1]) for i in range(len(ROWS))))) == "image/png"
    assert kind(path, png(before=profile(1000) + text(100) * 1000)) == "image/png"
    assert kind(path, gif(b"!\xfe\1a\0" * 1000)) == "image/gif"
    assert (
        kind(path, jpeg()[:2] + (b"\xff\xe4" + struct.pack(">H", 60_000) + bytes(59_998)) * 300 + jpeg()[2:])
        == "image/jpeg"
    )
    assert kind(path, webp((b"abcd" + bytes(4)) * 1000)) == "image/webp"


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_picture_that_is_cut_off_anywhere_is_refused_or_known(format_name: str, tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.effect_mandelbrot((64, 64), (-2, -2, 2, 2), 20).save(file, format_name)
    whole = file.getvalue()
    for end in range(1, len(whole), max(1, len(whole) // 40)):
        try:
            assert kind(tmp_path / "picture", whole[:end]).startswith("image/")
        except BadRequest as refusal:
            assert "Accepted are" in refusal.message


def test_a_jpeg_that_further_pictures_follow_is_a_jpeg(tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.new("RGB", (64, 64)).save(file, "MPO", save_all=True, append_images=[Image.new("RGB", (32, 32))])
    assert kind(tmp_path / "picture", file.getvalue()) == "image/jpeg"


@pytest.mark.parametrize("whole", [jpeg(), png(), webp(b"")], ids=["jpeg", "png", "webp"])
@pytest.mark.parametrize("after", [b"\xff\xda" * 1000, bytes(8 * MANY)], ids=["scans", "zeros"])
def test_data_after_a_picture_is_not_counted(whole: bytes, after: bytes, tmp_path: Path) -> None:
    """Phones append the video of a motion photo."""
    assert kind(tmp_path / "picture", whole + after).startswith("image/")


def test_a_large_avif_takes_little_more_than_its_pixels_twice(tmp_path: Path) -> None:
    """Needed are the decoder's picture, its rows and the result. With whole copies at each step it took 28 bytes a
    pixel."""
    path = tmp_path / "large.avif"
    Image.linear_gradient("L").resize((4000, 4000)).convert("RGB").save(path, speed=10, quality=30)
    code = """
        import sys
        from pathlib import Path
        from gpu_renderer.content.media.bitmaps import bitmap_pixels

        def peak():
            return 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])

        before = peak()
        pixels = bitmap_pixels(Path(sys.argv[1]).read_bytes())
        print(*pixels.shape, peak() - before, int(pixels[0, 0, 0]), int(pixels[-1, 0, 0]))
    """
    height, width, _, taken_bytes, first, last = map(int, bounded(code, str(path)).split())
    assert (height, width) == (4000, 4000)
    assert first <= 4
    assert last >= 251
    assert taken_bytes < 20 * height * width
