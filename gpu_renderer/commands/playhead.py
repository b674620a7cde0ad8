"""Position and state of a preview. Pure: elapsed time is an argument."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Playhead:
    """A position in a composition of `frame_count` frames at `fps`, which starts again at its end."""

    frame_count: int
    fps: float
    seconds: float = 0.0
    is_playing: bool = True

    @property
    def frame_index(self) -> int:
        """Frame to show."""
        return min(self.frame_count - 1, int(self.seconds * self.fps + 1e-6))

    def advance(self, passed_seconds: float) -> None:
        """Move on by the time that has passed, if it plays."""
        if self.is_playing:
            self.seconds = (self.seconds + passed_seconds) % (self.frame_count / self.fps)

    def toggle(self) -> None:
        """Play or pause."""
        self.is_playing = not self.is_playing

    def step(self, frames: int) -> None:
        """Pause and go some frames on or back, not past the ends."""
        self.go_to(self.frame_index + frames)

    def go_to(self, frame_index: int) -> None:
        """Pause at a frame, the nearest one there is."""
        self.is_playing = False
        self.seconds = min(max(frame_index, 0), self.frame_count - 1) / self.fps

    def scrub(self, share: float) -> None:
        """Pause at a share of 0..1 of the way."""
        self.go_to(int(share * self.frame_count))
