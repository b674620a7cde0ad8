"""Sound files as samples at 48 kHz in a scratch file: any place can be read, and memory holds what is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import av
import numpy as np
import numpy.typing as npt

from gpu_renderer.content.media.video_size import opened
from motion.sound.channels import at_most_stereo
from motion.sound.voice import RATE, Samples

GAP_SAMPLES: Final = RATE // 50
"""A gap between two frames of a file becomes silence when it is longer; shorter ones are rounding."""
CHANNELS_MAX: Final = 64
Floats = npt.NDArray[np.float32]


class FileSound:
    """A decoded file. Outside of the window that was decoded it is silent."""

    def __init__(self, samples: npt.NDArray[np.float32], window_first: int, length: int) -> None:
        self._samples, self._first, self._length = samples, window_first, length

    @property
    def channels(self) -> int:
        """1 or 2."""
        return int(self._samples.shape[1])

    @property
    def length(self) -> int:
        """Sample frames of the file, as far as it was decoded."""
        return self._length

    def read(self, first: int, count: int) -> Samples:
        """Sample frames [first, first + count), which lie within the file."""
        start = max(first, self._first)
        stop = min(first + count, self._first + len(self._samples))
        found = np.zeros((count, self.channels))
        if stop > start:
            found[start - first : stop - first] = self._samples[start - self._first : stop - self._first]
        return found


def decoded(path: Path, scratch: Path, first_seconds: float, end_seconds: float) -> FileSound | None:
    """Return the sound of a file within a window of its own time; None if the file has none that can be decoded.

    `scratch` is the file that the samples are written to: 4 bytes for each channel of each sample frame.
    """
    first = max(0, int(first_seconds * RATE))
    end = None if end_seconds == float("inf") else max(first, int(end_seconds * RATE) + 1)
    try:
        with scratch.open("wb") as file, opened(path) as container:
            if not container.streams.audio:
                return None
            channels, length = _write(container, file, first, end)
    except (av.FFmpegError, OSError, ValueError):
        return None
    if channels == 0:
        return None
    held = length - first if end is None else min(length, end) - first
    if held <= 0:
        return FileSound(np.zeros((0, channels), np.float32), first, length)
    return FileSound(np.memmap(scratch, np.float32, "r", shape=(held, channels)), first, length)


def _write(container: av.container.InputContainer, file: BinaryIO, first: int, end: int | None) -> tuple[int, int]:
    """Write the window; return the channels and the sample frames that the file reaches to, within the window's end."""
    channels = reached = 0
    for place, samples in _placed(container):
        channels = channels or samples.shape[1]
        if place > reached:
            _put(file, np.zeros((place - reached, channels), np.float32), reached, first, end)
        _put(file, samples[:, :channels], place, first, end)
        reached = place + len(samples)
        if end is not None and reached >= end:
            break
    return channels, reached


def _put(file: BinaryIO, samples: Floats, place: int, first: int, end: int | None) -> None:
    """Write what of the samples lies in the window."""
    stop = len(samples) if end is None else min(len(samples), end - place)
    kept = samples[max(0, first - place) : max(0, stop)]
    if len(kept):
        file.write(np.ascontiguousarray(kept).tobytes())


def _placed(container: av.container.InputContainer) -> Iterator[tuple[int, Floats]]:
    """Sample with their place in the file, counted from the file's start: an MP3's lies after its encoder's delay.

    What a file says to skip is skipped by the decoder; nothing lies before 0.
    """
    place: int | None = None
    begins = (container.start_time or 0) / av.time_base
    for time, samples in _resampled(container):
        stated = place if time is None else round((time - begins) * RATE)
        if place is None or (stated is not None and stated - place > GAP_SAMPLES):
            place = stated or 0
        yield max(0, place), samples[max(0, -place) :]
        place += len(samples)


def _resampled(container: av.container.InputContainer) -> Iterator[tuple[float | None, Floats]]:
    resampler: av.AudioResampler | None = None
    time: float | None = None
    for frame in container.decode(audio=0):
        if resampler is None:
            layout = frame.layout.name if 0 < frame.layout.nb_channels <= CHANNELS_MAX else "stereo"
            resampler = av.AudioResampler(format="flt", layout=layout, rate=RATE)
        time = None if frame.pts is None or frame.time_base is None else float(frame.pts * frame.time_base)
        for made in resampler.resample(frame):
            yield _time_of(made, time), _array(made)
    if resampler is not None:
        for made in resampler.resample(None):
            yield None, _array(made)


def _time_of(made: av.AudioFrame, decoded_at: float | None) -> float | None:
    return decoded_at if made.pts is None or made.time_base is None else float(made.pts * made.time_base)


def _array(frame: av.AudioFrame) -> Floats:
    return at_most_stereo(frame.to_ndarray().reshape(-1, frame.layout.nb_channels).astype(np.float32))
