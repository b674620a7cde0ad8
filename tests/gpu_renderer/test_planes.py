"""Conversion of RGB to NV12 planes."""

from __future__ import annotations

import av
import numpy as np
import numpy.typing as npt
import pytest
from av.video.reformatter import Interpolation

from gpu_renderer.backends.cpu.frame import CpuFrame
from gpu_renderer.backends.cpu.ring import KernelRing
from gpu_renderer.backends.gl.readback import ReadbackRing
from gpu_renderer.encode.planes import PlaneLayout, VideoPassthrough, encoder_frame, layout, reference_planes, texels_of
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.geometry.samples import Samples
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

pytestmark = pytest.mark.gl

ACCURATE = Interpolation.BILINEAR | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
Pixels = npt.NDArray[np.uint8]


WAYS = ("read", "pixel buffers", "processor")
"""Ways to make planes: by the shader, read at once or through pixel buffers, or by the native kernels."""


class Way:
    """A ring, with the targets that it reads."""

    def __init__(self, painter: Painter, way: str, of: PlaneLayout, depth: int = 1) -> None:
        self._painter, self._ring, self._host = painter, None, None
        if way != "processor":
            self._ring = ReadbackRing(painter, of, depth, pixel_buffers=way == "pixel buffers")
            return
        native = kernels()
        if native is None:
            pytest.skip("no C compiler")
        self._host = CpuFrame(painter, native, Region(0, 0, of.width, of.height)), KernelRing(of, native)

    def put(
        self, target: Target, changed: Damage, into: av.VideoFrame, passthrough: VideoPassthrough | None = None
    ) -> None:
        if self._ring is not None:
            self._ring.put(target, changed, into, passthrough)
        elif self._host is not None:
            picture, ring = self._host
            pixels = np.frombuffer(target.texture.read(), np.uint8).reshape(picture.read().shape)
            for part in changed.rects():
                inside = np.s_[part.y : part.bottom, part.x : part.right]
                picture.read()[inside] = pixels[inside]
            ring.put(picture, changed, into, passthrough)

    def collect(self) -> av.VideoFrame:
        ring = self._ring or (self._host or (None, None))[1]
        assert ring is not None
        return ring.collect()

    def close(self) -> None:
        if self._ring is not None:
            self._ring.close()


def converted(painter: Painter, rgb: Pixels, way: str = "read") -> tuple[av.VideoFrame, PlaneLayout]:
    height, width = rgb.shape[:2]
    target = painter.pool.take(Region(0, 0, width, height), "f1")
    target.texture.write(np.dstack([rgb, np.full((height, width), 255, np.uint8)]).tobytes(), alignment=1)
    of = layout(width, height)
    ring = Way(painter, way, of)
    ring.put(target, damage.whole(target.region), encoder_frame(of))
    frame = ring.collect()
    ring.close()
    painter.pool.give_back(target)
    return frame, of


def planes(frame: av.VideoFrame, of: PlaneLayout) -> tuple[Pixels, Pixels]:
    luma, pairs = (np.frombuffer(memoryview(plane), np.uint8).reshape(-1, of.stride_bytes) for plane in frame.planes)
    chroma = pairs[: of.coded_height // 2, : of.coded_width].reshape(of.coded_height // 2, -1, 2)
    return luma[: of.coded_height, : of.coded_width], chroma


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("width", "height"), [(64, 48), (65, 65), (131, 78), (320, 181)])
def test_planes_follow_bt709_at_even_and_odd_sizes(painter: Painter, width: int, height: int, way: str) -> None:
    rgb = np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    frame, of = converted(painter, rgb, way)
    for ours, formula in zip(planes(frame, of), reference_planes(rgb), strict=True):
        assert np.array_equal(ours, formula)


def test_the_whole_numbers_are_as_near_to_bt709_as_codes_can_be() -> None:
    rgb = np.random.default_rng(7).integers(0, 256, (480, 640, 3), dtype=np.uint8)
    luma, chroma = reference_planes(rgb)
    grey = rgb / 255 @ np.array([0.2126, 0.7152, 0.0722])
    assert np.abs(luma - (16 + 219 * grey)).max() <= 0.54
    columns = np.pad((rgb[0::2] / 510 + rgb[1::2] / 510), ((0, 0), (1, 0), (0, 0)), mode="edge")
    mean = (columns[:, 0:-2:2] + 2 * columns[:, 1:-1:2] + columns[:, 2::2]) / 4
    grey = mean @ np.array([0.2126, 0.7152, 0.0722])
    pairs = np.stack([(mean[..., 2] - grey) / 1.8556, (mean[..., 0] - grey) / 1.5748], axis=-1)
    assert np.abs(chroma - (128 + 224 * pairs)).max() <= 0.54
    levels = np.arange(256, dtype=np.uint8)
    greys = np.repeat(np.repeat(levels[None, :, None], 3, axis=2), 2, axis=0)
    assert np.array_equal(reference_planes(greys)[0][0], np.floor(16.5 + 219 * (levels / 255)).astype(np.uint8))


