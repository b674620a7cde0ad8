"""Encode a file's sound block by block while its video is written, never far ahead of the video."""

from __future__ import annotations

import wave
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
import numpy.typing as npt

from motion.sound.voice import RATE

CHANNELS: Final = 2
BIT_RATES: Final = {"aac": 192_000, "libopus": 160_000}
_FORMATS: Final = {"aac": "fltp", "libopus": "flt", "pcm_s16le": "s16"}
_PCM_FRAME: Final = 1024
_TIME_BASE: Final = Fraction(1, RATE)

Samples = npt.NDArray[np.float32]
"""Sound at 48 kHz: shape (sample frames, 2), -1 to 1."""


class SoundTrack:
    """Encoder of a mix, block by block. Use an instance once.

    `blocks`: `Samples` of any length. `codec`: `aac`, `libopus` or `pcm_s16le`.
    """

    def __init__(self, codec: str, blocks: Iterable[Samples]) -> None:
        self._codec, self._blocks = codec, iter(blocks)
        self._stream: Any = None
        self._waiting = av.AudioFifo()
        self._sent = 0
        self._is_ended = False

    def begin(self, file: av.container.OutputContainer) -> None:
        """Add the stream. Call it before any packet is written."""
        self._stream = stream = file.add_stream(self._codec, rate=RATE)
        context = stream.codec_context
        context.layout, context.format, context.time_base = "stereo", _FORMATS[self._codec], _TIME_BASE
        context.thread_count = 1
        context.flags |= av.codec.context.Flags.bitexact
        if self._codec in BIT_RATES:
            context.bit_rate = BIT_RATES[self._codec]
        context.open()
        self._frame = context.frame_size or _PCM_FRAME

    def write_until(self, file: av.container.OutputContainer, seconds: Fraction) -> None:
        """Encode the sound before a time, in whole frames."""
        while not self._is_ended and self._sent < seconds * RATE:
            self._write_frame(file)

    def finish(self, file: av.container.OutputContainer) -> None:
        """Encode the rest and end the stream."""
        while not self._is_ended:
            self._write_frame(file)
        file.mux(self._stream.encode(None))

    def _write_frame(self, file: av.container.OutputContainer) -> None:
        while self._waiting.samples < self._frame and (block := next(self._blocks, None)) is not None:
            if len(block):
                self._waiting.write(self._converted(block))
        frame = self._waiting.read(self._frame, partial=True)
        self._is_ended = frame is None or frame.samples < self._frame
        if frame is not None:
            frame.pts, frame.time_base = self._sent, _TIME_BASE
            self._sent += frame.samples
            file.mux(self._stream.encode(frame))

    def _converted(self, samples: Samples) -> av.AudioFrame:
        """Return the samples as a frame in the codec's sample format."""
        name = _FORMATS[self._codec]
        shaped: npt.NDArray[np.float32] | npt.NDArray[np.int16]
        if name == "s16":
            shaped = pcm16(samples).reshape(1, -1)
        else:
            clipped = np.clip(samples, -1.0, 1.0).astype(np.float32)
            shaped = np.ascontiguousarray(clipped.T) if name == "fltp" else clipped.reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(shaped, format=name, layout="stereo")
        frame.sample_rate = RATE
        return frame


def pcm16(samples: Samples) -> npt.NDArray[np.int16]:
    """Return 16-bit samples: clamped, scaled by 32768 below 0 and by 32767 above, truncated (audio.md 2.6)."""
    clamped = np.clip(samples.astype(np.float64), -1.0, 1.0)
    return np.trunc(np.where(clamped < 0, clamped * 32768.0, clamped * 32767.0)).astype(np.int16)


def write_wav(path: Path, blocks: Iterable[Samples]) -> None:
    """Write a WAV file: 16-bit PCM, stereo, 48 kHz, with a header of 44 bytes (audio.md 2.6)."""
    with wave.open(str(path), "wb") as file:
        file.setparams((CHANNELS, 2, RATE, 0, "NONE", ""))
        for block in blocks:
            file.writeframesraw(pcm16(block).astype("<i2").tobytes())
