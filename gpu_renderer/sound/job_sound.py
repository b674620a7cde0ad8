"""Sound of a job from its document: voices, their files, the mix, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from gpu_renderer.content.media.data_url import data_url_bytes
from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.sound_track import Samples
from gpu_renderer.errors import MediaUndecodable
from gpu_renderer.sound.decode import FileSound, decoded
from motion.model.composition import Composition
from motion.schema.stored import Document
from motion.sound.mix import mix
from motion.sound.voice import RATE, Voice
from motion.sound.voices import voices

SOURCE_SHOWN_MAX = 120
_SLACK_SECONDS = 0.1
"""Decoded beyond what a voice plays: interpolation reads around each place."""

ResolveMedia = Callable[[str], Path | None]


class JobSound:
    """Mix for frames [first, end) of a composition. Files in `folder` are its scratch; the caller deletes the folder.

    Raises DocumentError for a document whose voices multiply without bound.
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
        self._voices = voices(document, composition, self._first, float(frames.stop / rate(fps)))
        self._missing: dict[str, None] = {}
        self._sounds: dict[str, FileSound] = {}
        self._clipped = 0
        for index, source in enumerate(dict.fromkeys(voice.source for voice in self._voices)):
            self._find(source, _file_of(source, resolve, folder / f"sound{index}"), folder / f"sound{index}.f32")

    @property
    def is_heard(self) -> bool:
        """True if the job has any sound: without a voice that has a file, files get no sound track."""
        return bool(self._sounds)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each sound that is missing or wrong. Complete after all blocks were taken."""
        lines = [f"There is nothing at {src[:SOURCE_SHOWN_MAX]}: its sound is not rendered." for src in self._missing]
        if self._clipped:
            seconds = self._clipped / RATE
            lines.append(f"The sound is clipped: it is louder than full scale for {seconds:.3g} s in all.")
        return tuple(lines)

    def blocks(self) -> Iterator[Samples]:
        """Yield the mix: as many samples as the frames last, rounded to a whole one."""
        self._clipped = 0
        for block in mix(self._voices, self._sounds, self._first, self._count):
            self._clipped += int(np.count_nonzero(np.abs(block).max(axis=1, initial=0.0) > 1.0))
            yield block

    def _find(self, source: str, path: Path | None, scratch: Path) -> None:
        if path is None:
            self._missing[source] = None
            return
        found = decoded(path, scratch, *_window([voice for voice in self._voices if voice.source == source]))
        if found is not None:
            self._sounds[source] = found


def _file_of(source: str, resolve: ResolveMedia, embedded: Path) -> Path | None:
    """Return the file of a source; what a `data:` URL holds is written to `embedded`."""
    if not source.startswith("data:"):
        return resolve(source)
    try:
        embedded.write_bytes(data_url_bytes(source))
    except MediaUndecodable:
        return None
    return embedded


def _window(held: Sequence[Voice]) -> tuple[float, float]:
    """Return the part of a file that voices play, in seconds of the file."""
    if any(voice.is_open or voice.mirror is not None for voice in held):
        return 0.0, float("inf")
    ends = [place for voice in held for place in (voice.position, voice.position + voice.length * voice.rate)]
    return max(0.0, min(ends) - _SLACK_SECONDS), max(ends) + _SLACK_SECONDS
