"""Voices of a composition: every audible audio and video layer, through placed compositions, in output time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from motion.build import build
from motion.errors import PropertyRefused
from motion.evaluate.context import EvaluationContext, FrameContext
from motion.evaluate.frame import shared_frame
from motion.evaluate.nesting import NESTING_MAX
from motion.model.composition import Composition, Plan
from motion.model.content import InstanceContent, MediaContent
from motion.model.layer import Layer
from motion.model.layer_time import Bar
from motion.model.parity import EXPECTED_SOUND, SoundParity
from motion.schema.compositions import compositions
from motion.schema.nodes import Node, nodes
from motion.sound.curves import Curve, constant, sampled
from motion.sound.layer_effects import effects_of, plays_backwards
from motion.sound.levels import db_to_gain, percent_to_db
from motion.sound.stretches import Stretch, audible, in_bars, through, whole, within
from motion.sound.voice import Pause, Voice, no_pause
from motion.stored import Document, finite

VOICES_MAX: Final = 20_000
REMAPS: Final = ("timeRemap", "precompTime")
LEVEL: Final = "audioLevelDb"


def voices(
    document: Document,
    composition: Composition,
    first_seconds: float,
    end_seconds: float,
    parity: SoundParity = EXPECTED_SOUND,
    pause: Pause = no_pause,
) -> tuple[Voice, ...]:
    """Return the voices heard in [first, end) of a composition, which was built from the document.

    Raises PropertyRefused where placed compositions or curved remaps make more than VOICES_MAX.
    """
    if not parity.every_composition:
        found = _Collector(document, composition, parity, pause).voices(first_seconds, end_seconds)
    else:
        built = [build(document, key, composition.parity) for key in compositions(document)]
        every = nodes(document).values()
        any_solo = any(node.solo for node in every)
        found = [
            voice
            for one in built
            for voice in _Collector(document, one, parity, pause, any_solo=any_solo).voices(first_seconds, end_seconds)
        ]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Place:
    """A layer in one bar: how output time becomes the time of the composition that holds the layer."""

    context: EvaluationContext
    layer: Layer
    host: Stretch
    bar: Bar | None

    @property
    def fps(self) -> float:
        return self.context.frame.composition.timeline_fps

    def local(self, time: float) -> float:
        """Return the layer's own time at a time of its composition, as keyframes are stored."""
        moved = self.unstretched(time)
        return self.layer.time.stretched(moved)

    def unstretched(self, time: float) -> float:
        """Return a time of the layer's composition as the layer's own stretch finds it."""
        for unit in self.layer.remapped_by:
            time = self.context.remapped(unit, time)
        return self.in_bar(time)

    def in_bar(self, time: float) -> float:
        """Return the time counted from the bar's start, and from where the bar begins in its source."""
        bar = self.bar
        return time if bar is None else (bar.source_in + time * self.fps - bar.start) / self.fps

    def content(self, time: float) -> float:
        """Return the time of a video, or of a placed composition, as the picture has it, but smooth: no step is heard."""
        remapped = self.context.remapped(self.layer, time)
        if remapped != time:
            return self.layer.time.stretched(self.context.unstretched(self.layer, remapped, exact=True))
        return self.local(time)


