"""Sounds and documents with sound, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from motion.build import build
from motion.model.parity import EXPECTED_SOUND, SoundParity
from motion.sound.mix import mix
from motion.sound.voice import RATE, Samples, Sound, Voice
from motion.sound.voices import voices
from tests.documents import Json, document, node


class Held:
    """A sound in memory: (sample frames, channels)."""

    def __init__(self, samples: npt.NDArray[np.floating[Any]]) -> None:
        self._samples = samples.astype(np.float64).reshape(len(samples), -1)

    @property
    def channels(self) -> int:
        return self._samples.shape[1]

    @property
    def length(self) -> int:
        return len(self._samples)

    def read(self, first: int, count: int) -> Samples:
        assert first >= 0 and first + count <= self.length
        return self._samples[first : first + count]


def ramp(seconds: float) -> Held:
    """Return a sound whose value is its own time in seconds, divided by 100."""
    return Held(np.arange(round(seconds * RATE)) / RATE / 100)


def steady(seconds: float, value: float = 1.0) -> Held:
    """Return a sound with a constant value."""
    return Held(np.full((round(seconds * RATE), 1), value))


def bars(*of: tuple[str, float, float, float], fps: float = 30.0) -> Json:
    """Return a timeline: (node, start, duration, source in) in frames."""
    clips = [
        {"id": f"{index}", "sourceId": one, "clip": {"start": start, "duration": duration, "sourceIn": first}}
        for index, (one, start, duration, first) in enumerate(of)
    ]
    return {"comp_root": {"frameRate": {"fps": fps}, "tracks": [{"name": "Composition", "layers": clips}]}}


def audio(node_id: str = "a", **held: Any) -> Json:
    """Return an audio layer with the source `tone.wav`."""
    further = {key: held.pop(key) for key in ("fx", "visible", "solo", "parent") if key in held}
    return node(node_id, "audio", audio={"__assetId": "asset", "__src": "tone.wav", **held}, **further)


def video(node_id: str = "v", **held: Any) -> Json:
    return node(node_id, "video", src="clip.mp4", **held)


def heard(doc: Json, first: float = 0.0, end: float = 20.0, parity: SoundParity = EXPECTED_SOUND) -> tuple[Voice, ...]:
    return voices(doc, build(doc), first, end, parity)


def stretch(voice: Voice) -> tuple[float, float, float, float]:
    """Return start, length, position and rate, rounded."""
    return (round(voice.start, 6), round(voice.length, 6), round(voice.position, 6), round(voice.rate, 6))


def mixed(
    held: Sequence[Voice] | Json, sounds: Mapping[str, Sound], seconds: float, first: float = 0.0
) -> npt.NDArray[np.float32]:
    found = heard(held, first, first + seconds) if isinstance(held, dict) else held
    return np.concatenate(list(mix(found, sounds, first, round(seconds * RATE))))


def with_effects(*effects: Json, **further: Any) -> Json:
    """Return a document with one audio layer over the whole composition, and a chain of effects."""
    return document(audio(fx={"audioEffects": list(effects)}, **further), timelines=bars(("a", 0, 300, 0)))
