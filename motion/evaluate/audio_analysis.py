"""Analyse sound for drawing: envelopes of files, outlines of waveforms, bands of spectra (audio.md 3.2 and 3.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from motion.formulas.easing import clamp_unit
from motion.model.composition import Composition
from motion.model.content import SoundContent, WaveformSettings
from motion.model.layer import Layer
from motion.snapshot import EffectSnapshot, PathPoint, Run

RATE: Final = 48_000
"""Sample rate of spectra, Hz."""
BUCKETS: Final = 1024
"""Peaks of an envelope, evenly over the file."""
BANDS_MAX: Final = 128
_FLOOR_DB: Final = 60.0


class Envelope(NamedTuple):
    """Length of a file in seconds, and the loudest sample of each of `BUCKETS` parts of it, 0..1."""

    seconds: float
    peaks: Sequence[float]

    def at(self, share: float) -> float:
        """Return the level at a share of the file, between the two nearest peaks; silence outside of 0..1."""
        if not 0.0 <= share <= 1.0:
            return 0.0
        place = share * (len(self.peaks) - 1)
        low = min(math.floor(place), len(self.peaks) - 2)
        return self.peaks[low] + (self.peaks[low + 1] - self.peaks[low]) * (place - low)

    def at_seconds(self, seconds: float) -> float:
        """Return the level at a time of the file."""
        return self.at(seconds / self.seconds) if self.seconds > 0.0 else 0.0


class Sounds(Protocol):
    """Decoded files by their sources."""

    def envelope(self, source: str) -> Envelope | None:
        """Return the file's envelope, or None if it has no sound."""
        ...

    def magnitudes(self, source: str, first: int) -> Sequence[float] | None:
        """Return the spectrum of the first channel from a sample on, at `RATE`, silent outside of the file; None if it has no sound."""
        ...


def waveform(
    composition: Composition, sounds: Sounds | None, settings: WaveformSettings, size: tuple[float, float], time: float
) -> Run | None:
    """Return the outline of a sound over a box of width x height px, or None if it cannot be heard.

    `time`: the layer's own time in seconds, which counts in a moving window only.
    """
    found = _sound(composition, settings.source_layer)
    envelope = None if found is None or sounds is None else sounds.envelope(found[1].source)
    if found is None or envelope is None:
        return None
    layer, content = found
    width, height = size
    first, span = 0.0, 1.0
    if settings.window_seconds is not None and envelope.seconds > 0.0:
        position = _position(composition, layer, time, unplaced_start=content.start_seconds)
        span = settings.window_seconds / envelope.seconds
        first = position / envelope.seconds - span / 2.0
    shares = [i / (settings.samples - 1) for i in range(settings.samples)]
    least, most = settings.thickness / 2.0, height / 2.0
    tops = [
        (-width / 2.0 + f * width, min(most, max(least, envelope.at(first + f * span) * most * settings.height_scale)))
        for f in shares
    ]
    corners = [*((x, -half) for x, half in tops), *((x, half) for x, half in reversed(tops))]
    return Run(tuple(PathPoint(x, y, x, y, x, y) for x, y in corners), closed=True)


def spectrum(composition: Composition, sounds: Sounds, effect: EffectSnapshot, time: float) -> tuple[float, ...]:
    """Return the level, 0..1, of each band of an `audio-spectrum` effect at the layer's own time in seconds."""
    stored, animated = dict(effect.stored), dict(effect.animated)

    def number(key: str, default: float) -> float:
        value = animated.get(key, stored.get(key))
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default

    bands = min(BANDS_MAX, max(1, math.floor(min(1e9, number("bands", 32.0)) + 0.5)))
    found = _sound(composition, stored.get("audioLayerId"))
    magnitudes = None
    if found is not None:
        layer, content = found
        position = _position(composition, layer, time, unplaced_start=0.0)
        magnitudes = sounds.magnitudes(content.source, math.floor(position * RATE))
    if magnitudes is None:
        return (0.0,) * bands
    return levels(magnitudes, bands, number("startFreq", 40.0), number("endFreq", 16_000.0))


def levels(magnitudes: Sequence[float], bands: int, start_hertz: float, end_hertz: float) -> tuple[float, ...]:
    """Return the loudest frequency of each band, -60 dB as 0 and 0 dB as 1; bands are equally wide in pitch."""
    count = len(magnitudes)
    nyquist = RATE / 2.0
    low = min(nyquist, max(1.0, start_hertz))
    high = max(1.01 * low, min(nyquist, end_hertz))
    edges = [low * (high / low) ** (k / bands) for k in range(bands + 1)]
    found = []
    for k in range(bands):
        first = min(count - 1, max(1, math.floor(edges[k] / nyquist * count)))
        end = min(count, max(first + 1, math.ceil(edges[k + 1] / nyquist * count)))
        peak = max(magnitudes[first:end])
        found.append(clamp_unit((20.0 * math.log10(peak + 1e-6) + _FLOOR_DB) / _FLOOR_DB))
    return tuple(found)


def _sound(composition: Composition, layer_id: object) -> tuple[Layer, SoundContent] | None:
    layer = composition.layers.get(layer_id) if isinstance(layer_id, str) else None
    return (layer, layer.content) if layer is not None and isinstance(layer.content, SoundContent) else None


def _position(composition: Composition, layer: Layer, time: float, *, unplaced_start: float) -> float:
    """Return the second of the file at a time of the picture: in the bar that lies there, else in the first one."""
    fps = composition.timeline_fps
    if not layer.bars:
        return time - unplaced_start
    inside = (bar for bar in layer.bars if bar.start <= time * fps < bar.start + bar.duration)
    bar = next(inside, layer.bars[0])
    return (bar.source_in - bar.start) / fps + time
