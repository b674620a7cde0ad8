from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from farm_core.jobs.plan import SEGMENTS_MAX, TaskKind, plan, segment_frames


def test_a_three_second_title_card_is_three_segments_and_an_assembly() -> None:
    tasks = plan(90, 30, 1280, 720)
    assert [(task.kind, task.first_frame, task.frame_count) for task in tasks] == [
        (TaskKind.render, 0, 30),
        (TaskKind.render, 30, 30),
        (TaskKind.render, 60, 30),
        (TaskKind.assemble, 0, 90),
    ]


def test_large_frames_make_shorter_segments_down_to_half_a_second() -> None:
    assert segment_frames(300, 30, 1920, 1080) == 30
    assert segment_frames(300, 30, 2560, 1440) == 17
    assert segment_frames(300, 30, 4096, 4096) == 15


def test_a_job_of_one_frame_is_one_segment() -> None:
    assert [task.frame_count for task in plan(1, 30, 64, 64)] == [1, 1]


@given(
    frames=st.integers(1, 500_000),
    fps=st.floats(0.1, 240),
    width=st.integers(64, 4096),
    height=st.integers(64, 4096),
)
def test_every_frame_lies_in_exactly_one_segment_and_segments_stay_bounded(
    frames: int, fps: float, width: int, height: int
) -> None:
    *segments, assembly = plan(frames, fps, width, height)
    assert len(segments) <= max(SEGMENTS_MAX, 1)
    ends = [0, *(segment.first_frame + segment.frame_count for segment in segments)]
    assert [segment.first_frame for segment in segments] == ends[:-1]
    assert ends[-1] == frames == assembly.frame_count
    assert [task.index for task in (*segments, assembly)] == list(range(len(segments) + 1))
