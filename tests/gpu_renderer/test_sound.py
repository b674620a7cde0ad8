"""Sound of finished files, measured with an independent decoder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import wave
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
import pytest

from farm_core.__main__ import main
from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.media import sound_file
from gpu_renderer.content.media.sound_file import decoded, stated_seconds
from gpu_renderer.encode.sound_track import pcm16, write_wav
from gpu_renderer.sound import AnalysedSounds, JobSound
from motion.build import build
from motion.notices import of_lines
from tests.descriptors import descriptors_left
from tests.gpu_renderer import decoding
from tests.gpu_renderer.documents import Record, document, layer, track

RATE = 48_000
gl = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]


def sine(hertz: float, seconds: float, level: float = 0.5, rate: int = RATE) -> npt.NDArray[np.float64]:
    return level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def write_wave(path: Path, samples: npt.NDArray[np.float64], rate: int = RATE) -> Path:
    """Write a mono WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples * 32767).astype("<i2").tobytes())
    return path


def project(folder: Path, *, seconds: float = 1.0, **audio: Any) -> str:
    """Return a document with a square, and the sound `tone.wav` over the whole composition."""
    sound: Record = layer("tone", __kind="audio")
    held = {"__assetId": "asset", "__src": "https://media.example/tone.wav", **audio}
    sound["components"].append({"id": "tone-a", "type": "Audio", "props": held})
    path = folder / "project.motion"
    path.write_text(json.dumps(document(layer("square"), sound, seconds=seconds, tone=track("opacity", (0, 1)))))
    return str(path)


def dominant(samples: npt.NDArray[np.float32]) -> float:
    """Return the loudest frequency in hertz."""
    spectrum = np.abs(np.fft.rfft(samples))
    return float(np.argmax(spectrum) * RATE / len(samples))


