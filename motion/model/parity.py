"""Which oddities of the reference are matched (animation.md 10, compositing.md 11)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parity:
    """Each member matches one oddity; `REFERENCE` matches all, `REPAIRED` none of those that harm a picture."""

    blur_snaps_to_frames: bool = True
    """Q1: sub-frame times of a layer with a bar are rounded to frames, so that it shows no motion blur."""
    bars_step_at_timeline_rate: bool = True
    """Q2: layers with a bar step at the composition's rate when the output's is higher."""
    nested_bars_at_outer_rate: bool = True
    """Q3: bars of a placed composition are read at the rate of the outermost one."""
    blur_ignores_parents: bool = True
    """Q9: samples of a parented layer use its own position as if it had no parent."""
    ancestors_3d_mapped_twice: bool = True
    """Q8: a 3D ancestor's time is mapped twice."""
    groups_ignore_mattes: bool = True
    """Track mattes inside a group that composites as a unit are not resolved."""


REFERENCE = Parity()
REPAIRED = Parity(
    blur_snaps_to_frames=False,
    bars_step_at_timeline_rate=False,
    nested_bars_at_outer_rate=False,
    blur_ignores_parents=False,
    ancestors_3d_mapped_twice=False,
    groups_ignore_mattes=False,
)
