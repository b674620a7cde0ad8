"""Whether a finished MP4 is what was planned: asked before anyone is told that it is done."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import av

from gpu_renderer.encode.planes import BT709, LIMITED_RANGE
from gpu_renderer.encode.profile import rate
from gpu_renderer.errors import RenderError


class VideoNotAsPlanned(RenderError):
    """The file differs from the plan; `faults` says in what, all of it."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("the video is not what was planned: " + "; ".join(faults))
        self.faults = faults


def check(path: Path, *, frame_count: int, width: int, height: int, fps: float) -> None:
    """Raises VideoNotAsPlanned unless the file is H.264 of this frame count, picture size and rate, tagged BT.709 limited,
    with every frame shown at its number and the index before the media. Odd sizes are one larger, as they were encoded."""
    try:
        faults = [*_container_faults(path), *_stream_faults(path, frame_count, width, height, fps)]
    except (av.FFmpegError, struct.error) as error:
        faults = [f"it cannot be read ({error})"]
    if faults:
        raise VideoNotAsPlanned(faults)


def boxes(path: Path) -> Iterator[tuple[str, int]]:
    """The top-level boxes of an MP4 file, in order: kind and size in bytes (ISO/IEC 14496-12, 4.2)."""
    with path.open("rb") as file:
        while head := file.read(8):
            size, kind = struct.unpack(">I4s", head)
            if size == 1:
                size = struct.unpack(">Q", file.read(8))[0]
                file.seek(size - 16, 1)
            elif size == 0:
                size = path.stat().st_size - file.tell() + 8
                file.seek(0, 2)
            else:
                file.seek(max(size, 8) - 8, 1)
            yield kind.decode("latin-1"), size


def _container_faults(path: Path) -> Iterator[str]:
    order = [kind for kind, _ in boxes(path)]
    if "moov" not in order or "mdat" not in order or order.index("moov") > order.index("mdat"):
        yield f"the index is not in front ({', '.join(order)})"


def _stream_faults(path: Path, frame_count: int, width: int, height: int, fps: float) -> Iterator[str]:
    with av.open(str(path)) as container:
        if not container.streams.video:
            yield "it holds no video"
            return
        stream = container.streams.video[0]
        context = stream.codec_context
        found = {
            "codec": context.name,
            "size": (context.width, context.height),
            "matrix, primaries, transfer": (context.colorspace, context.color_primaries, context.color_trc),
            "range": context.color_range,
            "rate": stream.average_rate,
        }
        shown = sorted(packet.pts * packet.time_base for packet in container.demux(stream) if packet.size)
    planned = {
        "codec": "h264",
        "size": (width + width % 2, height + height % 2),
        "matrix, primaries, transfer": (BT709, BT709, BT709),
        "range": LIMITED_RANGE,
        "rate": rate(fps),
    }
    for name, value in planned.items():
        if found[name] != value:
            yield f"{name} is {found[name]}, not {value}"
    if len(shown) != frame_count:
        yield f"it holds {len(shown)} frames, not {frame_count}"
    elif shown != [index / rate(fps) for index in range(frame_count)]:
        yield "frames are not shown at their numbers"
