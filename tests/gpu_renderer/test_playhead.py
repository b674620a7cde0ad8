"""Time position of a preview."""

from __future__ import annotations

from gpu_renderer.commands.preview import Playhead


def test_it_plays_on_and_starts_again_at_the_end() -> None:
    playhead = Playhead(frame_count=30, fps=10.0)
    playhead.advance(1.25)
    assert playhead.frame_index == 12
    playhead.advance(2.0)
    assert playhead.frame_index == 2


def test_a_pause_holds_the_frame() -> None:
    playhead = Playhead(frame_count=30, fps=10.0)
    playhead.advance(0.5)
    playhead.toggle()
    playhead.advance(9.0)
    assert playhead.frame_index == 5


def test_steps_pause_and_stay_within_the_composition() -> None:
    playhead = Playhead(frame_count=30, fps=29.97)
    for frames, expected in [(1, 1), (1, 2), (-5, 0), (100, 29), (1, 29)]:
        playhead.step(frames)
        assert (playhead.frame_index, playhead.is_playing) == (expected, False)


def test_scrubbing_goes_to_a_share_of_the_way() -> None:
    playhead = Playhead(frame_count=30, fps=24.0)
    for share, expected in [(0.0, 0), (0.5, 15), (1.0, 29), (-0.2, 0)]:
        playhead.scrub(share)
        assert playhead.frame_index == expected
