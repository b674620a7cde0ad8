"""Quirks of the reference that can be reproduced (animation.md 10, compositing.md 11)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parity:
    """Each member reproduces one quirk. `REFERENCE` reproduces all of them, `WITHOUT_QUIRKS` none."""

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


@dataclass(frozen=True, slots=True)
class SoundParity:
    """Quirks of the reference's sound that can be reproduced (audio.md 7). The default reproduces none of them: nobody
    hears the reference's sound beside ours, and a person expects the sound of what is shown.

    Never reproduced: Q4 and Q7 (sound follows the picture's stretches and remaps), Q5 and Q6 (backwards from the right end).
    """

    every_composition: bool = False
    """Q1, Q2: every composition of the project sounds from 0, however it is placed; a solo anywhere silences the others."""
    keys_at_composition_time: bool = False
    """Q3: keyframes of levels and effects are read at the composition's time, not the layer's."""
    needs_asset_id: bool = False
    """Q8: a layer without an asset's id is silent, though it has a source."""


EXPECTED_SOUND = SoundParity()
REFERENCE_SOUND = SoundParity(every_composition=True, keys_at_composition_time=True, needs_asset_id=True)

REFERENCE = Parity()
WITHOUT_QUIRKS = Parity(
    blur_snaps_to_frames=False,
    bars_step_at_timeline_rate=False,
    nested_bars_at_outer_rate=False,
    blur_ignores_parents=False,
    ancestors_3d_mapped_twice=False,
    groups_ignore_mattes=False,
)
