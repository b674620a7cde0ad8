"""Sound of a job: voices, their files, the mix, and warnings about omitted sound.

`content/media/sound_file.py` decodes the files, `motion.sound` mixes them, and `encode/sound_track.py` encodes the mix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from gpu_renderer.content.media.bitmaps import data_url_bytes
from gpu_renderer.content.media.sound_file import FileSound, decoded, stated_seconds
from gpu_renderer.encode.profile import rate
from gpu_renderer.errors import MediaUndecodable
from motion.arrays import Floats
from motion.errors import PropertyRefused
from motion.evaluate.audio_analysis import BUCKETS, Envelope
from motion.model.composition import Composition
from motion.sound.mix import mix
from motion.sound.spectrum import WINDOW, magnitudes
from motion.sound.voice import RATE, Pause, Voice, no_pause
from motion.sound.voices import voices
from motion.stored import Document

SOURCE_SHOWN_MAX = 120
ANALYSED_SECONDS_MAX: Final = 7200.0
"""Limit of the total duration of files whose sound the pictures show. Two hours of stereo take 2.8 GB of scratch."""
MIXED_SECONDS_MAX: Final = 12 * 3600.0
"""Limit of the total duration of a mix's files, including silence. Twelve hours of stereo take 17 GB of scratch."""
_SLACK_SECONDS = 0.1
"""Margin that is decoded around the part that a voice plays, for interpolation."""

ResolveMedia = Callable[[str], Path | None]
"""Function that returns the file of a media source, or None."""


class JobSound:
    """Mix for frames [first, end) of a composition. Scratch files go to `folder`, which the caller deletes.

    Sound that cannot be mixed is omitted with a warning and never fails the video (audio.md 2.6). `pause` is called
    between short steps: an hour of many voices takes hours.
    """

    def __init__(
        self,
        document: Document,
        composition: Composition,
        resolve: ResolveMedia,
        folder: Path,
        frames: range,
        fps: float,
        pause: Pause = no_pause,
    ) -> None:
        self._pause = pause
        self._first = float(frames.start / rate(fps))
        self._count = round(Fraction(len(frames)) * RATE / rate(fps))
        self._refused: list[str] = []
        try:
            end = float(frames.stop / rate(fps))
            self._voices = voices(document, composition, self._first, end, pause=pause)
        except PropertyRefused as error:
            self._voices = ()
            self._refused.append(f"The sound of the composition is not rendered: {error.message}")
        self._missing: list[str] = []
        self._sounds: dict[str, FileSound] = {}
        self._clipped = 0
        self._seconds_left = MIXED_SECONDS_MAX
        for index, (source, window) in enumerate(_windows(self._voices).items()):
            pause()
            path = _file_of(source, resolve, folder / f"sound{index}")
            if path is None:
                self._missing.append(source)
            elif found := self._decoded(source, path, folder / f"sound{index}.f32", window):
                self._sounds[source] = found

    @property
    def is_heard(self) -> bool:
        """Return True if a voice has a file. Otherwise the output gets no sound track."""
        return bool(self._sounds)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each missing or invalid sound. The list is complete after `blocks` is exhausted."""
        missing = [f"There is nothing at {src[:SOURCE_SHOWN_MAX]}: its sound is not rendered." for src in self._missing]
        lines = [*self._refused, *missing]
        if self._clipped:
            seconds = self._clipped / RATE
            lines.append(f"The sound is clipped: it is louder than full scale for {seconds:.3g} s in all.")
        return tuple(lines)

    def blocks(self) -> Iterator[Floats]:
        """Yield the mix in blocks. The number of samples is the frames' duration, rounded."""
        self._clipped = 0
        for block in mix(self._voices, self._sounds, self._first, self._count, self._pause):
            self._clipped += int(np.count_nonzero(np.abs(block).max(axis=1, initial=0.0) > 1.0))
            yield block

    def _decoded(self, source: str, path: Path, scratch: Path, window: tuple[float, float]) -> FileSound | None:
        """Decode the part of a file that voices play. Return None if it has no sound or exceeds the mix's remaining duration."""
        begin, end = window
        most = begin + self._seconds_left
        is_stated_longer = end > most and stated_seconds(path) > most
        found = None if is_stated_longer else decoded(path, scratch, begin, min(end, most), self._pause)
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


class AnalysedSounds:
    """Sounds that pictures visualise, by source. Implements `Sounds` of `motion.evaluate.audio_analysis`.

    A file is decoded at its first use into a scratch file that is unlinked at once. Its space is freed with the mapping, even
    if the process is killed. `name_source` returns the layer name of a source for warnings.
    """

    def __init__(self, resolve: ResolveMedia, name_source: Callable[[str], str]) -> None:
        self._resolve, self._name_source = resolve, name_source
        self._files: dict[str, FileSound | None] = {}
        self._envelopes: dict[str, Envelope] = {}
        self._faults: dict[str, None] = {}
        self._seconds_left = ANALYSED_SECONDS_MAX

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
        """Return the spectrum of the first channel from a sample on, or None if the file has no sound. Outside is silence."""
        file = self._file(source)
        if file is None:
            return None
        samples = np.zeros(WINDOW)
        if 0 <= first <= file.length:
            samples[:] = file.read(first, WINDOW)[:, 0]
        return magnitudes(samples)

    @property
    def scratch_bytes(self) -> int:
        """Return the size of the decoded files."""
        return sum(file.scratch_bytes for file in self._files.values() if file is not None)

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
        with TemporaryDirectory(prefix="analysed-") as folder:
            path = _file_of(source, self._resolve, Path(folder) / "embedded")
            if path is None or not path.is_file():
                self._faults[f"There is nothing at {source[:SOURCE_SHOWN_MAX]}: pictures do not show its sound."] = None
                return None
            if self._seconds_left <= 0.0:
                hours = ANALYSED_SECONDS_MAX / 3600
                self._faults[f"{self._name_source(source)}: pictures can show {hours:g} hours of sound in all."] = None
                return None
            found = decoded(path, Path(folder) / "samples", 0.0, self._seconds_left)
        if found is None or not found.length:
            self._faults[f"{self._name_source(source)}: it has no sound that pictures could show."] = None
            return None
        self._seconds_left -= found.length / RATE
        return found


def _windows(voices: Iterable[Voice]) -> dict[str, tuple[float, float]]:
    """Return the part of each file that voices play, in seconds of the file."""
    found: dict[str, tuple[float, float]] = {}
    for voice in voices:
        ends = voice.position, voice.position + voice.length * voice.rate
        first, last = max(0.0, min(ends) - _SLACK_SECONDS), max(ends) + _SLACK_SECONDS
        if voice.mirror is not None:  # a mirrored voice plays from the file's end
            first, last = 0.0, float("inf")
        begin, end = found.get(voice.source, (first, last))
        found[voice.source] = min(begin, first), max(end, last)
    return found


def _peaks(file: FileSound) -> list[float]:
    """Return the peak, 0..1, of each part of the file, mixed to mono (audio.md 3.2)."""
    bounds = [k * file.length // BUCKETS for k in range(BUCKETS + 1)]
    parts = (file.read(first, max(1, end - first)) for first, end in pairwise(bounds))
    return [min(1.0, float(np.abs(part.mean(axis=1)).max())) for part in parts]


def _file_of(source: str, resolve: ResolveMedia, embedded: Path) -> Path | None:
    """Return the file of a source. The content of a `data:` URL is written to `embedded`."""
    if not source.startswith("data:"):
        return resolve(source)
    try:
        embedded.write_bytes(data_url_bytes(source))
    except MediaUndecodable:
        return None
    return embedded
