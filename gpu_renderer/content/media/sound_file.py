"""Sound of files: decoded to 48 kHz samples in memory-mapped scratch files, so that only samples in use take memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import av
import numpy as np

from gpu_renderer.content.media.video_file import opened
from gpu_renderer.errors import DiskNearlyFull, is_of_machine
from motion.arrays import Floats
from motion.sound.channels import at_most_stereo
from motion.sound.voice import RATE, Pause, Samples, no_pause

GAP_SAMPLES: Final = RATE // 50
"""Minimum gap between two frames of a file that becomes silence. Shorter gaps are rounding errors."""
PADDING_MAX: Final = 4096
"""Most samples of padding at the end of an MP4: two frames of HE-AAC."""
CHANNELS_MAX: Final = 64
RATE_MIN: Final = 1000
"""Minimum sample rate, Hz. Resampling one packet of a lower rate would produce gigabytes."""
CHECKED_BYTES: Final = 500_000_000
"""Bytes of a scratch file between two looks at the free space of its disk. Sound of 20 minutes takes less."""
RESERVE_BYTES: Final = 1_000_000_000
"""Free space that longer sound leaves, or a tenth of a small disk: other workers and Postgres may share the disk."""
_SAMPLE_BYTES: Final = 4
BLOCK_BYTES: Final = 512
"""Unit of `st_blocks`, which does not count holes."""


class FileSound:
    """A decoded file. It is silent outside of the decoded window. `length` is the end of the decoded sound, sample frames."""

    def __init__(self, samples: Floats, window_first: int, length: int) -> None:
        self._samples, self._first, self.length = samples, window_first, length

    @property
    def channels(self) -> int:
        """Return the number of channels, 1 or 2."""
        return int(self._samples.shape[1])

    @property
    def scratch_bytes(self) -> int:
        """Return the size of its scratch file, holes included."""
        return int(self._samples.nbytes)

    def read(self, first: int, count: int) -> Samples:
        """Return sample frames [first, first + count), which must lie within the file."""
        start = max(first, self._first)
        stop = min(first + count, self._first + len(self._samples))
        found = np.zeros((count, self.channels))
        if stop > start:
            found[start - first : stop - first] = self._samples[start - self._first : stop - self._first]
        return found


def stated_seconds(path: Path) -> float:
    """Return the duration of a file's sound from its header, or 0.0 if the header has none."""
    try:
        with opened(path) as container:
            stream = next(iter(container.streams.audio), None)
            if stream is not None and stream.duration is not None and stream.time_base is not None:
                return float(stream.duration * stream.time_base)
            return float((container.duration or 0) / av.time_base)
    except (av.FFmpegError, OSError, ValueError) as error:
        if is_of_machine(error):
            raise
        return 0.0


def decoded(
    path: Path, scratch: Path, first_seconds: float, end_seconds: float, pause: Pause = no_pause
) -> FileSound | None:
    """Decode a window of a file's sound, or return None if the file has no decodable sound.

    The samples are written to `scratch`: 4 bytes for each channel of each sample frame. `pause` is called after each packet.
    """
    first = max(0, int(first_seconds * RATE))
    end = None if end_seconds == float("inf") else max(first, int(end_seconds * RATE) + 1)
    try:
        with scratch.open("wb") as file, opened(path) as container:
            if not container.streams.audio:
                return None
            channels, length = _write(container, file, first, end, pause)
    except (av.FFmpegError, OSError, ValueError) as error:
        if is_of_machine(error):  # the file would be silent
            raise
        return None
    if channels == 0:
        return None
    frame_count = length - first
    if frame_count <= 0:
        return FileSound(np.zeros((0, channels), np.float32), first, length)
    return FileSound(np.memmap(scratch, np.float32, "r", shape=(frame_count, channels)), first, length)


