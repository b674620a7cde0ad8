"""Frames in a device's memory: their layout fits GPU encoders, and they are not reused while somebody reads them."""

from __future__ import annotations

import math

import av
import numpy as np
import pytest

from gpu_renderer.backends.gl.handover import PITCH_BYTES, DeviceFrames, DeviceRing, InteropFailed
from gpu_renderer.backends.gl.readback import ReadbackRing
from gpu_renderer.encode.planes import BT709, LIMITED_RANGE, encoder_frame, layout
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from tests.gpu_renderer.backends.gl.host_device import HostDevice

SIZES = [(96, 64), (97, 63), (253, 141), (854, 480), (1, 1), (2, 3)]


def frame_encoder() -> av.VideoCodecContext:
    """Return an encoder whose packets contain the raw frames."""
    encoder = av.CodecContext.create("wrapped_avframe", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 96, 64, "nv12"
    return encoder


@pytest.mark.parametrize("size", SIZES)
def test_chroma_lies_right_behind_luma_in_rows_of_one_aligned_pitch(size: tuple[int, int]) -> None:
    of, device = layout(*size), HostDevice()
    frame = DeviceFrames(device, of).take()
    luma, chroma = frame.planes
    assert luma.line_size == chroma.line_size == math.ceil(of.stride_bytes / PITCH_BYTES) * PITCH_BYTES
    assert chroma.buffer_ptr - luma.buffer_ptr == luma.line_size * luma.height
    assert [held.size for held in device.memory.values()] == [luma.line_size * (luma.height + chroma.height)]
    assert (frame.width, frame.height) == (size[0] + size[0] % 2, size[1] + size[1] % 2)


def test_a_frame_says_of_which_colours_it_is() -> None:
    frame = DeviceFrames(HostDevice(), layout(96, 64)).take()
    assert frame.colorspace == frame.color_primaries == frame.color_trc == BT709
    assert frame.color_range == LIMITED_RANGE


@pytest.mark.gl
@pytest.mark.parametrize("size", SIZES)
def test_a_picture_arrives_as_it_does_through_the_processors_memory(painter: Painter, size: tuple[int, int]) -> None:
    of, device = layout(*size), HostDevice()
    region = Region(0, 0, *size)
    frames = DeviceFrames(device, of)
    ring, readback = DeviceRing(painter, of, device), ReadbackRing(painter, of, 1, pixel_buffers=False)
    with painter.pool.acquired(region, "f1") as target:
        target.texture.write(np.random.default_rng(1).integers(0, 256, 4 * size[0] * size[1], np.uint8), alignment=1)
        for way, into in ((ring, frames.take()), (readback, encoder_frame(of))):
            way.put(target, damage.whole(region), into)
        arrived, expected = ring.collect(), readback.collect()
    assert np.array_equal(arrived.to_ndarray(), expected.to_ndarray())
    ring.close()
    readback.close()
    assert device.shared_count == 0


def test_memory_is_free_when_the_frame_is_forgotten() -> None:
    device = HostDevice()
    frames = DeviceFrames(device, layout(96, 64))
    first, second = frames.take(), frames.take()
    address = first.planes[0].buffer_ptr
    assert len(device.memory) == 2
    del first
    third = frames.take()
    assert third.planes[0].buffer_ptr == address
    del second, third
    held = [frames.take() for _ in range(2)]
    assert {frame.planes[0].buffer_ptr for frame in held} == set(device.memory)


def test_memory_is_not_free_while_an_encoder_holds_the_frame() -> None:
    device, encoder = HostDevice(), frame_encoder()
    frames = DeviceFrames(device, layout(96, 64))
    frame = frames.take()
    address = frame.planes[0].buffer_ptr
    frame.pts = 0
    packets = encoder.encode(frame)
    del frame
    assert frames.take().planes[0].buffer_ptr != address
    packets.clear()
    held = [frames.take() for _ in range(2)]
    assert {frame.planes[0].buffer_ptr for frame in held} == set(device.memory)


def test_closing_frees_what_nobody_holds_and_nothing_else() -> None:
    device = HostDevice()
    frames = DeviceFrames(device, layout(96, 64))
    held = frames.take()
    frames.take()
    frames.close()
    assert list(device.memory) == [held.planes[0].buffer_ptr]


def test_memory_that_the_encoders_library_cannot_take_is_refused_as_such() -> None:
    device = HostDevice()
    device.dlpack = (10, 0)  # memory of ROCm
    frames = DeviceFrames(device, layout(96, 64))
    with pytest.raises(InteropFailed, match="does not take the frame"):
        frames.take()
    frames.close()
    assert not device.memory
