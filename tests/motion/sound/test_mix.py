"""The mix: positions, speeds, sums, and costs that do not grow with the length."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from motion.sound.channels import at_most_stereo
from motion.sound.mix import BLOCK, mix
from motion.sound.voice import RATE, Samples, Voice
from tests.documents import document
from tests.motion.sound.sounds import Held, audio, bars, heard, mixed, ramp, steady, video


def test_a_voice_plays_its_part_of_the_file_at_its_place() -> None:
    doc = document(audio(), timelines=bars(("a", 30, 60, 45)))
    found = mixed(doc, {"tone.wav": ramp(10)}, 5.0)
    assert not found[:RATE].any()
    assert found[RATE, 0] == pytest.approx(0.015)
    assert found[3 * RATE - 1, 0] == pytest.approx(0.035, abs=1e-6)
    assert not found[3 * RATE :].any()


def test_mono_goes_to_both_sides_and_stereo_stays() -> None:
    doc = document(audio(), timelines=bars(("a", 0, 60, 0)))
    stereo = Held(np.stack([np.full(RATE, 0.25), np.full(RATE, -0.5)], axis=1))
    assert mixed(doc, {"tone.wav": steady(1.0, 0.5)}, 0.1)[5].tolist() == [0.5, 0.5]
    assert mixed(doc, {"tone.wav": stereo}, 0.1)[5].tolist() == [0.25, -0.5]


def test_voices_add_up_and_nothing_limits_them() -> None:
    doc = document(audio("a"), audio("b"), timelines=bars(("a", 0, 60, 0), ("b", 0, 60, 0)))
    assert mixed(doc, {"tone.wav": steady(1.0, 0.9)}, 0.1)[0].tolist() == pytest.approx([1.8, 1.8])


def test_a_part_is_cut_from_the_whole() -> None:
    doc = document(audio(), timelines=bars(("a", 15, 100, 7)))
    sounds = {"tone.wav": ramp(10)}
    assert np.array_equal(mixed(doc, sounds, 1.0, 1.0), mixed(doc, sounds, 3.0)[RATE : 2 * RATE])


def test_a_file_that_is_too_short_ends_in_silence() -> None:
    doc = document(audio(), timelines=bars(("a", 0, 60, 0)))
    found = mixed(doc, {"tone.wav": steady(0.5)}, 1.0)
    assert found[23_999, 0] == 1.0
    assert not found[24_000:].any()


@pytest.mark.parametrize(("stretched", "factor"), [(50, 2.0), (200, 0.5)])
def test_varispeed_moves_the_pitch(stretched: float, factor: float) -> None:
    sine = Held(np.sin(2 * np.pi * 1000 * np.arange(4 * RATE) / RATE))
    doc = document(video(fx={"time": {"stretch": stretched}}), timelines=bars(("v", 0, 60, 0)))
    found = mixed(doc, {"clip.mp4": sine}, 1.0)[:, 0]
    expected = np.sin(2 * np.pi * 1000 * factor * np.arange(RATE) / RATE)
    assert np.abs(found[1000:-1000] - expected[1000:-1000]).max() < 2e-3


def test_faster_play_folds_nothing_back() -> None:
    high = Held(np.sin(2 * np.pi * 20_000 * np.arange(4 * RATE) / RATE))
    doc = document(video(fx={"time": {"stretch": 50}}), timelines=bars(("v", 0, 60, 0)))
    found = mixed(doc, {"clip.mp4": high}, 1.0)[1000:-1000]
    assert np.abs(found).max() < 0.01


def test_reversed_play_ends_at_the_first_sample() -> None:
    doc = document(video(fx={"time": {"reverse": True}}), timelines=bars(("v", 0, 60, 0)))
    found = mixed(doc, {"clip.mp4": ramp(5)}, 2.0)[:, 0] * 100
    assert found[-1] == pytest.approx(0.0)
    assert found[0] == pytest.approx(2.0, abs=1e-4)
    assert (np.diff(found) < 0).all()


class _Counter:
    """A sound of an hour. Its samples are their own numbers, which repeat."""

    channels, length = 1, 3700 * RATE
    numbers = (np.arange(4096 + BLOCK) % 4096 / 4096.0)[:, None]

    def read(self, first: int, count: int) -> Samples:
        return self.numbers[first % 4096 :][:count]


@pytest.mark.thorough
def test_an_hour_later_nothing_has_drifted_and_memory_has_not_grown() -> None:
    voice = Voice("a", "s", 0.0, 3600.0, 1.0 / 3)
    first = round(RATE / 3)
    tracemalloc.start()
    done = 0
    for block in mix([voice], {"s": _Counter()}, 0.0, 3600 * RATE):
        if done in (0, 5000 * BLOCK) or done > 3599 * RATE:
            expected = (first + done + np.arange(len(block))) % 4096 / 4096.0
            assert np.array_equal(block[:, 0], expected.astype(np.float32))
        done += len(block)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert done == 3600 * RATE
    assert peak < 8_000_000


def test_channels_are_folded() -> None:
    four = np.array([[1, 2, 3, 4]], np.float32)
    six = np.array([[1, 2, 3, 99, 5, 6]], np.float32)
    assert at_most_stereo(four).tolist() == [[2.0, 3.0]]
    assert at_most_stereo(six)[0].tolist() == pytest.approx([1 + 0.7071 * 8, 2 + 0.7071 * 9])
    assert at_most_stereo(four[:, :1]).tolist() == [[1.0]]


def test_without_a_file_a_voice_is_silent() -> None:
    doc = document(audio(), timelines=bars(("a", 0, 60, 0)))
    assert len(heard(doc)) == 1
    assert not mixed(doc, {}, 0.1).any()
