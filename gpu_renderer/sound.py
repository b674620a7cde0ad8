"""Sound of a job from its document: voices, their files, the mix, and what is left out.

Files are decoded to samples at 48 kHz in scratch files, so that any place can be read, and memory holds what is read. They are
mixed by `motion.sound`, and encoded by `encode/sound_track.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

import av
import numpy as np
import numpy.typing as npt

from gpu_renderer.content.media.bitmaps import data_url_bytes
from gpu_renderer.content.media.video_file import opened
from gpu_renderer.encode.profile import rate
from gpu_renderer.errors import MediaUndecodable, is_of_machine
from motion.errors import PropertyRefused
from motion.evaluate.hearing import BUCKETS, Envelope
from motion.model.composition import Composition
from motion.schema.stored import Document
from motion.sound.channels import at_most_stereo
from motion.sound.mix import mix
from motion.sound.spectrum import WINDOW, magnitudes
from motion.sound.voice import RATE, Samples
from motion.sound.voices import voices

SOURCE_SHOWN_MAX = 120
GAP_SAMPLES: Final = RATE // 50
"""A gap between two frames of a file becomes silence when it is longer; shorter ones are rounding."""
CHANNELS_MAX: Final = 64
RATE_MIN: Final = 1000
"""Samples a second. Of a lower rate one packet becomes gigabytes."""
HEARD_SECONDS_MAX: Final = 7200.0
"""Of all files that the pictures of a document show, from the beginning of each: 2.8 GB of scratch if they are stereo."""
MIXED_SECONDS_MAX: Final = 12 * 3600.0
"""Of all files of a mix: 17 GB of scratch if they are stereo. Silence takes no space, but counts."""
_SAMPLE_BYTES: Final = 4
_SLACK_SECONDS = 0.1
"""Decoded beyond what a voice plays: interpolation reads around each place."""

ResolveMedia = Callable[[str], Path | None]
Floats = npt.NDArray[np.float32]


class JobSound:
    """Mix for frames [first, end) of a composition. Files in `folder` are its scratch; the caller deletes the folder.

    Sound that cannot be mixed is left out with a warning: it never fails the video (format/audio.md 2.6).
    """

    def __init__(
        self,
        document: Document,
        composition: Composition,
        resolve: ResolveMedia,
        folder: Path,
        frames: range,
        fps: float,
    ) -> None:
        self._first = float(frames.start / rate(fps))
        self._count = round(Fraction(len(frames)) * RATE / rate(fps))
        self._refused: list[str] = []
        try:
            self._voices = voices(document, composition, self._first, float(frames.stop / rate(fps)))
        except PropertyRefused as error:
            self._voices = ()
            self._refused.append(f"The sound of the composition is not rendered: {error.message}")
        self._missing: list[str] = []
        self._sounds: dict[str, FileSound] = {}
        self._clipped = 0
        self._seconds_left = MIXED_SECONDS_MAX
        for index, source in enumerate(dict.fromkeys(voice.source for voice in self._voices)):
            path = _file_of(source, resolve, folder / f"sound{index}")
            if path is None:
                self._missing.append(source)
            elif found := self._decoded(source, path, folder / f"sound{index}.f32"):
                self._sounds[source] = found

    @property
    def is_heard(self) -> bool:
        """True if the job has any sound: without a voice that has a file, files get no sound track."""
        return bool(self._sounds)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each sound that is missing or wrong. Complete after all blocks were taken."""
        missing = [f"There is nothing at {src[:SOURCE_SHOWN_MAX]}: its sound is not rendered." for src in self._missing]
        lines = [*self._refused, *missing]
        if self._clipped:
            seconds = self._clipped / RATE
            lines.append(f"The sound is clipped: it is louder than full scale for {seconds:.3g} s in all.")
        return tuple(lines)

    def blocks(self) -> Iterator[Floats]:
        """Yield the mix: as many samples as the frames last, rounded to a whole one."""
        self._clipped = 0
        for block in mix(self._voices, self._sounds, self._first, self._count):
            self._clipped += int(np.count_nonzero(np.abs(block).max(axis=1, initial=0.0) > 1.0))
            yield block

    def _decoded(self, source: str, path: Path, scratch: Path) -> FileSound | None:
        """Return what voices play of a file; None if it has no sound, or more than is left of what a mix can hold."""
        begin, end = self._window(source)
        most = begin + self._seconds_left
        is_stated_longer = end > most and stated_seconds(path) > most
        found = None if is_stated_longer else decoded(path, scratch, begin, min(end, most))
        if is_stated_longer or (found is not None and end > most and found.length >= most * RATE):
            scratch.unlink(missing_ok=True)
            hours = MIXED_SECONDS_MAX / 3600
            shown = source[:SOURCE_SHOWN_MAX]
            self._refused.append(
                f"The sound of {shown} is not rendered: the sounds of a video can last {hours:g} hours in all."
            )
            return None
        self._seconds_left -= 0.0 if found is None else max(0.0, found.length / RATE - begin)
        return found

    def _window(self, source: str) -> tuple[float, float]:
        """Return the part of a file that voices play, in seconds of the file."""
        voices = [voice for voice in self._voices if voice.source == source]
        if any(voice.mirror is not None for voice in voices):  # played from the file's end
            return 0.0, float("inf")
        ends = [
            position for voice in voices for position in (voice.position, voice.position + voice.length * voice.rate)
        ]
        return max(0.0, min(ends) - _SLACK_SECONDS), max(ends) + _SLACK_SECONDS