def _write(
    container: av.container.InputContainer, file: BinaryIO, first: int, end: int | None, pause: Pause
) -> tuple[int, int]:
    """Write the window. Return the channel count and the end of the decoded sound in sample frames.

    Silence becomes a hole in the scratch file, which takes neither memory nor disk space. Raises DiskNearlyFull.
    """
    channels = reached = unchecked_bytes = 0
    for position, samples in _placed(container):
        pause()
        channels = channels or samples.shape[1]
        reached = max(position, reached)
        low = max(first, position)
        high = reached = position + len(samples)
        if end is not None:
            high = min(high, end)
        kept = samples[low - position : high - position, :channels]
        if low < high and kept.any():
            file.seek((low - first) * channels * _SAMPLE_BYTES)
            unchecked_bytes += file.write(np.ascontiguousarray(kept).tobytes())
            if unchecked_bytes >= CHECKED_BYTES:
                unchecked_bytes = 0
                _check_room(Path(file.name))
        if end is not None and reached >= end:
            break
    reached = min(reached, _stated_end(container, reached), reached if end is None else end)
    file.truncate(max(0, reached - first) * channels * _SAMPLE_BYTES)
    return channels, reached


def _stated_end(container: av.container.InputContainer, reached: int) -> int:
    """Return the end of an MP4's sound in sample frames if only padding of the encoder follows, otherwise `reached`.

    Durations of other formats are estimates, and those of fragmented files can be that of one fragment.
    """
    stream = container.streams.audio[0]
    if "mp4" not in container.format.name or not stream.duration or stream.time_base is None or not stream.rate:
        return reached
    begins = (container.start_time or 0) / av.time_base
    end = round(((stream.start_time or 0) + stream.duration) * float(stream.time_base) * RATE - begins * RATE)
    return end if 0 < reached - end <= PADDING_MAX * RATE // stream.rate else reached


def _check_room(path: Path) -> None:
    """Raise DiskNearlyFull if the disk has too little space for more sound."""
    disk = shutil.disk_usage(path)
    if disk.free < (reserve := min(RESERVE_BYTES, disk.total // 10)):
        raise DiskNearlyFull(path.stat().st_blocks * BLOCK_BYTES, reserve)


def _placed(container: av.container.InputContainer) -> Iterator[tuple[int, Floats]]:
    """Yield samples with their positions, counted from the file's start time. An MP3's start time follows its encoder delay.

    The decoder skips the samples that the file marks as skipped. Samples before position 0 are dropped.
    """
    position: int | None = None
    begins = (container.start_time or 0) / av.time_base
    for time, made in _resampled(container):
        stated = position if time is None else round((time - begins) * RATE)
        if position is None or (stated is not None and stated - position > GAP_SAMPLES):
            position = stated or 0
        samples = at_most_stereo(made.to_ndarray().reshape(-1, made.layout.nb_channels).astype(np.float32))
        yield max(0, position), samples[max(0, -position) :]
        position += len(samples)


def _resampled(container: av.container.InputContainer) -> Iterator[tuple[float | None, av.AudioFrame]]:
    """Yield frames of float samples at 48 kHz, with their times in the file in seconds, or None if unknown."""
    resampler: av.AudioResampler | None = None
    for frame in container.decode(audio=0):
        if resampler is None:
            if frame.sample_rate < RATE_MIN:
                raise ValueError(f"{frame.sample_rate} samples a second")
            layout = frame.layout.name if 0 < frame.layout.nb_channels <= CHANNELS_MAX else "stereo"
            resampler = av.AudioResampler(format="flt", layout=layout, rate=RATE)
        time = _seconds(frame, None)
        for made in resampler.resample(frame):
            yield _seconds(made, time), made
    for made in resampler.resample(None) if resampler is not None else ():
        yield None, made


def _seconds(frame: av.AudioFrame, otherwise: float | None) -> float | None:
    return otherwise if frame.pts is None or frame.time_base is None else float(frame.pts * frame.time_base)
