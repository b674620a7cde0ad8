"""Protocol of a device that receives frames in its own memory: allocation, copies out of textures, waiting.

`cuda.py` implements it. Tests implement it in main memory, so that everything else is tested without a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import moderngl

from gpu_renderer.errors import RenderError
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Rows


class InteropFailed(RenderError):
    """The device, its driver or the encoder's library refused to hand over a frame."""


class Copy(NamedTuple):
    """Copy of a box of texels, four bytes each, to rows that begin at `address`, `pitch_bytes` apart."""

    texture: int
    """Index among the shared textures."""
    box: Region
    address: int
    pitch_bytes: int


class SharedTextures(Protocol):
    """Textures of the current OpenGL context that the device can read."""

    def copy(self, copies: Sequence[Copy]) -> None:
        """Queue copies of the present content. Later drawing does not affect them. Raises InteropFailed."""

    def release(self) -> None:
        """End the sharing. Call it before the textures are freed. Raises InteropFailed."""


class Device(Protocol):
    """Memory that an encoder reads. Make all calls on the thread of the OpenGL context."""

    dlpack: tuple[int, int]
    """Device kind and number in DLPack's terms."""
    cuda_context: object
    """PyAV's context for frames of CUDA memory, None for other devices."""

    def allocate(self, size_bytes: int) -> int:
        """Return the address of a new block of memory. Raises InteropFailed."""

    def free(self, address: int) -> None:
        """Free an allocated block."""

    def shared(self, textures: Sequence[moderngl.Texture]) -> SharedTextures:
        """Make textures readable by the device. Raises InteropFailed."""

    def upload(self, rows: Rows, address: int, pitch_bytes: int) -> None:
        """Copy rows of main memory, which the caller can overwrite after the call. Raises InteropFailed."""

    def mark(self) -> int:
        """Return a mark that is reached when all queued work is done."""

    def wait(self, mark: int) -> None:
        """Wait for a mark, once for each mark. Raises InteropFailed."""

    def close(self) -> None:
        """Release the device. Free and release everything else before."""
