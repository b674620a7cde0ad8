"""Optimisation flags of the renderer. Each changes when pixels are computed, not what they are.

`native_kernels` is the exception: it chooses the backend, whose pixels agree within the golden tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Optimisations:
    """All on by default; a test renders with each one off. Gains: `./farm bench optimisations`."""

    damage: bool = True
    """Only the damage since the last frame is composited; an unchanged frame is not composited at all."""
    layer_cache: bool = True
    """Layer buffers, groups, flattened planes and glows outlive the frame while they do not change."""
    static_prefix: bool = True
    """Cache the operations at the bottom that stay the same as pixels."""
    video_passthrough: bool = True
    """A video that fills the frame passes its own samples to the encoder; another size is resampled by a kernel."""
    native_kernels: bool = True
    """Composite with native kernels (the CPU backend) if OpenGL runs on the processor."""
