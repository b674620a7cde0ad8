"""Join a job's segments into its output file and add the sound, if any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import orjson

from cluster.worker.media_cache import MediaCache
from cluster.worker.sound_watch import SoundSteps
from gpu_renderer.encode.finish import finish
from gpu_renderer.encode.formats import FilePlan, named
from gpu_renderer.sound import JobSound
from motion.build import build
from motion.notices import bounded
from motion.sound.voice import Pause
from motion.stored import Document
from scheduler.ports import AssemblyAssignment


def write_file(
    assignment: AssemblyAssignment,
    segments: Sequence[Path],
    output: Path,
    media: MediaCache,
    pause: Pause,
    sound_steps: SoundSteps,
) -> tuple[str, ...]:
    """Write and check the file. Return warnings about its sound. Scratch files go beside `output`.

    `pause` is called between short steps of the mix and of animations, which can take hours. `sound_steps` measures the
    steps of reading sound files.

    Raises the errors of `finish`, and DocumentError.
    """
    wanted = assignment.video_format
    file_format = named(wanted.format)
    keeps_alpha = wanted.transparent and file_format.has_alpha
    plan = FilePlan(file_format, wanted.width, wanted.height, wanted.fps, wanted.frame_count, keeps_alpha)
    sound = (
        _sound(assignment, output.parent, media, pause, sound_steps)
        if wanted.has_sound and file_format.sound is not None
        else None
    )
    blocks = sound.blocks() if sound is not None and sound.is_heard else None
    finish(segments, output, plan, blocks, on_progress=lambda _frames: pause())
    return () if sound is None else bounded(sound.warnings)


def _sound(
    assignment: AssemblyAssignment, scratch: Path, media: MediaCache, pause: Pause, sound_steps: SoundSteps
) -> JobSound:
    document = cast(Document, orjson.loads(media.path(assignment.document_key).read_bytes()))
    wanted = assignment.video_format
    composition = build(document, wanted.composition_id)
    frames = range(wanted.frame_count)
    resolve = media.resolver(assignment.media)
    with sound_steps.reading(pause) as between_steps:
        return JobSound(document, composition, resolve, scratch, frames, wanted.fps, between_steps)
