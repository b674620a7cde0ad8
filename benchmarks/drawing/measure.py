"""One scene at one size: the pipeline's speed, and that of encoding the same frames alone, in turns in one process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import av

from benchmarks.drawing.footage import footage
from benchmarks.drawing.memory import peak_rss_mb_of_process
from benchmarks.drawing.plain_encoder import PlainEncoder
from benchmarks.drawing.scenes import FOOTAGE, RESIZED, RESIZED_SIZE, SCENES
from gpu_renderer.commands.options import FONTS, ROOT
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.encode.planes import PlaneLayout, encoder_frame, layout
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.encode.segments import SegmentWriter
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.geometry import damage
from gpu_renderer.pipeline import PipelineOptions, ring_to_memory
from gpu_renderer.session import OpenDocument, Output, RenderSession, SessionOptions
from motion.bundle import read_value

MEDIA = ROOT / "out" / "bench-media"
CASE_SECONDS_MAX = 900
FURTHER_SEGMENTS = 2
"""Segments that are rendered before memory is read, to include what a process keeps between segments."""


@dataclass(frozen=True, slots=True)
class Case:
    """Options of a measurement. `frames` from the scene's first on; `rounds` of pipeline and baselines in turns, the best counts.

    Without `beside_encoding` there are no baselines and no exact stages: their figures are 0.
    """

    scene: str
    width: int
    height: int
    frames: int
    rounds: int = 2
    encoder: EncoderProfile | None = None
    pipeline: PipelineOptions = field(default_factory=PipelineOptions)
    drawing: Optimisations = field(default_factory=Optimisations)
    beside_encoding: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """Result of a measurement. Times are milliseconds a frame; shares are fps over encoding the same frames alone.

    `alone_fps` is encoding as PyAV does it by default (`plain_encoder.py`), `same_alone_fps` as the pipeline does it.
    """

    scene: str
    size: str
    frames: int
    fps: float
    cpu_ms: float
    """Processor time of all threads, which other processes on the machine disturb least."""
    alone_fps: float
    limit_share: float
    same_alone_fps: float
    same_share: float
    converted_frames: int
    repeat_frames: int
    stage_ms: dict[str, float]
    exact_stage_ms: dict[str, float]
    first_frame_ms: float
    peak_rss_mb: float
    renderer: str
    encoder: str


def measured(case: Case) -> Measured:
    """Measure in a process of its own, so that memory and warmth are the case's; footage is made before."""
    video_of(case)
    words = [sys.executable, "-m", "benchmarks.drawing.measure", json.dumps(asdict(case))]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=CASE_SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{case.scene} at {case.width}x{case.height} failed:\n{done.stderr[-2000:]}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def measured_here(case: Case) -> Measured:
    """Measure in this process."""
    options = SessionOptions(
        fonts=FontFolders(FONTS), encoder=case.encoder, drawing=case.drawing, pipeline=case.pipeline
    )
    video = video_of(case)
    with RenderSession(options) as session, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "segment.mp4"
        first_frame_ms = _first_frame_ms(session, case, video)
        with _opened(session, case, video) as opened:
            frames = min(case.frames, opened.frame_count)
            reports = [session.render_segment(opened, 0, frames, path)]
            cpu_ms: list[float] = []
            for _ in range(FURTHER_SEGMENTS):
                session.render_segment(opened, 0, min(frames, 30), path)
            peak_rss_mb = peak_rss_mb_of_process()
            pictures = _pictures(session, opened, frames) if case.beside_encoding else []
            alone, same_alone = [0.0], [0.0]
            for _ in range(case.rounds):
                started = time.process_time()
                reports.append(session.render_segment(opened, 0, frames, path))
                cpu_ms.append((time.process_time() - started) / frames * 1000.0)
                if case.beside_encoding:
                    same_alone.append(_encode_alone(session, opened, pictures, path))
                    alone.append(_encode_plainly(opened, pictures, path))
        del pictures
        exact = _exact_stages(session, case, video, frames, path) if case.beside_encoding else {}
        best = min(reports, key=lambda report: report.wall_ms)
        fps = frames / best.wall_ms * 1000.0
        return Measured(
            scene=case.scene,
            size=f"{case.width}x{case.height}",
            frames=frames,
            fps=round(fps, 1),
            cpu_ms=round(min(cpu_ms), 3),
            alone_fps=round(max(alone), 1),
            limit_share=round(fps / max(alone), 3) if case.beside_encoding else 0.0,
            same_alone_fps=round(max(same_alone), 1),
            same_share=round(fps / max(same_alone), 3) if case.beside_encoding else 0.0,
            converted_frames=best.converted_frames,
            repeat_frames=best.repeat_frames,
            stage_ms={name: round(ms / frames, 3) for name, ms in best.stage_ms.items()},
            exact_stage_ms=exact,
            first_frame_ms=round(first_frame_ms, 1),
            peak_rss_mb=round(peak_rss_mb, 0),
            renderer=session.identity.gpu.renderer,
            encoder=session.profile.identity,
        )


