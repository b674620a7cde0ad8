"""Small sound files that claim to last for weeks, take minutes to open, or whose sample rate makes one packet gigabytes large."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import av
import numpy as np
import pytest

from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker_port import SegmentMaker
from cluster.worker.sound_watch import SoundSteps, SoundWatch
from cluster.worker.task_runner import TaskRunner
from farm_core.assets.inspection import kind_at
from farm_core.errors import BadRequest
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.jobs.receipt import RenderedJob
from farm_core.progress.writer import ProgressWriter
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from gpu_renderer import sound
from gpu_renderer.content.media.sound_file import decoded
from gpu_renderer.sound import AnalysedSounds, JobSound
from motion.build import build
from motion.notices import of_lines
from scheduler.ports import AssemblyAssignment, Ended, VideoFormat
from tests.api import media
from tests.gpu_renderer.documents import Record, document, layer
from tests.gpu_renderer.test_sound import RATE, sine, write_wave
from tests.patience import HANG_SECONDS

INFINITE = float("inf")


def with_gap(path: Path, hours: float) -> Path:
    """Write a WebM with two bursts of noise that are hours apart."""
    rng = np.random.default_rng(5)
    with av.open(str(path), "w", format="webm") as container:
        stream = container.add_stream("libopus", rate=RATE)
        stream.layout = "mono"
        for index in range(40):
            samples = rng.uniform(-0.5, 0.5, (1, 960)).astype(np.float32)
            frame = av.AudioFrame.from_ndarray(samples, format="flt", layout="mono")
            frame.sample_rate, frame.pts = RATE, index * 960
            for packet in stream.encode(frame):
                late = round(hours * 3600 / packet.time_base) if index > 20 else 0
                packet.pts, packet.dts = packet.pts + late, packet.dts + late
                container.mux(packet)
    return path


def test_a_gap_of_hours_takes_neither_memory_nor_space(tmp_path: Path) -> None:
    path, scratch = with_gap(tmp_path / "a.webm", 9), tmp_path / "scratch"
    found = decoded(path, scratch, 0.0, INFINITE)
    assert found is not None
    assert found.length > 9 * 3600 * RATE
    assert scratch.stat().st_blocks * 512 < 1 << 20
    loudest = [float(np.abs(found.read(at, 10_000)).max()) for at in (5_000, 3600 * RATE, 9 * 3600 * RATE + 25 * 960)]
    assert (loudest[0] > 0.3, loudest[1], loudest[2] > 0.3) == (True, 0.0, True)


def test_a_gap_of_weeks_is_silence_within_the_window(tmp_path: Path) -> None:
    found = decoded(with_gap(tmp_path / "a.webm", 800), tmp_path / "scratch", 0.0, 5.0)
    assert found is not None
    assert 5.0 <= found.length / RATE < 5.1


def test_a_sound_of_a_sample_a_second_is_none(tmp_path: Path) -> None:
    channels, samples = 64, bytes(64 * 4000)
    form = struct.pack("<IHHIIHH", 16, 1, channels, 1, channels, channels, 8)
    body = b"WAVEfmt " + form + b"data" + struct.pack("<I", len(samples)) + samples
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    assert decoded(path, tmp_path / "scratch", 0.0, 5.0) is None


def test_pictures_show_so_much_sound_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "ANALYSED_SECONDS_MAX", 1.5)
    for name in "abc":
        write_wave(tmp_path / name, sine(1000, 1.0))
    analysed = AnalysedSounds(lambda src: tmp_path / src, lambda src: f"Layer “{src}”")
    envelopes = [analysed.envelope(name) for name in "abc"]
    assert [None if one is None else round(one.seconds, 3) for one in envelopes] == [1.0, 0.5, None]
    assert [(notice.code, notice.layer) for notice in of_lines(analysed.warnings)] == [("media_undecodable", "c")]
    analysed.close()


def test_a_mix_holds_so_much_sound_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "MIXED_SECONDS_MAX", 2.5)
    layers = [voice(name, str(write_wave(tmp_path / f"{name}.wav", sine(1000, 1.2)))) for name in "abc"]
    doc = document(*layers, seconds=2.0)
    mixed = JobSound(doc, build(doc), Path, tmp_path, range(60), 30.0)
    assert mixed.is_heard
    (refused,) = of_lines(mixed.warnings)
    assert refused.code == "sound_not_rendered"
    assert "c.wav" in refused.message


def test_a_sound_that_states_to_be_too_long_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound, "MIXED_SECONDS_MAX", 500.0)
    layers = [voice("a", str(write_wave(tmp_path / "a.wav", np.zeros((600 * RATE, 1)))))]
    doc = document(*layers, seconds=590.0)
    monkeypatch.setattr(sound, "decoded", lambda *_: pytest.fail("it is decoded"))
    mixed = JobSound(doc, build(doc), Path, tmp_path, range(590 * 30), 30.0)
    assert not mixed.is_heard
    assert [notice.code for notice in of_lines(mixed.warnings)] == ["sound_not_rendered"]
    assert not list(tmp_path.glob("*.f32"))


def tagged(count: int) -> bytes:
    """Return an MP3 of one second with different tags. The library compares each tag with all those before it."""

    def sized(number: int) -> bytes:
        return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))

    contents = (f"\0\0\0{number:06}\0x".encode() for number in range(count))
    tags = b"".join(b"TXXX" + sized(len(content) - 2) + content for content in contents)
    return b"ID3\x04\0\0" + sized(len(tags)) + tags + media.sound("mp3", "libmp3lame")


def described(count: int) -> bytes:
    """Return a WAV file with different tags."""
    tags = b"".join(struct.pack("<4sI", f"{number:04x}".encode(), 2) + b"x\0" for number in range(count))
    whole = media.sound("wav", "pcm_s16le")
    return whole[:12] + struct.pack("<4sI4s", b"LIST", 4 + len(tags), b"INFO") + tags + whole[12:]


@pytest.mark.parametrize(("kind", "of_tags"), [("audio/mpeg", tagged), ("audio/wav", described)])
def test_a_sound_with_more_tags_than_any_real_one_is_refused(
    kind: str, of_tags: Callable[[int], bytes], tmp_path: Path
) -> None:
    """Each time that a worker opened a file of 20,000 tags, it did nothing else for seconds."""
    path = tmp_path / "a"
    path.write_bytes(of_tags(900))
    assert kind_at(str(path), None) == kind
    path.write_bytes(of_tags(1_100))
    with pytest.raises(BadRequest, match=r"it has 1,10\d tags, such as titles and comments; at most 1,000 can be read"):
        kind_at(str(path), None)


@pytest.mark.parametrize("count", [10, 25_000])
def test_an_assembly_whose_sound_file_takes_too_long_to_open_fails_with_its_worker(count: int, tmp_path: Path) -> None:
    """No other account could use the worker, and nothing ended it: a file of 20 MB took hours."""
    storage = LocalStorage(tmp_path / "storage", Links(b"s" * 32))
    storage.put_bytes("frozen/a.json", json.dumps(document(voice("a", "a.mp3"))).encode())
    storage.put_bytes("media/a.mp3", tagged(count))
    runner = TaskRunner("w", cast(SegmentMaker, None), storage, tmp_path)
    thread = RenderThread(lambda: runner, ProgressWriter(None))
    failure = Failure(FailureKind.stall, "too slow")
    watch = SoundWatch(
        lambda: thread.runner().sound_steps, 2.0, lambda: thread.fail_active(failure), every_seconds=0.01
    )
    video = VideoFormat(160, 90, 30, 30, None, 1.0, has_sound=True)
    job = RenderedJob("j", "r", 160, 90, 30, 30, "frozen/a.json", {}, {}, ())
    assembly = AssemblyAssignment(
        "t", "t", "j", (), video, "a.mp4", job, document_key="frozen/a.json", media={"a.mp3": "media/a.mp3"}
    )
    report = thread.submit(assembly).result(HANG_SECONDS)
    thread.join()
    watch.close()
    assert isinstance(report, Ended)  # without segments, there is nothing to join in either case
    assert (report.failure == failure, report.worker_ends) == ((True, True) if count > 10 else (False, False))


def test_the_time_of_other_assignments_in_a_pause_is_no_step_of_reading_sound() -> None:
    steps, measured = SoundSteps(), list[float]()
    with steps.reading(lambda: measured.append(steps.seconds)) as between_steps:
        time.sleep(0.01)
        measured.append(steps.seconds)
        between_steps()
        assert steps.seconds < measured[0]
    between_steps()  # the mix still pauses
    assert (measured[0] >= 0.01, measured[1:], steps.seconds) == (True, [0.0, 0.0], 0.0)


def voice(name: str, source: str) -> Record:
    made: Record = layer(name, __kind="audio")
    made["components"].append({"id": f"{name}-a", "type": "Audio", "props": {"__assetId": name, "__src": source}})
    return made
