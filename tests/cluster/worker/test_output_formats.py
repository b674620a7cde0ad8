"""A worker renders segments and videos of every format, with sound, through the farm's storage."""

from __future__ import annotations

import hashlib
import io
import json
import wave
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from threading import Barrier, Event
from typing import Any, Final

import numpy as np
import pytest
from PIL import Image

from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker import task_runner
from cluster.worker.task_runner import TaskRunner
from farm_core.formats import OUTPUT_FORMATS
from farm_core.jobs.judge import FailureKind
from farm_core.jobs.receipt import RenderedJob
from farm_core.progress.writer import ProgressWriter
from farm_core.settings import ROOT, Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.progress import Callbacks
from scheduler.ports import AssemblyAssignment, Ended, Finished, SegmentAssignment, VideoFormat
from tests.gpu_renderer import decoding
from tests.gpu_renderer.documents import Record, document, layer, track
from tests.patience import HANG_SECONDS

SOUND = "https://media.example/tone.wav"
MEDIA: Final = {SOUND: "media/tone.wav"}
Farm = tuple[TaskRunner, LocalStorage]
OF_SEGMENTS: Final[Mapping[str, Any]] = {"width": 162, "height": 92, "fps": 25, "format": "mov", "transparent": True}
OF_FRAMES_OR_SOUND: Final = {"frame_count", "composition_id", "duration_seconds", "has_sound", "still_scale"}
"""Fields of a video format that change only its frames, which have their own keys, its sound, or its stills."""


def test_the_farm_and_the_renderer_know_the_same_formats() -> None:
    known = {
        name: (
            file_format.ending,
            file_format.media_type,
            file_format.has_alpha,
            file_format.sound is not None,
            file_format.fps_max,
        )
        for name, file_format in FORMATS.items()
    }
    assert known == {
        name: (
            output_format.ending,
            output_format.media_type,
            output_format.has_alpha,
            output_format.has_sound,
            output_format.fps_max,
        )
        for name, output_format in OUTPUT_FORMATS.items()
    }


def with_sound() -> Record:
    sound: Record = layer("tone", __kind="audio")
    props = {"__assetId": "a", "__src": SOUND, "__duration": 1}
    sound["components"].append({"id": "tone-a", "type": "Audio", "props": props})
    return document(layer("square"), sound, square=track("x", (0, 30), (1, 130)), seconds=1.0)


def tone() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        samples = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(48_000) / 48_000)
        file.writeframes((samples * 32767).astype("<i2").tobytes())
    return buffer.getvalue()


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    settings = Settings(data_folder=tmp_path, encoder="libx264", jwt_secret="s" * 32)
    storage = LocalStorage(tmp_path / "storage", Links(b"s" * 32))
    storage.put_bytes("frozen/a.json", json.dumps(with_sound()).encode())
    storage.put_bytes("media/tone.wav", tone())
    yield task_runner("w0", settings, tmp_path / "scratch", raster_threads=0), storage


def video_of(name: str, *, transparent: bool = False, has_sound: bool = True) -> VideoFormat:
    return VideoFormat(160, 90, 30, 30, None, 1.0, name, transparent, has_sound)


def rendered_segments(farm: Farm, video: VideoFormat) -> tuple[str, ...]:
    """Render the document in a format, in three segments; return their keys."""
    keys = []
    for first, count in ((0, 10), (10, 10), (20, 10)):
        assignment = SegmentAssignment("t", f"s{first}", "j", "frozen/a.json", MEDIA, video, first, count)
        done = farm[0].execute(assignment)
        assert isinstance(done, Finished)
        keys.append(done.key)
    return tuple(keys)


def assembly_of(segments: tuple[str, ...], video: VideoFormat, job_id: str) -> AssemblyAssignment:
    key = f"results/{job_id}{OUTPUT_FORMATS[video.format].ending}"
    job = rendered_job(segments, job_id)
    return AssemblyAssignment("t", job_id, job_id, segments, video, key, job, document_key="frozen/a.json", media=MEDIA)


def rendered_job(segments: tuple[str, ...], job_id: str) -> RenderedJob:
    made = [{"firstFrame": 10 * index, "frames": 10, "key": key} for index, key in enumerate(segments)]
    return RenderedJob(job_id, "r", 160, 90, 30, 30, "frozen/a.json", {"title": "A"}, MEDIA, made)


def with_facts(job: RenderedJob, *facts: Record) -> RenderedJob:
    """Return the job with facts about its segments: one for all, or one for each."""
    each = facts if len(facts) > 1 else facts * len(job.segments)
    return replace(job, segments=[{**one, **more} for one, more in zip(job.segments, each, strict=True)])