class _Collector:
    def __init__(
        self,
        document: Document,
        composition: Composition,
        parity: SoundParity,
        pause: Pause,
        *,
        any_solo: bool | None = None,
    ) -> None:
        self._pause = pause
        self._nodes: Mapping[str, Node] = nodes(document)
        self._composition, self._parity, self._any_solo = composition, parity, any_solo
        self._frame: FrameContext = shared_frame(composition, composition.fps, None)
        self._count = 0

    def voices(self, first: float, end: float) -> list[Voice]:
        """Return all voices in the order of the layers."""
        return list(self._of_plan(self._composition.plan, whole(first, end), ()))

    def _of_plan(self, plan: Plan, stretches: Sequence[Stretch], stack: tuple[str, ...]) -> Iterator[Voice]:
        context = EvaluationContext(self._frame, plan, 0.0, stack)
        has_solo = any(one.solo for one in plan.layers.values()) if self._any_solo is None else self._any_solo
        met: set[str] = set()
        for layer in plan.layers.values():
            is_copy = layer.source_id in met  # a cloner does not multiply sound, and its first copy has no delay
            met.add(layer.source_id)
            if is_copy or not layer.visible or (has_solo and not layer.solo):
                continue
            if isinstance(layer.content, InstanceContent):
                yield from self._of_instance(context, layer, layer.content, stretches, stack)
            elif layer.kind in ("audio", "video"):
                yield from self._of_layer(context, layer, stretches)

    def _of_instance(
        self,
        context: EvaluationContext,
        layer: Layer,
        content: InstanceContent,
        stretches: Sequence[Stretch],
        stack: tuple[str, ...],
    ) -> Iterator[Voice]:
        plan = self._composition.plans.get(content.plan or "")
        is_shown = plan is not None and plan.settings.id not in stack and len(stack) < NESTING_MAX
        if self._parity.every_composition or plan is None or not is_shown:
            return
        inner = [
            piece
            for place in self._places(context, layer, stretches)
            for piece in through([place.host], self._paused(place.content), _step(place))
        ]
        yield from self._of_plan(plan, inner, (*stack, plan.settings.id))

    def _places(self, context: EvaluationContext, layer: Layer, stretches: Sequence[Stretch]) -> Iterator[_Place]:
        fps = self._composition.timeline_fps
        for bar in layer.bars or (None,):
            for host in in_bars(stretches, () if bar is None else (bar,), fps):
                yield _Place(context, layer, host, bar)

    def _of_layer(self, context: EvaluationContext, layer: Layer, stretches: Sequence[Stretch]) -> Iterator[Voice]:
        node = self._nodes.get(layer.source_id)
        if node is None:
            return
        source = _source(node, layer, needs_asset_id=self._parity.needs_asset_id)
        if not source or node.is_muted:
            return
        for place in self._places(context, layer, stretches):
            made = self._audio(node, place, source) if layer.kind == "audio" else self._video(node, place, source)
            for voice in made:
                self._count += 1
                if self._count > VOICES_MAX:
                    raise PropertyRefused(
                        f"placed compositions or curved time remaps cut it into more than {VOICES_MAX} pieces."
                    )
                yield voice

    def _audio(self, node: Node, place: _Place, source: str) -> Iterator[Voice]:
        """Yield an audio layer's voices. Only its bar moves it: stretch and remap do not apply (audio.md 2.3)."""
        component = node.component("Audio")
        first, end = _window(component, place)
        change = place.in_bar
        hosts: Sequence[Stretch] = [place.host]
        if place.bar is None:
            start = finite(component.get("__start")) or 0.0
            change = partial(_shifted, start, first)
            hosts = list(within(hosts, start, start + (end - first) if end > 0 else float("inf")))
        mirror = (first, end if end > 0 else float("inf")) if plays_backwards(node) else None
        for host in hosts:
            for piece in audible(through([host], change, None)):
                at = _Place(place.context, place.layer, host, place.bar)
                yield self._voice(node, at, source, piece, is_open=end <= 0, mirror=mirror)

    def _video(self, node: Node, place: _Place, source: str) -> Iterator[Voice]:
        layer = place.layer
        if layer.time.freeze_time is not None:
            return
        change, mirror = place.content, None
        if layer.time.reverse and not _is_remapped(place):
            change = partial(_reversed, place) if place.bar else partial(_at_speed, place)
            mirror = None if place.bar else (0.0, float("inf"))  # without a bar its window is the whole file
        for piece in audible(through([place.host], self._paused(change), _step(place))):
            yield self._voice(node, place, source, piece, mirror=mirror)

    def _voice(
        self,
        node: Node,
        place: _Place,
        source: str,
        piece: Stretch,
        *,
        is_open: bool = False,
        mirror: tuple[float, float] | None,
    ) -> Voice:
        length = piece.end - piece.start

        def curve(path: str) -> Curve | None:
            return self._curve(place, piece, path)

        moved = curve(LEVEL)
        gain = constant(db_to_gain(_level(node))) if moved is None else moved.mapped(db_to_gain)
        effects = effects_of(node, curve) if place.layer.kind == "audio" else ()
        return Voice(
            node.name, source, piece.start, length, piece.at, piece.rate, gain, effects, is_open=is_open, mirror=mirror
        )

    def _paused(self, change: Callable[[float], float]) -> Callable[[float], float]:
        def changed(time: float) -> float:
            self._pause()
            return change(time)

        return changed

    def _curve(self, place: _Place, piece: Stretch, path: str) -> Curve | None:
        """Return the animation of a property while the piece sounds, or None if nothing moves it.

        An expression alone is read once, at the start. If it fails, the stored value counts.
        """
        moving = place.layer.moving.get(path)
        if moving is None:
            return None

        def value(seconds: float) -> float | None:
            self._pause()
            time = place.host.mapped(piece.start + seconds)
            own = time if self._parity.keys_at_composition_time else place.local(time)
            return place.context.values_at(place.layer, own).moving(path)

        if not moving.has_keys or not moving.varies:
            first = value(0.0)
            return None if first is None else constant(first)
        return sampled(lambda seconds: value(seconds) or 0.0, piece.end - piece.start)