@pytest.mark.parametrize(
    ("output", "codec", "rate"), [("a.mp4", "aac", 192), ("a.webm", "opus", None), ("a.mov", "pcm_s16le", 1536)]
)
class TestVideos:
    pytestmark = gl

    def test_the_sound_is_that_of_the_document(self, tmp_path: Path, output: str, codec: str, rate: int | None) -> None:
        write_wave(tmp_path / "tone.wav", sine(1000, 2.0))
        path = tmp_path / output
        assert main(["render", project(tmp_path), "--media", str(tmp_path), "-o", str(path)]) == 0
        described = decoding.streams(path)
        assert re.search(rf"Audio: {codec}.*48000 Hz, stereo", described), described
        found = decoding.sound(path)
        assert abs(len(found) - RATE) <= 2048
        assert dominant(found[4800:43_200, 0]) == pytest.approx(1000, abs=2)
        expected = sine(1000, 1.0)[4800:43_200]
        assert np.abs(found[4800:43_200, 0] - expected).max() < (0.001 if codec == "pcm_s16le" else 0.06)
        assert len(decoding.video(path, 160, 90)) == 30

    def test_without_audio_there_is_no_sound_track(
        self, tmp_path: Path, output: str, codec: str, rate: int | None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_wave(tmp_path / "tone.wav", sine(1000, 1.0))
        path = tmp_path / output
        assert main(["render", project(tmp_path), "--media", str(tmp_path), "--no-audio", "-o", str(path)]) == 0
        assert "Audio:" not in decoding.streams(path)
        assert "The sound of layer “tone” is not rendered" in capsys.readouterr().err


class TestRendering:
    pytestmark = gl

    def test_sound_and_picture_start_together(self, tmp_path: Path) -> None:
        """A click at 0.5 s is heard with frame 15, despite the codec's delay."""
        samples = np.zeros(RATE)
        samples[24_000:24_048] = 0.9
        write_wave(tmp_path / "tone.wav", samples)
        for output in ("a.mp4", "a.webm", "a.mov"):
            assert main(["render", project(tmp_path), "--media", str(tmp_path), "-o", str(tmp_path / output)]) == 0
            found = np.abs(decoding.sound(tmp_path / output)[:, 0])
            assert abs(int(np.argmax(found > 0.4)) - 24_000) <= 48, output

    def test_a_range_takes_its_part_of_the_sound(self, tmp_path: Path) -> None:
        write_wave(tmp_path / "tone.wav", np.concatenate([sine(500, 1.0), sine(2000, 1.0)]))
        path = tmp_path / "a.mov"
        words = ["--range", "1:1.5", "--media", str(tmp_path), "-o", str(path)]
        assert main(["render", project(tmp_path, seconds=2.0), *words]) == 0
        found = decoding.sound(path)
        assert len(found) == 24_000
        assert dominant(found[:, 0]) == pytest.approx(2000, abs=3)

    def test_a_document_without_sound_has_no_sound_track(self, tmp_path: Path) -> None:
        path = tmp_path / "project.motion"
        path.write_text(json.dumps(document(layer("square"))))
        assert main(["render", str(path), "-o", str(tmp_path / "a.mp4")]) == 0
        assert "Audio:" not in decoding.streams(tmp_path / "a.mp4")

    def test_a_silent_voice_is_a_silent_track(self, tmp_path: Path) -> None:
        write_wave(tmp_path / "tone.wav", sine(1000, 1.0))
        path = tmp_path / "a.mov"
        assert main(["render", project(tmp_path, audioLevelDb=-60), "--media", str(tmp_path), "-o", str(path)]) == 0
        assert not decoding.sound(path).any()

    def test_a_missing_file_is_reported_and_fails_nothing(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["render", project(tmp_path), "--media", str(tmp_path), "-o", str(tmp_path / "a.mp4")]) == 0
        assert "There is nothing at https://media.example/tone.wav: its sound is not" in capsys.readouterr().err

    def test_sound_that_is_too_loud_is_clipped_and_reported(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_wave(tmp_path / "tone.wav", sine(1000, 1.0))
        path = tmp_path / "a.mov"
        assert main(["render", project(tmp_path, audioLevelDb=12), "--media", str(tmp_path), "-o", str(path)]) == 0
        assert "The sound is clipped" in capsys.readouterr().err
        assert np.abs(decoding.sound(path)).max() == pytest.approx(1.0, abs=1e-4)

    def test_a_gif_names_the_sound_that_it_lacks(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write_wave(tmp_path / "tone.wav", sine(1000, 1.0))
        assert main(["render", project(tmp_path), "--media", str(tmp_path), "-o", str(tmp_path / "a.gif")]) == 0
        assert "is not rendered" in capsys.readouterr().err

    def test_a_sequence_has_its_sound_beside_it(self, tmp_path: Path) -> None:
        write_wave(tmp_path / "tone.wav", sine(1000, 1.0))
        for output in ("a.zip", "frames"):
            assert main(["render", project(tmp_path), "--media", str(tmp_path), "-o", str(tmp_path / output)]) == 0
        inside = zipfile.ZipFile(tmp_path / "a.zip").read("audio.wav")
        assert inside == (tmp_path / "frames" / "audio.wav").read_bytes()
        assert len(inside) == 44 + RATE * 4

    def test_the_loudness_is_that_of_the_source(self, tmp_path: Path) -> None:
        """EBU R128: a sine of 1 kHz at -20 dBFS on both channels has -20 LUFS, minus 0.1."""
        write_wave(tmp_path / "tone.wav", sine(1000, 3.0, level=0.1))
        path = tmp_path / "a.mp4"
        assert main(["render", project(tmp_path, seconds=3.0), "--media", str(tmp_path), "-o", str(path)]) == 0
        command = [
            imageio_ffmpeg.get_ffmpeg_exe(),
            "-hide_banner",
            "-i",
            str(path),
            "-af",
            "ebur128",
            "-f",
            "null",
            "-",
        ]
        output = subprocess.run(command, capture_output=True, check=True).stderr.decode()
        integrated = re.findall(r"I:\s+(-?[\d.]+) LUFS", output)[-1]
        assert float(integrated) == pytest.approx(-20.0, abs=0.3)


def test_samples_of_16_bits_are_truncated() -> None:
    values = np.array([[0.25, -0.25, 0.5, -0.5, 1.7, -1.7, 0.999, 1e-5, -1e-5]], np.float32)
    assert pcm16(values)[0].tolist() == [8191, -8192, 16383, -16384, 32767, -32768, 32734, 0, 0]


def test_a_wav_file_is_a_header_of_44_bytes_and_the_samples(tmp_path: Path) -> None:
    blocks = [np.full((30, 2), level, np.float32) for level in (0.25, -0.25)]
    write_wav(tmp_path / "a.wav", iter(blocks))
    stored = (tmp_path / "a.wav").read_bytes()
    assert len(stored) == 44 + 60 * 4
    assert stored[44:] == pcm16(np.concatenate(blocks)).tobytes()
    assert int.from_bytes(stored[40:44], "little") == 60 * 4


@pytest.mark.parametrize("rate", [48_000, 44_100, 22_050])
def test_a_file_is_resampled_once(tmp_path: Path, rate: int) -> None:
    path = write_wave(tmp_path / "a.wav", sine(1000, 1.0, rate=rate), rate)
    found = decoded(path, tmp_path / "raw", 0.0, float("inf"))
    assert found is not None
    assert abs(found.length - RATE) <= 32
    assert np.abs(found.read(0, 40_000)[2000:, 0] - sine(1000, 1.0)[2000:40_000]).max() < 2e-3


def test_a_window_of_a_file_is_kept_at_its_place(tmp_path: Path) -> None:
    samples = np.linspace(0, 0.9, 2 * RATE)
    path = write_wave(tmp_path / "a.wav", samples)
    found = decoded(path, tmp_path / "raw", 0.5, 1.0)
    assert found is not None
    assert found.read(36_000, 10)[:, 0].tolist() == pytest.approx(samples[36_000:36_010].tolist(), abs=1e-4)
    assert (tmp_path / "raw").stat().st_size <= 24_100 * 4


def test_the_delay_of_a_compressed_file_is_left_out(tmp_path: Path) -> None:
    """Q15: encoders start with samples that must not be heard."""
    samples = np.zeros(RATE)
    samples[12_000:12_048] = 0.9
    write_wave(tmp_path / "a.wav", samples)
    for name in ("a.m4a", "a.mp3"):
        decoding.ffmpeg("-i", str(tmp_path / "a.wav"), "-b:a", "192k", str(tmp_path / name))
        found = decoded(tmp_path / name, tmp_path / "raw", 0.0, float("inf"))
        assert found is not None
        heard = np.abs(found.read(0, found.length)[:, 0])
        assert abs(int(np.argmax(heard > 0.4)) - 12_000) <= 60, name


@pytest.mark.parametrize(("name", "rate"), [("a.m4a", 48_000), ("a.m4a", 22_050), ("a.mov", 44_100), ("a.mp3", 44_100)])
def test_the_padding_of_a_compressed_file_is_left_out(tmp_path: Path, name: str, rate: int) -> None:
    """Chromium decodes the same length. A reversed sound starts at the end of the file."""
    write_wave(tmp_path / "a.wav", sine(1000, 1.0))
    decoding.ffmpeg("-i", str(tmp_path / "a.wav"), "-ar", str(rate), str(tmp_path / name))
    for end in (float("inf"), 1.01):
        found = decoded(tmp_path / name, tmp_path / "raw", 0.0, end)
        assert found is not None
        assert abs(found.length - RATE) <= 1


def test_a_sound_is_not_left_out_because_the_disk_is_full(tmp_path: Path) -> None:
    path = write_wave(tmp_path / "a.wav", sine(1000, 1.0))
    with pytest.raises(OSError, match="No space left"):
        decoded(path, Path("/dev/full"), 0.0, float("inf"))


def test_a_long_sound_leaves_space_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, measured = write_wave(tmp_path / "a.wav", sine(1000, 3.0)), shutil.disk_usage
    monkeypatch.setattr(sound_file, "CHECKED_BYTES", 2 * RATE * 4)
    for free, is_refused in ((900_000_000, True), (1_100_000_000, False)):
        usage = measured(tmp_path)._replace(total=20_000_000_000, free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, usage=usage: usage)
        with pytest.raises(OSError, match="No space left") if is_refused else nullcontext():
            assert decoded(path, tmp_path / "scratch", 0.0, float("inf")) is not None
        assert decoded(path, tmp_path / "scratch", 0.0, 1.5) is not None


def test_a_sound_is_not_left_out_because_the_worker_has_no_descriptors(tmp_path: Path) -> None:
    path = write_wave(tmp_path / "a.wav", sine(1000, 1.0))
    for read in (partial(decoded, path, tmp_path / "raw", 0.0, 1.0), partial(stated_seconds, path)):
        with descriptors_left(0), pytest.raises(OSError, match="Too many open files"):
            read()


def test_a_file_without_sound_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"no sound at all")
    assert decoded(tmp_path / "a.wav", tmp_path / "raw", 0.0, 1.0) is None


def test_sound_in_too_many_pieces_is_left_out_and_reported(tmp_path: Path) -> None:
    """A curved remap has one piece for each frame of its composition."""
    remap = {"timeRemap": {"keyframes": [{"t": 0, "value": 0, "easing": "easeIn"}, {"t": 700, "value": 1400}]}}
    doc = document(layer("v", __kind="video", src="https://media.example/a.mp4"), seconds=700.0, v=remap)
    found = JobSound(doc, build(doc), lambda src: None, tmp_path, range(21_000), 30.0)
    assert not found.is_heard
    assert [notice.code for notice in of_lines(found.warnings)] == ["sound_not_rendered"]


class TestShownInPictures:
    @pytest.fixture
    def analysed(self, tmp_path: Path) -> Iterator[AnalysedSounds]:
        sounds = AnalysedSounds(lambda src: tmp_path / src, lambda src: f"Layer “{src}”")
        yield sounds
        sounds.close()

    def test_an_envelope_holds_the_peaks_of_equal_parts_of_the_file(
        self, tmp_path: Path, analysed: AnalysedSounds
    ) -> None:
        write_wave(tmp_path / "a.wav", np.repeat([0.0, 0.2, -0.9, 0.1], RATE // 4))
        found = analysed.envelope("a.wav")
        assert found is not None
        assert found.seconds == 1.0
        assert [found.peaks[part] for part in (0, 255, 256, 600, 1023)] == pytest.approx(
            [0, 0, 0.2, 0.9, 0.1], abs=1e-3
        )

    def test_a_spectrum_is_silent_outside_of_the_file(self, tmp_path: Path, analysed: AnalysedSounds) -> None:
        write_wave(tmp_path / "a.wav", np.full(RATE, 0.5))
        weights, lowest = np.hanning(1024), []
        for first in (0, RATE - 100, RATE + 1, -1):
            found = analysed.magnitudes("a.wav", first)
            assert found is not None
            lowest.append(found[0])
        assert lowest == pytest.approx([0.5 * weights.sum(), 0.5 * weights[:100].sum(), 0, 0], rel=1e-3)

    def test_a_sound_that_cannot_be_decoded_is_reported_once(self, tmp_path: Path, analysed: AnalysedSounds) -> None:
        (tmp_path / "text.wav").write_text("no sound")
        for _ in range(2):
            assert analysed.envelope("gone.wav") is None
            assert analysed.magnitudes("text.wav", 0) is None
        assert [notice.code for notice in of_lines(analysed.warnings)] == ["media_missing", "media_undecodable"]

    @pytest.mark.gl
    @pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")
    def test_a_waveform_and_a_spectrum_follow_the_sound(self, tmp_path: Path) -> None:
        write_wave(tmp_path / "tone.wav", np.concatenate([np.zeros(RATE // 2), sine(1000, 0.5, level=0.9)]))
        path = Path(project(tmp_path))
        stored = json.loads(path.read_text())
        waveform = {"sourceLayerId": "tone", "mode": "playhead-window", "windowSec": 0.1}
        bars = {"id": "e", "type": "audio-spectrum", "params": {"audioLayerId": "tone", "bands": 4, "maxHeight": 40}}
        square = next(node for node in stored["scene"]["nodes"] if node["id"] == "square")
        for name, fx in (("waveform", {"audioWaveform": waveform}), ("spectrum", {"effects": [bars]})):
            square["components"].append({"id": "fx", "type": "fx", "props": fx})
            path.write_text(json.dumps(stored))
            square["components"].pop()
            output = tmp_path / f"{name}.mp4"
            assert main(["render", str(path), "--media", str(tmp_path), "--no-audio", "-o", str(output)]) == 0
            frames = [frame.astype(int) for frame in decoding.video(output, 160, 90)]
            assert np.abs(frames[3] - frames[10]).max() < 12, name
            assert (np.abs(frames[20] - frames[10]).max(axis=2) > 50).sum() > 100, name
