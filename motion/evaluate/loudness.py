"""Loudness of the audio layers that sound in a frame: `audio` in expressions (audio.md 3.2)."""

from __future__ import annotations

from collections.abc import Iterable

from motion.evaluate.audio_analysis import Sounds
from motion.evaluate.context import EvaluationContext
from motion.evaluate.nesting import inside
from motion.model.content import InstanceContent, SoundContent
from motion.model.layer import Layer


def loudness(context: EvaluationContext, sounds: Sounds | None) -> float:
    """Return the level of the loudest audio layer, 0..1, in the composition and in those placed in it.

    The editor's exports read the level at the playhead, at each composition's own time. Here it is read at the frame's
    time, as in the editor's preview. A placed composition is heard at its own time, as in the mix (`SoundParity`).
    """
    if sounds is None:
        return 0.0
    layers = context.plan.layers.values()
    has_solo = any(layer.solo for layer in layers)
    heard = (layer for layer in layers if layer.visible and (layer.solo or not has_solo))
    return max((_level(context, sounds, layer) for layer in heard), default=0.0)


def _level(context: EvaluationContext, sounds: Sounds, layer: Layer) -> float:
    match layer.content:
        case SoundContent(is_muted=False) as content:
            return _heard_level(context, sounds, layer, content)
        case InstanceContent() as content if context.is_live(layer):
            context.frame.budget.spend(1)
            inner = inside(context, layer, content)
            return 0.0 if inner is None else loudness(inner, sounds)
    return 0.0


def _heard_level(context: EvaluationContext, sounds: Sounds, layer: Layer, content: SoundContent) -> float:
    """Return the level of the loudest part that sounds: bars of one layer may overlap."""
    envelope, time = sounds.envelope(content.source), context.time
    if envelope is None:
        return 0.0
    found = (
        envelope.at_seconds(first + time - start)
        for start, first, end in _parts(context.frame.composition.timeline_fps, layer, content)
        if start <= time and (end is None or first + time - start < end)
    )
    return max(found, default=0.0)


def _parts(fps: float, layer: Layer, content: SoundContent) -> Iterable[tuple[float, float, float | None]]:
    """Return where each bar starts, and the part of the file that it plays, in seconds."""
    if not layer.bars:
        return [(content.start_seconds, content.first_seconds, content.end_seconds)]
    return [(bar.start / fps, bar.source_in / fps, (bar.source_in + bar.duration) / fps) for bar in layer.bars]