def video_of(case: Case) -> Path | None:
    """Return the footage that the scene shows, at the size at which it is shown or at its own."""
    document = json.dumps(SCENES[case.scene].document())
    if RESIZED in document:
        return footage(MEDIA, *RESIZED_SIZE)
    if FOOTAGE not in document:
        return None
    is_upright = case.height > case.width
    return footage(MEDIA, case.width, round(case.width * 9 / 16) // 2 * 2 if is_upright else case.height)


def _opened(session: RenderSession, case: Case, video: Path | None) -> OpenDocument:
    document = read_value(SCENES[case.scene].document())
    return session.open(
        document, Output(case.width, case.height), lambda src: video if src in {FOOTAGE, RESIZED} else None
    )


def _first_frame_ms(session: RenderSession, case: Case, video: Path | None) -> float:
    """Return the milliseconds to open a job and draw its first frame on a warm session."""
    with _opened(session, case, video) as opened:
        session.still(opened, 0)
    started = time.perf_counter()
    with _opened(session, case, video) as opened:
        session.still(opened, 0)
        return (time.perf_counter() - started) * 1000.0


def _pictures(session: RenderSession, opened: OpenDocument, frames: int) -> list[av.VideoFrame]:
    """Return the converted frames in memory; unchanged ones are the same object, as in the pipeline."""
    of: PlaneLayout = layout(opened.width, opened.height)
    ring = ring_to_memory(session.painter, opened, of, PipelineOptions(readback_depth=1))
    pictures: list[av.VideoFrame] = []
    for index in range(frames):
        picture = opened.draw(opened.evaluate(index))
        if index and picture.changed.is_empty:
            pictures.append(pictures[-1])
            continue
        ring.put(picture.frame, damage.whole(picture.frame.region), encoder_frame(of), picture.passthrough)
        pictures.append(ring.collect())
    ring.close()
    return pictures


def _encode_alone(session: RenderSession, opened: OpenDocument, pictures: list[av.VideoFrame], path: Path) -> float:
    """Return the frames per second of the same encoder and file format without drawing."""
    of = layout(opened.width, opened.height)
    started = time.perf_counter()
    with SegmentWriter(path, session.profile, of.coded_width, of.coded_height, opened.fps) as writer:
        for picture in pictures:
            writer.write(picture)
        writer.close()
    return len(pictures) / (time.perf_counter() - started)


def _encode_plainly(opened: OpenDocument, pictures: list[av.VideoFrame], path: Path) -> float:
    """Return the frames per second of the limit that other tools were measured against."""
    of = layout(opened.width, opened.height)
    started = time.perf_counter()
    with PlainEncoder(path, of.coded_width, of.coded_height, round(opened.fps)) as encoder:
        for picture in pictures:
            encoder.write(picture)
    return len(pictures) / (time.perf_counter() - started)


def _exact_stages(session: RenderSession, case: Case, video: Path | None, frames: int, path: Path) -> dict[str, float]:
    """Milliseconds a frame of each stage when each waits for the GPU; over a part of the frames."""
    session.options = replace(session.options, pipeline=replace(case.pipeline, timed_exactly=True))
    count = min(frames, 90)
    with _opened(session, case, video) as opened:
        report = session.render_segment(opened, 0, count, path)
    return {name: round(ms / count, 3) for name, ms in report.stage_ms.items()}


def _case(record: dict[str, Any]) -> Case:
    encoder = EncoderProfile(**record.pop("encoder")) if record["encoder"] else record.pop("encoder")
    pipeline, drawing = PipelineOptions(**record.pop("pipeline")), Optimisations(**record.pop("drawing"))
    return Case(**record, encoder=encoder, pipeline=pipeline, drawing=drawing)


if __name__ == "__main__":
    print(json.dumps(asdict(measured_here(_case(json.loads(sys.argv[1]))))))
