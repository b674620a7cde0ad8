"""Probe of the handover: tests if frames can stay on this machine's GPU."""

from __future__ import annotations

import ctypes

import pytest

from gpu_renderer.backends.gl.cuda import CudaDevice, Driver, NoCudaDriver
from gpu_renderer.backends.gl.handover import Handover
from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.encode.profile import EncoderProfile, encoder_fault
from gpu_renderer.handover_probe import Obstacle, Verdict, compared, probed
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.pipeline import PipelineOptions
from gpu_renderer.session import RenderSession, SessionOptions
from tests.gpu_renderer.backends.gl.host_device import HostDevice

pytestmark = pytest.mark.gl
SOFTWARE = EncoderProfile(preset="ultrafast", threads=1)
NVENC = EncoderProfile(codec="h264_nvenc")


def has_cuda() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def test_the_processors_encoder_takes_frames_from_its_own_memory(painter: Painter) -> None:
    assert probed(painter, SOFTWARE) == (Verdict(Obstacle.ENCODER, "libx264"), None)


def test_another_driver_than_nvidias_is_named(painter: Painter) -> None:
    vendor = painter.context.info["GL_VENDOR"]
    if "NVIDIA" in vendor:
        pytest.skip("this machine draws with NVIDIA's driver")
    assert probed(painter, NVENC) == (Verdict(Obstacle.OPENGL, vendor), None)


def test_a_switch_that_is_off_is_the_whole_reason(painter: Painter) -> None:
    assert probed(painter, NVENC, switch=False) == (Verdict(Obstacle.TURNED_OFF), None)


@pytest.mark.skipif(has_cuda(), reason="this machine has a CUDA driver")
def test_a_machine_without_cuda_says_so() -> None:
    with pytest.raises(NoCudaDriver, match=r"libcuda\.so\.1"):
        CudaDevice()


def test_a_library_that_is_no_cuda_driver_is_told_from_one() -> None:
    with pytest.raises(NoCudaDriver, match="cuInit"):
        Driver("libm.so.6")


def test_the_way_is_open_where_both_ways_give_the_same_bytes(painter: Painter) -> None:
    device = HostDevice()
    handover = Handover(device)
    assert compared(painter, SOFTWARE, handover) == Verdict()
    handover.close()


def test_other_bytes_close_the_way(painter: Painter) -> None:
    assert compared(painter, SOFTWARE, Handover(HostDevice(shift_texels=1))) == Verdict(Obstacle.BYTES)


def test_a_device_that_fails_closes_the_way_with_its_reason(painter: Painter) -> None:
    before = painter.pool.acquired_count
    verdict = compared(painter, SOFTWARE, Handover(HostDevice(copies_max=7)))
    assert verdict == Verdict(Obstacle.REFUSED, "the device is gone")
    assert painter.pool.acquired_count == before


def test_an_encoder_that_fails_closes_the_way_with_its_reason(painter: Painter) -> None:
    if encoder_fault("h264_nvenc") is None:
        pytest.skip("this machine has the hardware encoder")
    assert compared(painter, NVENC, Handover(HostDevice())).obstacle is Obstacle.REFUSED


@pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")
@pytest.mark.parametrize(("switch", "obstacle"), [(True, Obstacle.ENCODER), (False, Obstacle.TURNED_OFF)])
def test_a_session_tells_why_its_frames_leave_the_gpu(switch: bool, obstacle: Obstacle) -> None:
    pipeline = PipelineOptions(encode_from_gpu=switch)
    options = SessionOptions(fonts=FontFolders(FONTS), encoder=SOFTWARE, pipeline=pipeline)
    with RenderSession(options) as session:
        assert session.from_gpu.obstacle is obstacle
        assert str(obstacle) in str(session.from_gpu)