def _step(place: _Place) -> float | None:
    """Seconds between the samples of a time map that is no straight line."""
    return 1.0 / place.fps if _is_remapped(place) or place.layer.remapped_by else None


def _is_remapped(place: _Place) -> bool:
    layer = place.layer
    static = place.context.frame.composition.facts.numbers.get(layer.source_id, {})
    return any(path in layer.moving or path in static for path in REMAPS)


def _shifted(start: float, first: float, time: float) -> float:
    return first + time - start


def _reversed(place: _Place, time: float) -> float:
    """Return the window played backwards: at every time as far from its end as it was from its start (Q5)."""
    assert place.bar is not None
    rate = 100.0 / place.layer.time.stretch
    first, length = place.bar.source_in / place.fps, place.bar.duration / place.fps
    return first + (length - (place.in_bar(time) - first)) * rate


def _at_speed(place: _Place, time: float) -> float:
    return place.unstretched(time) * 100.0 / place.layer.time.stretch


def _window(audio: Mapping[str, object], place: _Place) -> tuple[float, float]:
    """Return the first and the last source second. A last second of 0 or less means the end of the file."""
    if place.bar is not None:
        return place.bar.source_in / place.fps, (place.bar.source_in + place.bar.duration) / place.fps
    first, end = finite(audio.get("__in")), finite(audio.get("__out"))
    duration = finite(audio.get("__duration")) or 0.0
    return first or 0.0, duration if end is None else end


def _source(node: Node, layer: Layer, *, needs_asset_id: bool) -> str:
    """Return the source of a layer's file, or the id of its asset."""
    if node.kind == "audio":
        component = node.component("Audio")
        asset, source = component.get("__assetId"), component.get("__src")
    else:
        asset = node.string("assetId") or node.string("__assetId")
        source = layer.content.src if isinstance(layer.content, MediaContent) else None
    if needs_asset_id and not asset:
        return ""
    return str(source or asset or "")


def _level(node: Node) -> float:
    """Return the static level in dB (audio.md 1.1 and 1.2)."""
    if node.kind == "audio":
        component = node.component("Audio")
        db, percent = finite(component.get(LEVEL)), finite(component.get("__level"))
    else:
        db, percent = node.number(LEVEL), node.number("audioLevel")
    if db is not None:
        return db
    return 0.0 if percent is None else percent_to_db(percent)
