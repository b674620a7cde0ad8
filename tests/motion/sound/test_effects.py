"""Audio effects compared with the vectors of audio.md 3.1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion.sound.effects import filters, reverb
from motion.sound.voice import RATE
from tests.documents import document, node
from tests.motion.sound.sounds import Held, audio, bars, heard, mixed, ramp, steady, with_effects


def effect(kind: str, **params: float) -> dict[str, object]:
    return {"id": "e", "type": kind, "params": params}


def click(seconds: float = 1.0) -> Held:
    samples = np.zeros((round(seconds * RATE), 1))
    samples[0] = 1.0
    return Held(samples)


def test_biquads_have_the_coefficients_of_the_specification() -> None:
    assert filters.low_pass(1000, 0.707) == pytest.approx(
        (0.00403483, 0.00806966, 0.00403483, -1.87036596, 0.88650527), abs=5e-9
    )
    assert filters.peaking(800, -6, 2) == pytest.approx(
        (0.98224298, -1.91823670, 0.94655990, -1.91823670, 0.92880288), abs=5e-9
    )


def test_shelves_without_gain_change_nothing() -> None:
    for shape in (filters.low_shelf, filters.high_shelf):
        c = shape(0.0)
        assert (c.b0, c.b1, c.b2) == pytest.approx((1.0, c.a1, c.a2))


def test_a_shelf_reaches_its_gain_far_from_its_corner() -> None:
    doc = with_effects(effect("bass-treble", bass=6.0))
    assert mixed(doc, {"tone.wav": steady(1.0, 0.1)}, 1.0)[-1] == pytest.approx([0.1 * 10 ** (6 / 20)] * 2, rel=1e-3)


@pytest.mark.parametrize("moves", [False, True])
def test_a_filter_is_the_recursion_that_it_stands_for(moves: bool) -> None:
    doc = with_effects(effect("high-low-pass", cutoff=1000.0, q=0.707) | {"mode": "lowpass"})
    if moves:  # a track with one value is handled like moving parameters
        keys = [{"t": 0.0, "value": 1000.0}, {"t": 0.001, "value": 1000.000001}]
        doc["animation"]["tracks"]["a"] = {"audiofx.e.cutoff": {"keyframes": keys}}
    found = mixed(doc, {"tone.wav": click()}, 0.5)[:, 0]
    c = filters.low_pass(1000, 0.707)
    x1 = x2 = y1 = y2 = 0.0
    expected = []
    for n in range(2000):
        x = float(n == 0)
        y = c.b0 * x + c.b1 * x1 + c.b2 * x2 - c.a1 * y1 - c.a2 * y2
        x1, x2, y1, y2 = x, x1, y, y1
        expected.append(y)
    assert np.allclose(found[:2000], expected, atol=1e-7)


@pytest.mark.parametrize(("mode", "left"), [("lowpass", 1.0), ("highpass", 0.0)])
def test_a_cutoff_beyond_the_highest_frequency_counts_as_that(mode: str, left: float) -> None:
    doc = with_effects(effect("high-low-pass", cutoff=30_000.0) | {"mode": mode})
    noise = np.random.default_rng(1).normal(0, 0.1, (RATE, 1))
    found = mixed(doc, {"tone.wav": Held(noise)}, 1.0)[:, 0]
    assert np.allclose(found, left * noise[:, 0], atol=1e-7)


@pytest.mark.parametrize("extreme", [1e9, -1e9])
def test_decibels_beyond_all_measure_still_give_a_filter(extreme: float) -> None:
    shapes = [filters.peaking(1000, extreme, 1), filters.low_shelf(extreme), filters.high_shelf(extreme)]
    shapes += [filters.low_pass(1000, extreme), filters.high_pass(1000, extreme)]
    assert np.isfinite(shapes).all()


def test_echoes_come_at_the_delay_and_fade_by_the_feedback() -> None:
    doc = with_effects(effect("delay", time=0.25, feedback=50.0, mix=40.0))
    found = mixed(doc, {"tone.wav": click()}, 1.0)[:, 0]
    assert np.flatnonzero(np.abs(found) > 1e-9).tolist() == [0, 12_000, 24_000, 36_000]
    assert found[[0, 12_000, 24_000, 36_000]].tolist() == pytest.approx([0.6, 0.4, 0.2, 0.1])


def test_echoes_ring_on_after_the_voice() -> None:
    doc = document(audio(fx={"audioEffects": [effect("delay", time=0.5, mix=50.0)]}), timelines=bars(("a", 0, 6, 0)))
    found = mixed(doc, {"tone.wav": click(0.2)}, 1.0)[:, 0]
    assert found[24_000] == pytest.approx(0.5)


def test_a_flange_without_depth_is_a_delay() -> None:
    doc = with_effects(effect("flange-chorus", separation=3.0, depth=0.0, mix=50.0))
    found = mixed(doc, {"tone.wav": click()}, 0.2)[:, 0]
    assert np.flatnonzero(np.abs(found) > 1e-9).tolist() == [0, 144]


def test_the_swing_of_a_flange_stops_with_the_voice() -> None:
    """After the voice, the delay equals the separation: 480 sample frames, of which nothing remains for a full one."""
    flange = effect("flange-chorus", separation=10.0, depth=100.0, rate=100.0, mix=100.0)
    doc = document(audio(fx={"audioEffects": [flange]}), timelines=bars(("a", 0, 3, 0)))
    found = mixed(doc, {"tone.wav": ramp(1.0)}, 0.2)[:, 0]
    assert found[4800:5280].tolist() == pytest.approx([(n - 480) / RATE / 100 for n in range(4800, 5280)], abs=1e-7)
    assert not found[5281:].any()


def test_a_loop_is_as_long_before_its_feedback_is_heard_as_after() -> None:
    doc = with_effects(effect("delay", time=0.001, mix=100.0))
    doc["animation"]["tracks"]["a"] = {
        "audiofx.e.feedback": {"keyframes": [{"t": 0.8, "value": 0}, {"t": 0.9, "value": 50}]}
    }
    found = mixed(doc, {"tone.wav": click()}, 1.0)[:, 0]
    assert np.flatnonzero(found).tolist() == [128]


def test_a_filter_that_moves_is_the_equation_of_the_specification() -> None:
    doc = with_effects(effect("parametric-eq", q=8.0, gain=12.0))
    keys = [{"t": 0.0, "value": 500.0}, {"t": 0.02, "value": 9000.0}]
    doc["animation"]["tracks"]["a"] = {"audiofx.e.frequency": {"keyframes": keys}}
    noise = np.random.default_rng(2).normal(0, 0.1, 960)
    found = mixed(doc, {"tone.wav": Held(noise)}, 0.02)[:, 0]
    x1 = x2 = y1 = y2 = 0.0
    expected = []
    for n, x in enumerate(noise.tolist()):
        c = filters.peaking(500 + 8500 * n / 960, 12.0, 8.0)
        y = c.b0 * x + c.b1 * x1 + c.b2 * x2 - c.a1 * y1 - c.a2 * y2
        x1, x2, y1, y2 = x, x1, y, y1
        expected.append(y)
    assert np.allclose(found, expected, atol=1e-6)


def test_the_reverbs_noise_is_that_of_the_editor() -> None:
    assert reverb.seed_of("reverb-1") == 1296924715
    assert reverb.noise(1296924715, 0, 4).tolist() == pytest.approx(
        [-0.772259277, 0.642044446, 0.790445945, 0.273183222], abs=5e-10
    )
    assert reverb.noise(1296924715, 1, 3).tolist() == pytest.approx([0.745433380, 0.105938978, 0.108251316], abs=5e-10)
    assert reverb.seed_of("a") == 3826002220
    assert reverb.noise(3826002220, 0, 2).tolist() == pytest.approx([0.362603475, -0.084685903], abs=5e-10)
    assert reverb.noise(3826002220, 1, 2).tolist() == pytest.approx([0.138442960, -0.542502933], abs=5e-10)
    assert reverb.noise(2166136261, 0, 1).tolist() == pytest.approx([0.892159128], abs=5e-10)
    assert reverb.noise(2166136261, 1, 1).tolist() == pytest.approx([0.008422906], abs=5e-10)


def test_a_reverbs_lengths_are_rounded_half_up() -> None:
    assert len(reverb.response("", 27 / 256, 0.0)) == 5063  # 5062.5 sample frames
    assert len(reverb.response("", 27 / 256, 0.09375)) == 5063 + 5


def test_the_id_of_a_reverb_may_be_any_units_of_text() -> None:
    assert reverb.seed_of("\ud800") == (0x811C9DC5 ^ 0xD800) * 16777619 % 2**32


def test_a_reverb_convolves_whatever_the_blocks() -> None:
    doc = with_effects({"id": "reverb-1", "type": "reverb", "params": {"decay": 0.5, "preDelay": 20.0, "mix": 25.0}})
    noise = np.random.default_rng(1).normal(0, 0.1, (60_000, 1))
    found = mixed(doc, {"tone.wav": Held(noise)}, 2.0)
    response = reverb.response("reverb-1", 0.5, 20.0)
    assert len(response) == 960 + 24_000
    for channel in range(2):
        size = 1 << 17
        wet = np.fft.irfft(np.fft.rfft(noise[:, 0], size) * np.fft.rfft(response[:, channel], size), size)[:96_000]
        dry = np.concatenate([noise[:, 0], np.zeros(36_000)])
        assert np.allclose(found[:, channel], 0.75 * dry + 0.25 * wet, atol=1e-6)


@pytest.mark.parametrize("file_seconds", [0.25, 1.0])
def test_a_tone_is_added_while_the_voice_lasts(file_seconds: float) -> None:
    doc = document(
        audio(fx={"audioEffects": [effect("tone", frequency=440.0, level=-12.0)]}), timelines=bars(("a", 0, 15, 0))
    )
    found = mixed(doc, {"tone.wav": steady(file_seconds, 0.0)}, 1.0)
    times = np.arange(24_000) / RATE
    assert np.allclose(found[:24_000, 0], 10 ** (-12 / 20) * np.sin(2 * math.pi * 440 * times), atol=1e-6)
    assert np.array_equal(found[:, 0], found[:, 1])
    assert not found[24_000:].any()


def test_a_tone_ends_with_the_file_of_a_voice_without_an_end() -> None:
    tone = {"audioEffects": [effect("tone")]}
    doc = document(node("g", "group", children=["a"]), audio(parent="g", __in=0, __out=0, fx=tone))
    found = mixed(doc, {"tone.wav": steady(0.5, 0.0)}, 1.0)
    assert found[23_990:24_000].any()
    assert not found[24_000:].any()


def test_a_filter_does_not_ring_on_after_the_voice() -> None:
    doc = document(
        audio(fx={"audioEffects": [effect("high-low-pass", cutoff=50.0) | {"mode": "lowpass"}]}),
        timelines=bars(("a", 0, 6, 0)),
    )
    found = mixed(doc, {"tone.wav": steady(1.0)}, 1.0)
    assert found[9_599].all()
    assert not found[9_600:].any()


@pytest.mark.parametrize(
    ("wave", "harmonics"), [("triangle", [1, 3, 5, 7]), ("sawtooth", [*range(1, 8)]), ("square", [1, 3, 5, 7])]
)
def test_audible_waves_hold_no_frequency_that_folds_back(wave: str, harmonics: list[int]) -> None:
    doc = with_effects(effect("tone", frequency=3000.0, level=0.0) | {"wave": wave})
    found = mixed(doc, {"tone.wav": steady(1.0, 0.0)}, 1.0)[:, 0]
    spectrum = np.abs(np.fft.rfft(found)) / len(found)
    loud = np.flatnonzero(spectrum > 1e-4)
    assert loud.tolist() == [3000 * number for number in harmonics]
    assert found[:4].max() > 0


def test_a_modulator_at_full_depth_is_ring_modulation() -> None:
    doc = with_effects(effect("modulator", rate=100.0, depth=100.0))
    found = mixed(doc, {"tone.wav": steady(1.0, 0.5)}, 1.0)[:, 0]
    assert np.allclose(found, 0.5 * np.sin(2 * math.pi * 100 * np.arange(RATE) / RATE), atol=1e-6)


def test_the_stereo_mixer_is_the_identity_by_default_and_takes_mono_as_left() -> None:
    stereo = Held(np.stack([np.full(RATE, 0.25), np.full(RATE, 0.5)], axis=1))
    doc = with_effects(effect("stereo-mixer"))
    assert mixed(doc, {"tone.wav": stereo}, 0.1)[0].tolist() == pytest.approx([0.25, 0.5])
    assert mixed(doc, {"tone.wav": steady(1.0)}, 0.1)[0].tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(
    ("pan", "expected"),
    [(-100, (1, 0)), (-50, (0.92388, 0.38268)), (0, (0.70711, 0.70711)), (50, (0.38268, 0.92388)), (100, (0, 1))],
)
def test_pan_has_constant_power(pan: float, expected: tuple[float, float]) -> None:
    doc = with_effects(effect("stereo-mixer", leftPan=pan))
    assert mixed(doc, {"tone.wav": steady(1.0)}, 0.1)[0].tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("first", "seconds", "played"), [(2, 2, 6), (8, 2, 0), (9, 5, 0)])
def test_backwards_mirrors_the_window_within_the_file(first: float, seconds: float, played: float) -> None:
    """In the reversed file of 10 s, the window starts at `played`: 10 s minus its start in the file."""
    doc = document(
        audio(fx={"audioEffects": [effect("backwards")]}), timelines=bars(("a", 0, seconds * 30, first * 30))
    )
    found = mixed(doc, {"tone.wav": ramp(10)}, 1.0)[:, 0] * 100
    assert found[0] == pytest.approx(10 - played - 1 / RATE, abs=1e-5)
    assert found[4_800] == pytest.approx(10 - played - 0.1 - 1 / RATE, abs=1e-5)


def test_a_disabled_and_an_unknown_effect_are_left_out() -> None:
    doc = with_effects(effect("delay") | {"enabled": False}, effect("wobble"), {"type": "delay"})
    assert heard(doc)[0].effects == ()