class HeardSounds:
    """Sounds that pictures show, by their sources: `Sounds` of `motion.evaluate.hearing`.

    A file is decoded when it is first asked for, into a scratch file whose name is deleted at once: its space is freed with
    the mapping, also if the process is killed. `name_source`: says in warnings which layer a source belongs to.
    """

    def __init__(self, resolve: ResolveMedia, name_source: Callable[[str], str]) -> None:
        self._resolve, self._name_source = resolve, name_source
        self._files: dict[str, FileSound | None] = {}
        self._envelopes: dict[str, Envelope] = {}
        self._faults: dict[str, None] = {}
        self._seconds_left = HEARD_SECONDS_MAX

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each sound that could not be read."""
        return tuple(self._faults)

    def envelope(self, source: str) -> Envelope | None:
        """Return the file's envelope, or None if it has no sound."""
        file = self._file(source)
        if file is None:
            return None
        if source not in self._envelopes:
            self._envelopes[source] = Envelope(file.length / RATE, _peaks(file))
        return self._envelopes[source]

    def magnitudes(self, source: str, first: int) -> list[float] | None:
        """Return the spectrum of the first channel from a sample on, silent outside of the file; None if it has no sound."""
        file = self._file(source)
        if file is None:
            return None
        samples = np.zeros(WINDOW)
        if 0 <= first <= file.length:
            samples[:] = file.read(first, WINDOW)[:, 0]
        return magnitudes(samples)

    def close(self) -> None:
        """Free the decoded files."""
        self._files.clear()

    def _file(self, source: str) -> FileSound | None:
        if source not in self._files:
            self._files[source] = self._decoded(source)
        return self._files[source]

    def _decoded(self, source: str) -> FileSound | None:
        if not source:
            return None
        with TemporaryDirectory(prefix="heard-") as folder:
            path = _file_of(source, self._resolve, Path(folder) / "embedded")
            if path is None or not path.is_file():
                self._faults[f"There is nothing at {source[:SOURCE_SHOWN_MAX]}: pictures do not show its sound."] = None
                return None
            if self._seconds_left <= 0.0:
                hours = HEARD_SECONDS_MAX / 3600
                self._faults[f"{self._name_source(source)}: pictures can show {hours:g} hours of sound in all."] = None
                return None
            found = decoded(path, Path(folder) / "samples", 0.0, self._seconds_left)
        if found is None or not found.length:
            self._faults[f"{self._name_source(source)}: it has no sound that pictures could show."] = None
            return None
        self._seconds_left -= found.length / RATE
        return found


def _peaks(file: FileSound) -> list[float]:
    """Return the loudest sample, 0..1, of each part of the file, its channels mixed to one (audio.md 3.2)."""
    bounds = [k * file.length // BUCKETS for k in range(BUCKETS + 1)]
    parts = (file.read(first, max(1, end - first)) for first, end in pairwise(bounds))
    return [min(1.0, float(np.abs(part.mean(axis=1)).max())) for part in parts]


def _file_of(source: str, resolve: ResolveMedia, embedded: Path) -> Path | None:
    """Return the file of a source; what a `data:` URL holds is written to `embedded`."""
    if not source.startswith("data:"):
        return resolve(source)
    try:
        embedded.write_bytes(data_url_bytes(source))
    except MediaUndecodable:
        return None
    return embedded


class FileSound:
    """A decoded file. Outside of the window that was decoded it is silent. `length`: sample frames, as far as it was decoded."""

    def __init__(self, samples: Floats, window_first: int, length: int) -> None:
        self._samples, self._first, self.length = samples, window_first, length

    @property
    def channels(self) -> int:
        """1 or 2."""
        return int(self._samples.shape[1])

    def read(self, first: int, count: int) -> Samples:
        """Sample frames [first, first + count), which lie within the file."""
        start = max(first, self._first)
        stop = min(first + count, self._first + len(self._samples))
        found = np.zeros((count, self.channels))
        if stop > start:
            found[start - first : stop - first] = self._samples[start - self._first : stop - self._first]
        return found


def stated_seconds(path: Path) -> float:
    """Return how long the sound of a file lasts by what the file says, or 0.0 if it says nothing."""
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


def _write(container: av.container.InputContainer, file: BinaryIO, first: int, end: int | None) -> tuple[int, int]:
    """Write the window; return the channels and the sample frames that the file reaches to, within the window's end.

    Silence is left out of the scratch file as a hole: it takes neither memory nor space, however long it states to be.
    """
    channels = reached = 0
    for position, samples in _placed(container):
        channels = channels or samples.shape[1]
        reached = max(position, reached)
        low = max(first, position)
        high = reached = position + len(samples)
        if end is not None:
            high = min(high, end)
        kept = samples[low - position : high - position, :channels]
        if low < high and kept.any():
            file.seek((low - first) * channels * _SAMPLE_BYTES)
            file.write(np.ascontiguousarray(kept).tobytes())
        if end is not None and reached >= end:
            break
    reached = reached if end is None else min(reached, end)
    file.truncate(max(0, reached - first) * channels * _SAMPLE_BYTES)
    return channels, reached


def _placed(container: av.container.InputContainer) -> Iterator[tuple[int, Floats]]:
    """Samples with their position in the file, counted from the file's start: an MP3's lies after its encoder's delay.

    What a file says to skip is skipped by the decoder; nothing lies before 0.
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
    """Yield frames of float samples at our rate, with their times in the file, seconds, as far as they are known."""
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