def lost_segments(report: Finished | Ended) -> tuple[str, ...]:
    """Return the segments that the assembly asks for again. Its attempt counts, and the worker is not to blame."""
    assert isinstance(report, Ended), report
    assert not report.missing or report.failure.kind is FailureKind.missing
    return report.missing


def render_video(
    farm: Farm, folder: Path, name: str, *, transparent: bool = False, has_sound: bool = True
) -> tuple[Path, Finished]:
    """Render the document in a format, in three segments; return the file and the assembly's report."""
    runner, storage = farm
    video = video_of(name, transparent=transparent, has_sound=has_sound)
    done = runner.execute(assembly_of(rendered_segments(farm, video), video, "j"))
    assert isinstance(done, Finished), done
    assert storage.describe(done.key).content_type == OUTPUT_FORMATS[name].media_type
    path = folder / f"j{OUTPUT_FORMATS[name].ending}"
    storage.get_file(done.key, path)
    return path, done


@pytest.mark.gl
@pytest.mark.skipif(not (ROOT / ".fonts").is_dir(), reason="no font folder")
class TestWorkers:
    def test_segments_of_other_outputs_have_other_keys(self, farm: Farm) -> None:
        video = VideoFormat(160, 90, 30, 30, None, 1.0, "webm")
        assert {field.name for field in fields(VideoFormat)} == OF_SEGMENTS.keys() | OF_FRAMES_OR_SOUND
        keys = set()
        for changed in ({}, *({name: value} for name, value in OF_SEGMENTS.items())):
            assignment = SegmentAssignment("t", "s", "j", "frozen/a.json", {}, replace(video, **changed), 0, 1)
            done = farm[0].execute(assignment)
            assert isinstance(done, Finished)
            assert not done.cached
            keys.add(done.key)
        assert len(keys) == 1 + len(OF_SEGMENTS)

    @pytest.mark.parametrize("name", ["mp4", "mp4-h265", "mp4-av1", "webm", "mov"])
    def test_videos_have_pictures_and_sound(self, farm: Farm, tmp_path: Path, name: str) -> None:
        path, done = render_video(farm, tmp_path, name)
        assert len(decoding.video(path, 160, 90)) == 30
        found = decoding.sound(path)[4800:43_200, 0]
        assert float(np.argmax(np.abs(np.fft.rfft(found))) * 48_000 / len(found)) == pytest.approx(1000, abs=2)
        assert done.warnings == ()

    def test_a_receipt_with_the_hashes_of_segments_and_video_lies_beside_the_video(
        self, farm: Farm, tmp_path: Path
    ) -> None:
        path, done = render_video(farm, tmp_path, "mp4")
        proof = json.loads(farm[1].get_bytes("results/j.json"))
        hashes = [hashlib.sha256(farm[1].get_bytes(part["key"])).hexdigest() for part in proof["segments"]]
        assert [part["sha256"] for part in proof["segments"]] == hashes
        video = path.read_bytes()
        assert proof["video"] == {"sha256": hashlib.sha256(video).hexdigest(), "bytes": len(video)}
        assert (proof["video"]["sha256"], proof["jobId"], proof["inputs"]) == (done.sha256, "j", {"title": "A"})

    def test_a_video_whose_receipt_cannot_be_stored_is_not_finished_until_another_attempt_stores_both(
        self, farm: Farm, tmp_path: Path
    ) -> None:
        runner, storage = farm
        assembly = assembly_of(rendered_segments(farm, video_of("mp4")), video_of("mp4"), "j")
        in_the_way = tmp_path / "storage" / "objects" / "results" / "j.json"
        in_the_way.mkdir(parents=True)
        failed = runner.execute(assembly)
        assert isinstance(failed, Ended)
        assert failed.failure.kind == FailureKind.store
        in_the_way.rmdir()
        done = runner.execute(assembly)
        assert isinstance(done, Finished), done
        assert json.loads(storage.get_bytes("results/j.json"))["video"]["sha256"] == done.sha256

    def test_by_default_an_mp4_is_silent(self, farm: Farm, tmp_path: Path) -> None:
        path, _ = render_video(farm, tmp_path, "mp4", has_sound=False)
        assert "Audio:" not in decoding.streams(path)

    @pytest.mark.parametrize("name", ["webm", "mov"])
    def test_alpha_holds_across_segments(self, farm: Farm, tmp_path: Path, name: str) -> None:
        path, _ = render_video(farm, tmp_path, name, transparent=True)
        frames = decoding.video(path, 160, 90)
        assert (frames[:, :20, :20, 3] <= 2).all()
        assert all(frames[index, 45, 30 + round(index / 30 * 100), 3] >= 253 for index in range(30))

    @pytest.mark.parametrize("name", ["gif", "webp"])
    def test_animations_are_made_of_lossless_segments(self, farm: Farm, tmp_path: Path, name: str) -> None:
        path, _ = render_video(farm, tmp_path, name, transparent=True)
        frames = decoding.animation(path)
        assert len(frames) == 30
        assert (frames[:, :20, :20, 3] == 0).all()

    def test_a_sequence_is_an_archive_with_sound(self, farm: Farm, tmp_path: Path) -> None:
        path, _ = render_video(farm, tmp_path, "png-sequence", transparent=True)
        archive = zipfile.ZipFile(path)
        assert archive.namelist() == [*(f"frame_{index:04d}.png" for index in range(30)), "audio.wav"]
        assert np.asarray(Image.open(io.BytesIO(archive.read("frame_0012.png"))))[5, 5, 3] == 0

    def test_segments_of_other_formats_are_other_segments(self, farm: Farm, tmp_path: Path) -> None:
        runner, _ = farm
        keys = set()
        for name, transparent in (("mp4", False), ("webm", False), ("webm", True)):
            video = VideoFormat(160, 90, 30, 30, None, 1.0, name, transparent)
            done = runner.execute(SegmentAssignment("t", "s", "j", "frozen/a.json", {}, video, 0, 5))
            assert isinstance(done, Finished)
            keys.add(done.key)
        assert len(keys) == 3

    def test_sound_that_is_missing_is_reported_with_the_file(self, farm: Farm, tmp_path: Path) -> None:
        runner, _ = farm
        video = VideoFormat(160, 90, 30, 5, None, 1.0, "mp4", False, True)
        segment = runner.execute(SegmentAssignment("t", "s", "j", "frozen/a.json", {}, video, 0, 5))
        assert isinstance(segment, Finished)
        job = rendered_job((segment.key,), "j")
        assembly = AssemblyAssignment(
            "t", "a", "j", (segment.key,), video, "results/j.mp4", job, document_key="frozen/a.json"
        )
        done = runner.execute(assembly)
        assert isinstance(done, Finished)
        assert done.warnings == (f"There is nothing at {SOUND}: its sound is not rendered.",)

    @pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda _: b""], ids=["cut off", "empty"])
    def test_cached_segments_that_cannot_be_joined_are_rendered_again(
        self, farm: Farm, tmp_path: Path, damage: Callable[[bytes], bytes]
    ) -> None:
        """Each render of the same frames failed until the segment left the cache, and workers and accounts were blamed for it."""
        path, _ = render_video(farm, tmp_path, "mp4")
        runner, storage = farm
        video = video_of("mp4")
        segments = rendered_segments(farm, video)
        storage.put_bytes(segments[1], damage(storage.get_bytes(segments[1])))
        cached = assembly_of(segments, video, "k")
        cached = replace(cached, rendered_job=with_facts(cached.rendered_job, {"cached": True}))
        assert lost_segments(runner.execute(cached)) == segments
        assert rendered_segments(farm, video) == segments
        done = runner.execute(assembly_of(segments, video, "k"))
        assert isinstance(done, Finished), done
        assert storage.get_bytes(done.key) == path.read_bytes()

    def test_a_segment_that_is_no_longer_what_was_rendered_is_rendered_again(self, farm: Farm) -> None:
        """A changed byte became a damaged frame of the video."""
        runner, storage = farm
        video = video_of("mp4")
        segments = rendered_segments(farm, video)
        hashes = [hashlib.sha256(storage.get_bytes(key)).hexdigest() for key in segments]
        data = bytearray(storage.get_bytes(segments[2]))
        data[-1] ^= 1
        storage.put_bytes(segments[2], bytes(data))
        assembly = assembly_of(segments, video, "k")
        assembly = replace(
            assembly, rendered_job=with_facts(assembly.rendered_job, *({"sha256": one} for one in hashes))
        )
        assert lost_segments(runner.execute(assembly)) == segments[2:]
        assert rendered_segments(farm, video) == segments
        assert isinstance(runner.execute(assembly), Finished)

    def test_a_cached_segment_that_has_changed_since_an_equal_video_is_rendered_again(self, farm: Farm) -> None:
        """The finished video, which equal jobs of all accounts share, was overwritten with a damaged one."""
        runner, storage = farm
        video = video_of("mp4")
        segments = rendered_segments(farm, video)
        assembly = assembly_of(segments, video, "k")
        done = runner.execute(assembly)
        assert isinstance(done, Finished)
        finished = storage.get_bytes(done.key)
        data = bytearray(storage.get_bytes(segments[1]))
        data[-1] ^= 1
        storage.put_bytes(segments[1], bytes(data))
        cached = replace(assembly, rendered_job=with_facts(assembly.rendered_job, {"cached": True}))
        assert lost_segments(runner.execute(cached)) == segments[1:2]
        assert storage.get_bytes(done.key) == finished
        assert rendered_segments(farm, video) == segments
        assert isinstance(runner.execute(cached), Finished)

    def test_fresh_segments_that_cannot_be_joined_are_not_rendered_again(self, farm: Farm) -> None:
        """Otherwise a job that no worker can join would never end."""
        runner, _ = farm
        assembly = assembly_of(rendered_segments(farm, video_of("mp4")), video_of("mp4"), "k")
        assembly = replace(assembly, video_format=replace(assembly.video_format, frame_count=31))
        assert isinstance(runner.execute(assembly), Ended)
        assert lost_segments(runner.execute(assembly)) == ()

    def test_an_assembly_reads_segments_at_once(self, farm: Farm, tmp_path: Path) -> None:
        """A bucket answers a request after some milliseconds. One after another, the segments of a long job took seconds."""
        path, _ = render_video(farm, tmp_path, "mp4")
        segments, together = rendered_segments(farm, video_of("mp4")), Barrier(2)

        class Bucket(LocalStorage):
            def get_file(self, key: str, path: Path) -> None:
                if key in segments[1:]:
                    together.wait(HANG_SECONDS)
                super().get_file(key, path)

        runner = TaskRunner(
            "w1", farm[0].maker, Bucket(tmp_path / "storage", Links(b"s" * 32)), tmp_path / "scratch" / "w1"
        )
        done = runner.execute(assembly_of(segments, video_of("mp4"), "k"))
        assert isinstance(done, Finished), done
        assert farm[1].get_bytes("results/k.mp4") == path.read_bytes()

    @pytest.mark.parametrize("name", ["mp4", "gif"])
    def test_an_assembly_lets_others_run_between_its_steps(
        self, farm: Farm, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An hour of a thousand voices takes most of an hour to mix. Segments, stills and assemblies of all waited for its end."""
        monkeypatch.setattr("cluster.worker.task_runner.PAUSES_SECONDS", 0.0)
        path, _ = render_video(farm, tmp_path, name)
        runner, storage = farm
        video = video_of(name)
        segments = rendered_segments(farm, video)
        asked: list[str] = []

        def other_turn() -> bool:
            asked.append("outer")
            if len(asked) == 3:
                inner = runner.execute(assembly_of(segments, video, "inner"))
                assert isinstance(inner, Finished), inner
            return False

        outer = runner.execute(assembly_of(segments, video, "outer"), Callbacks(should_stop=other_turn))
        assert isinstance(outer, Finished), outer
        assert len(asked) > 5
        ending = OUTPUT_FORMATS[name].ending
        assert all(storage.get_bytes(f"results/{one}{ending}") == path.read_bytes() for one in ("inner", "outer"))

        stops_third = Callbacks(should_stop=iter([False, False, True]).__next__)
        stopped = runner.execute(assembly_of(segments, video, "stopped"), stops_third)
        assert isinstance(stopped, Ended)
        assert stopped.failure.public_message == "The render was stopped."
        assert not list((tmp_path / "scratch").glob("assembly*"))

    def test_assemblies_of_two_accounts_take_turns_on_one_worker(
        self, farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cluster.worker.task_runner.PAUSES_SECONDS", 0.0)
        monkeypatch.setattr("cluster.worker.turns.SLICE_SECONDS", 0.0)
        path, _ = render_video(farm, tmp_path, "mp4")
        segments, scratch, submitted, begun = rendered_segments(farm, video_of("mp4")), tmp_path / "w1", Event(), [0]

        def make() -> TaskRunner:
            assert submitted.wait(HANG_SECONDS)
            return TaskRunner("w1", farm[0].maker, farm[1], scratch)

        def may_pause(_: TaskRunner) -> bool:
            begun.append(len(list(scratch.glob("assembly-*"))))
            return True

        thread = RenderThread(make, ProgressWriter(None), may_pause=may_pause)
        results = [
            thread.submit(replace(assembly_of(segments, video_of("mp4"), f"j{name}"), account_id=name)) for name in "ab"
        ]
        submitted.set()
        thread.join()
        assert max(begun) == 2
        done = [result.result() for result in results]
        assert [isinstance(one, Finished) and farm[1].get_bytes(one.key) == path.read_bytes() for one in done] == [
            True
        ] * 2