@pytest.mark.parametrize(
    ("rgb", "ycbcr"),
    [
        ((255, 255, 255), (235, 128, 128)),
        ((0, 0, 0), (16, 128, 128)),
        ((255, 0, 0), (63, 102, 240)),
        ((0, 255, 0), (173, 42, 26)),
        ((0, 0, 255), (32, 240, 118)),
    ],
)
def test_colour_bars_have_the_codes_of_bt709(
    painter: Painter, rgb: tuple[int, int, int], ycbcr: tuple[int, int, int]
) -> None:
    frame, of = converted(painter, np.full((16, 16, 3), rgb, np.uint8))
    luma, chroma = planes(frame, of)
    assert (luma[8, 8], *chroma[4, 4]) == ycbcr


def test_an_odd_size_repeats_its_last_row_and_column_once(painter: Painter) -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (33, 17, 3), dtype=np.uint8)
    frame, of = converted(painter, rgb)
    luma, _ = planes(frame, of)
    assert luma.shape == (34, 18)
    assert np.array_equal(luma[33], luma[32])
    assert np.array_equal(luma[:, 17], luma[:, 16])


def test_a_decoder_that_reads_the_tags_gives_the_colours_back(painter: Painter) -> None:
    bars = np.zeros((64, 96, 3), np.uint8)
    for index, colour in enumerate(
        [(200, 30, 30), (30, 200, 30), (30, 30, 200), (180, 180, 20), (20, 180, 180), (128,) * 3]
    ):
        bars[:, index * 16 : index * 16 + 16] = colour
    frame, _ = converted(painter, bars)
    back = frame.to_ndarray(format="rgb24", src_colorspace="ITU709", interpolation=ACCURATE)
    middle_columns = np.arange(8, 96, 16)
    assert np.abs(back[32, middle_columns].astype(int) - bars[32, middle_columns].astype(int)).max() <= 3


def test_the_ring_gives_frames_back_in_the_order_put(painter: Painter) -> None:
    of = layout(32, 32)
    ring = ReadbackRing(painter, of, 3, pixel_buffers=False)
    acquired = []
    for grey in (10, 120, 230):
        target = painter.pool.take(Region(0, 0, 32, 32), "f1")
        target.framebuffer.clear(grey / 255, grey / 255, grey / 255, 1.0)
        ring.put(target, damage.whole(target.region), encoder_frame(of))
        acquired.append(target)
    found = [int(planes(ring.collect(), of)[0][0, 0]) for _ in range(3)]
    ring.close()
    painter.pool.give_back(*acquired)
    assert found == [25, 119, 214]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("width", "height"), [(64, 48), (67, 45)])
def test_converting_only_what_changed_gives_the_same_planes(
    painter: Painter, width: int, height: int, way: str
) -> None:
    rng = np.random.default_rng(5)
    of = layout(width, height)
    ring = Way(painter, way, of, depth=2)
    frames = [encoder_frame(of) for _ in range(3)]
    target = painter.pool.take(Region(0, 0, width, height), "f1")
    rgba = np.zeros((height, width, 4), np.uint8)
    for number in range(40):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        part = Region(x, y, int(rng.integers(1, width - x + 1)), int(rng.integers(1, height - y + 1)))
        changed = damage.area(target.region, (target.region if number == 0 else part,))
        rgba[part.y : part.bottom, part.x : part.right] = rng.integers(0, 256, 4)
        target.texture.write(rgba.tobytes(), alignment=1)
        ring.put(target, changed, frames[number % 3])
        ours = planes(ring.collect(), of)
        for found, formula in zip(ours, reference_planes(rgba[..., :3]), strict=True):
            assert np.array_equal(found, formula)
    ring.close()
    painter.pool.give_back(target)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "drawn", [(), (Region(0, 0, 3, 2),), (Region(20, 10, 17, 9), Region(30, 13, 40, 40)), (Region(0, 0, 68, 46),)]
)
def test_footage_keeps_its_samples_but_for_those_that_are_drawn_over(painter: Painter, drawn: Rects, way: str) -> None:
    width, height = 68, 46
    rng, of = np.random.default_rng(3), layout(width, height)
    halves = (height // 2, width // 2)
    samples = Samples(*(rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((height, width), halves, halves)))
    rgba = rng.integers(0, 256, (height, width, 4), dtype=np.uint8)
    target = painter.pool.take(Region(0, 0, width, height), "f1")
    target.texture.write(rgba.tobytes(), alignment=1)
    ring = Way(painter, way, of)
    into, whole = encoder_frame(of), damage.whole(target.region)
    ring.put(target, whole, into, VideoPassthrough(lambda: samples, drawn))
    luma, chroma = planes(ring.collect(), of)
    over, over_pairs = np.zeros(luma.shape, bool), np.zeros(chroma.shape[:2], bool)
    for texels in map(texels_of, drawn):
        over[2 * texels.y : 2 * texels.bottom, 4 * texels.x : 4 * texels.right] = True
        over_pairs[texels.y : texels.bottom, 2 * texels.x : 2 * texels.right] = True
    formula = reference_planes(rgba[..., :3])
    assert np.array_equal(luma[~over], samples.luma[~over])
    assert np.array_equal(chroma[~over_pairs], np.stack(samples[1:], axis=-1)[~over_pairs])
    assert np.array_equal(luma[over], formula[0][over])
    assert np.array_equal(chroma[over_pairs], formula[1][over_pairs])
    ring.put(target, whole, into)
    for found, expected in zip(planes(ring.collect(), of), formula, strict=True):
        assert np.array_equal(found, expected)
    ring.close()
    painter.pool.give_back(target)
