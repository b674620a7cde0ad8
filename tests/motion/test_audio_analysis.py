"""Pictures of sounds: waveforms, spectra and the loudness of expressions (audio.md 3.2 and 3.3, layers.md 4.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from motion.evaluate import snapshot
from motion.evaluate.audio_analysis import RATE, Envelope
from motion.snapshot import CompositionSource, LayerSnapshot, MissingSource, ShapeSource, Transform2D
from motion.sound.spectrum import WINDOW, magnitudes
from motion.template import media_sources
from tests.documents import Json, document, keys, node, root
from tests.motion.frames import built

SONG = "https://media.example/song.mp3"


class Decoded:
    """A decoded file of a number of seconds. `peaks` are spread over it; `samples` are those of each window."""

    def __init__(self, seconds: float, *peaks: float, samples: npt.NDArray[np.float64] | None = None) -> None:
        places = np.linspace(0, len(peaks) - 1, 1024) if peaks else np.zeros(0)
        self._envelope = Envelope(seconds, np.interp(places, range(len(peaks)), peaks).tolist()) if peaks else None
        self._samples = samples
        self.asked: list[int] = []

    def envelope(self, source: str) -> Envelope | None:
        return self._envelope if source == SONG else None

    def magnitudes(self, source: str, first: int) -> list[float] | None:
        self.asked.append(first)
        return magnitudes(self._samples) if source == SONG and self._samples is not None else None


def song(**audio: Any) -> Json:
    return node("song", "audio", audio={"__src": SONG, **audio})


def unplaced(**audio: Any) -> tuple[Json, Json]:
    """Return a group and the song in it. Layers of a group have no bars."""
    return node("g", "group", children=["song"]), node("song", "audio", parent="g", audio={"__src": SONG, **audio})


def waved(**settings: Any) -> Json:
    return node("w", width=200, height=100, fx={"audioWaveform": {"sourceLayerId": "song", "samples": 3, **settings}})


def bars(node_id: str, *clips: tuple[float, float, float]) -> Json:
    """Return a timeline with bars (start, duration, source_in), in frames at 30 fps, for one layer of the
    composition."""
    layers = [
        {"id": f"{node_id}{i}", "sourceId": node_id, "enabled": True,
         "clip": {"start": start, "duration": duration, "sourceIn": source_in, "sourceDuration": None}}
        for i, (start, duration, source_in) in enumerate(clips)
    ]  # fmt: skip
    tracks = [{"id": "t", "name": "Composition", "layers": layers}]
    return {"timelines": {"comp_root": {"fps": 30, "duration": 300, "tracks": tracks}}}


def drawn(doc: Json, layer_id: str, sounds: Decoded | None, time: float = 0.0) -> LayerSnapshot:
    layers = snapshot(built(doc), time, sounds=sounds).layers
    return next(layer for layer in layers if layer.id == layer_id)


def tops(doc: Json, sounds: Decoded, time: float = 0.0) -> list[tuple[float, float]]:
    """Return the upper points of the waveform `w`, which is symmetric about its middle."""
    source = drawn(doc, "w", sounds, time).source
    assert isinstance(source, ShapeSource)
    (run,) = source.runs
    assert (source.primitive, run.closed) == ("path", True)
    points = [(point.x, point.y) for point in run.points]
    half = len(points) // 2
    assert points[half:] == [(x, -y) for x, y in reversed(points[:half])]
    return points[:half]


def test_a_waveform_is_the_outline_of_the_whole_file() -> None:
    found = tops(document(song(), waved(heightScale=0.5)), Decoded(4, 0, 1, 0.5))
    assert found == [(-100, -1), (0, pytest.approx(-25, abs=0.05)), (100, -12.5)]


def test_silence_is_as_high_as_the_line_is_thick_and_nothing_is_higher_than_the_box() -> None:
    found = tops(document(song(), waved(thickness=6, heightScale=9)), Decoded(4, 0, 1, 1))
    assert [y for _, y in found] == [-3, -50, -50]


def test_a_window_shows_the_sound_around_the_time_of_the_layer() -> None:
    doc = document(*unplaced(__start=1), waved(mode="playhead-window", windowSec=2))
    found = [y for _, y in tops(doc, Decoded(4, 0, 1), time=2.0)]
    assert found == pytest.approx([-1, -12.5, -25], abs=0.05)


def test_bars_of_the_audio_layer_say_which_part_of_the_file_is_under_the_window() -> None:
    doc = document(song(), waved(mode="playhead-window", windowSec=0), **bars("song", (60, 30, 30), (90, 30, 90)))
    sounds = Decoded(4, 0, 1)
    heights = [-tops(doc, sounds, time)[0][1] / 50 for time in (2.5, 3.5, 9.0)]
    assert heights == pytest.approx([1.5 / 4, 3.5 / 4, 0.02], abs=0.001)


def test_an_envelope_is_linear_between_its_peaks_and_silent_outside() -> None:
    found = Envelope(2, (0.4, 0.8, 0.2))
    assert [found.at_seconds(time) for time in (0, 0.5, 1, 1.5, 2, 3)] == pytest.approx([0.4, 0.6, 0.8, 0.5, 0.2, 0])


def test_a_bar_begins_with_its_first_frame() -> None:
    doc = document(song(), waved(mode="playhead-window", windowSec=0), **bars("song", (60, 30, 30), (90, 30, 90)))
    assert -tops(doc, Decoded(4, 0, 1), 3.0)[0][1] / 50 == pytest.approx(3 / 4, abs=0.001)


@pytest.mark.parametrize("sounds", [None, Decoded(4)])
def test_a_waveform_without_its_sound_draws_nothing(sounds: Decoded | None) -> None:
    assert isinstance(drawn(document(song(), waved()), "w", sounds).source, MissingSource)


def test_a_waveform_of_something_else_is_warned_about() -> None:
    assert built(document(waved())).warnings
    assert not built(document(song(), waved())).warnings


def test_path_operators_take_the_waveform_as_their_outline() -> None:
    shape = waved()
    shape["components"][-1]["props"]["pathOps"] = [{"id": "r", "type": "repeater", "copies": 2, "offsetY": 100}]
    source = drawn(document(song(), shape), "w", Decoded(4, 0, 1, 0)).source
    assert isinstance(source, ShapeSource)
    assert [len(run.points) for run in source.runs] == [6, 6]


def spectral(**parameters: Any) -> Json:
    effect = {"id": "e", "type": "audio-spectrum", "params": {"audioLayerId": "song", "bands": 8, **parameters}}
    return node("s", fx={"effects": [effect]})


def bands(doc: Json, sounds: Decoded, time: float = 0.0) -> Any:
    return dict(drawn(doc, "s", sounds, time).effects[0].stored)["magnitudes"]


@pytest.mark.parametrize(("level", "expected"), [(1, 1), (0.01, 1), (0.001, 0.8026), (1e-4, 0.4693), (1e-5, 0.136)])
def test_a_spectrum_has_the_stated_levels(level: float, expected: float) -> None:
    tone = level * np.sin(2 * np.pi * 937.5 * np.arange(WINDOW) / RATE)
    found = bands(document(song(), spectral()), Decoded(4, samples=tone))
    below = (0.0524, 0.4978) if level == 1 else (0, 0)
    assert found == pytest.approx((0, 0, *below, expected, 0, 0, 0), abs=1e-4)


def test_a_spectrum_has_at_most_128_bands_which_are_a_bin_wide_at_least() -> None:
    sounds = Decoded(4, samples=np.zeros(WINDOW))
    assert bands(document(song(), spectral(bands=500)), sounds) == (0.0,) * 128


def test_a_spectrum_that_ends_before_it_starts_is_a_hundredth_wide() -> None:
    tone = np.sin(2 * np.pi * 984.375 * np.arange(WINDOW) / RATE)
    found = bands(document(song(), spectral(bands=2, startFreq=1000, endFreq=500)), Decoded(4, samples=tone))
    assert found == (1, 1)


@pytest.mark.parametrize(
    ("given", "effective"),
    [
        ({"endFreq": 90_000}, {"endFreq": 24_000}),
        ({"startFreq": -5}, {"startFreq": 1}),
        ({"startFreq": 1, "endFreq": 50}, {"startFreq": 47, "endFreq": 50}),  # the lowest bin, at 0 Hz, is in no band
        ({"bands": 0}, {"bands": 1}),
    ],
)
def test_limits_of_a_spectrum(given: Json, effective: Json) -> None:
    noise = np.random.default_rng(1).normal(1e-3, 3e-4, WINDOW)

    def found(parameters: Json) -> Any:
        return bands(document(song(), spectral(**parameters)), Decoded(4, samples=noise))

    assert found(given) == found(effective)
    assert len(found({"bands": 1})) == 1


def test_a_spectrum_reads_the_place_in_the_file_that_the_bar_plays() -> None:
    sounds = Decoded(4, samples=np.zeros(WINDOW))
    doc = document(song(), spectral(), **bars("song", (30, 60, 15)))
    bands(doc, sounds, time=2.0)
    assert sounds.asked == [round(1.5 * RATE)]


def test_a_spectrum_without_a_sound_is_silent() -> None:
    assert bands(document(spectral()), Decoded(4)) == (0.0,) * 8


def grown(doc: Json, sounds: Decoded | None, time: float) -> float:
    transform = drawn(doc, "a", sounds, time).transform
    assert isinstance(transform, Transform2D)
    return transform.scale_x


def throbbing(*layers: Json, **more: Any) -> Json:
    return document(*layers, node("a"), expressions={"a": {"scale": "1 + audio"}}, **more)


def test_expressions_hear_the_loudest_audio_layer_at_the_time_of_the_frame() -> None:
    sounds = Decoded(4, 0, 1)
    doc = throbbing(*unplaced(__start=1, __in=0.5, __out=3))
    found = [grown(doc, sounds, time) for time in (0.5, 1.0, 2.0, 3.4, 3.5)]
    assert found == pytest.approx([1, 1.125, 1.375, 1.725, 1], abs=1e-9)
    assert grown(doc, None, 2.0) == 1
    in_bars = throbbing(song(), **bars("song", (60, 30, 30)))
    assert [grown(in_bars, sounds, time) for time in (1.0, 2.5, 3.5)] == pytest.approx([1, 1.375, 1])


def test_expressions_hear_the_loudest_of_bars_that_overlap() -> None:
    doc = throbbing(song(), **bars("song", (0, 60, 0), (30, 60, 90)))
    assert grown(doc, Decoded(4, 0, 1), 1.5) == pytest.approx(1.875, abs=1e-3)


@pytest.mark.parametrize("silenced", [song(__muted=True), {**song(), "visible": False}])
def test_expressions_do_not_hear_silent_layers(silenced: Json) -> None:
    assert grown(throbbing(silenced), Decoded(4, 1, 1), 1.0) == 1


@pytest.mark.parametrize("is_solo", [False, True])
def test_expressions_hear_only_layers_that_a_solo_leaves(is_solo: bool) -> None:
    expressions = {"a": {"scale": "1 + audio"}}
    doc = document({**song(), "solo": is_solo}, {**node("a"), "solo": True}, expressions=expressions)
    assert grown(doc, Decoded(4, 1, 1), 1.0) == 1 + is_solo


def placing(*layers: Json, tracks: Json | None = None, **fx: Any) -> Json:
    """Return a layer driven by sound, beside a placed composition with other layers."""
    stage = {"id": "stage", "name": "Stage", "width": 200, "height": 100, "fps": 30, "durationSeconds": 10}
    inner = root(*(layer["id"] for layer in layers), node_id="stage")
    placed = node("placed", "comp", fx={"precomp": True, "__compRef": "stage", **fx})
    inside = tuple({**layer, "parent": "stage"} for layer in layers)
    return throbbing(placed, roots=(inner, *inside), comps={"stage": stage}, tracks=tracks)


def test_expressions_hear_audio_layers_of_placed_compositions() -> None:
    """audio.md 2.2: "voices are collected from every root subtree of the project", 3.2: the loudest of them is `audio`."""
    sounds = Decoded(4, 0, 1)
    assert grown(placing(song()), sounds, 2.0) == pytest.approx(1.5, abs=1e-3)
    assert grown(placing(song(), time={"stretch": 50}), sounds, 1.0) == pytest.approx(1.5, abs=1e-3)
    assert grown(placing(song(__muted=True)), sounds, 2.0) == 1


def test_a_throb_inside_a_placed_composition_hears_the_sound_beside_it() -> None:
    doc = placing(song(), node("b"))
    doc["animation"]["expressions"] = {"b": {"scale": {"src": "1 + audio", "enabled": True}}}
    source = drawn(doc, "placed", Decoded(4, 0, 1), 2.0).source
    assert isinstance(source, CompositionSource)
    transform = next(layer for layer in source.composition.layers if layer.id == "b").transform
    assert isinstance(transform, Transform2D)
    assert transform.scale_x == pytest.approx(1.5, abs=1e-3)


def test_a_placed_composition_whose_time_depends_on_the_loudness_is_heard_as_if_it_were_silent_there() -> None:
    doc = placing(song(), tracks={"placed": {"timeRemap": keys((0, 0), (10, 10))}})
    doc["animation"]["expressions"]["placed"] = {"timeRemap": {"src": "value + audio", "enabled": True}}
    assert grown(doc, Decoded(4, 0, 1), 2.0) == pytest.approx(1.5, abs=1e-3)


@pytest.mark.parametrize(
    ("doc", "is_wanted"),
    [
        (document(song(), waved()), True),
        (document(song(), spectral()), True),
        (throbbing(song()), True),
        (document(song(), node("a"), expressions={"a": {"scale": "1 + audioLevel"}}), False),
        (document(song(), node("a")), False),
    ],
)
def test_a_sound_is_fetched_where_pictures_show_it(doc: Json, is_wanted: bool) -> None:
    assert set(media_sources(doc)) == ({SONG} if is_wanted else set())


def test_a_sound_that_cannot_be_fetched_is_left_out_of_pictures() -> None:
    assert set(media_sources(document(song(__src="blob:https://editor/1"), waved()))) == set()
