"""Probe once per session if frames can stay in GPU memory on their way to the encoder.

The last step encodes the same pictures both ways. Only equal bytes enable the handover, so a segment's bytes do not depend
on the worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np

from gpu_renderer.backends.compositor import BackendName, RenderedFrame
from gpu_renderer.backends.gl.cuda import CudaDevice, DeviceNotShared, NoCudaDriver
from gpu_renderer.backends.gl.handover import Handover, InteropFailed
from gpu_renderer.encode.planes import VideoPassthrough
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Samples
from gpu_renderer.opengl.context import identity
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from gpu_renderer.pipeline import PipelineOptions, SegmentPipeline


class Obstacle(StrEnum):
    """Reason why frames are encoded from main memory."""

    TURNED_OFF = "encode_from_gpu is off"
    ENCODER = "the encoder is not the GPU's"
    OPENGL = "OpenGL is not NVIDIA's"
    DRIVER = "there is no CUDA driver"
    DEVICE = "CUDA does not share the GPU that draws"
    REFUSED = "the GPU or its encoder refused"
    BYTES = "the encoder gave other bytes"


_OBSTACLES: dict[type[InteropFailed], Obstacle] = {NoCudaDriver: Obstacle.DRIVER, DeviceNotShared: Obstacle.DEVICE}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of the probe. Frames stay on the GPU if there is no obstacle."""

    obstacle: Obstacle | None = None
    detail: str = ""

    @property
    def works(self) -> bool:
        """Return True if frames stay on the GPU."""
        return self.obstacle is None

    def __str__(self) -> str:
        """Return the verdict as one line for logs and `./farm doctor`."""
        if self.obstacle is None:
            return "frames stay in the GPU's memory"
        detail = f" ({self.detail})" if self.detail else ""
        return f"frames go through the processor's memory: {self.obstacle}{detail}"


def probed(painter: Painter, profile: EncoderProfile, *, switch: bool = True) -> tuple[Verdict, Handover | None]:
    """Probe if `switch` is on. Return the verdict and, if it is positive, the handover. The context must be current."""
    if not switch:
        return Verdict(Obstacle.TURNED_OFF), None
    if profile.codec != "h264_nvenc":
        return Verdict(Obstacle.ENCODER, profile.codec), None
    if "nvidia" not in (vendor := identity(painter.context).vendor).lower():
        return Verdict(Obstacle.OPENGL, vendor), None
    try:
        handover = Handover(CudaDevice())
    except InteropFailed as error:
        return Verdict(_OBSTACLES.get(type(error), Obstacle.REFUSED), str(error)), None
    verdict = compared(painter, profile, handover)
    return verdict, handover if verdict.works else None


def compared(painter: Painter, profile: EncoderProfile, handover: Handover) -> Verdict:
    """Encode the same pictures from main memory and from GPU memory, and compare the segments."""
    with TemporaryDirectory() as folder, painter.pool.acquired(_Pictures.region, "f1") as target:
        pictures, path, segments = _Pictures(target), Path(folder) / "a.mp4", list[bytes]()
        try:
            for way in (None, handover):
                pipeline = SegmentPipeline(painter, pictures, profile, PipelineOptions(), handover=way)
                pipeline.run(range(pictures.COUNT), path)
                segments.append(path.read_bytes())
        except (InteropFailed, av.FFmpegError) as error:
            return Verdict(Obstacle.REFUSED, str(error))
    return Verdict() if segments[0] == segments[1] else Verdict(Obstacle.BYTES)


class _Pictures:
    """Test pictures: mild noise over a gradient. NVENC's driver crashes if a frame needs more bits than it has samples.

    There are more frames than an encoder buffers. One frame repeats, the size is odd, and the last frames lie over a video.
    """

    COUNT = 14
    width, height, fps = 253, 141, 30.0
    region = Region(0, 0, width, height)
    backend: BackendName = "gl"

    def __init__(self, frame: Target) -> None:
        self._frame = frame
        y, x = np.mgrid[0 : self.height, 0 : self.width]
        self._gradient = np.stack([x // 2, y, x // 4 + y // 2, np.full_like(x, 247)], axis=-1)

    def evaluate(self, frame_index: int) -> int:
        """Return the frame's number as its snapshot."""
        return frame_index

    def draw(self, number: int) -> RenderedFrame:
        """Return the picture of a frame."""
        if number == 3:
            return RenderedFrame(self._frame, damage.nothing(self._frame.region), is_repeat=True)
        noise = np.random.default_rng(number).integers(0, 8, self._gradient.shape)
        self._frame.texture.write((self._gradient + noise).astype(np.uint8).tobytes(), alignment=1)
        video = VideoPassthrough(self._grey, (Region(33, 21, 70, 50),)) if number >= 10 else None
        return RenderedFrame(self._frame, damage.whole(self._frame.region), video)

    def _grey(self) -> Samples:
        luma = np.full((self.height + 1, self.width + 1), 90, np.uint8)
        chroma = np.full_like(luma[::2, ::2], 128)
        return Samples(luma, chroma, chroma)
