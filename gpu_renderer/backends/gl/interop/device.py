"""What it takes of a device to hand frames over within its memory: space, copies out of textures, and waiting for them.

`cuda.py` is the one that there is. Tests have another, of the processor's memory, so that all the rest is tried without a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import moderngl

from gpu_renderer.errors import RenderError
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Rows


class InteropFailed(RenderError):
    """The device, its driver or the encoder's library refused to hand a frame over."""


class Copy(NamedTuple):
    """A box of texels, four bytes each, on its way to rows that begin at `address`, `pitch_bytes` apart."""

    texture: int
    """Its number among those shared."""
    box: Region
    address: int
    pitch_bytes: int


class SharedTextures(Protocol):
    """Textures of the current OpenGL context that the device reads."""

    def copy(self, copies: Sequence[Copy]) -> None:
        """Asks for copies of what has been drawn so far; what is drawn later does not disturb them. Raises InteropFailed."""

    def release(self) -> None:
        """Ends the sharing; must come before the textures are freed. Raises InteropFailed."""


class Device(Protocol):
    """Memory that an encoder reads. Every call is made on the thread of the OpenGL context."""

    dlpack: tuple[int, int]
    """Kind and number, as DLPack counts them."""
    cuda_context: object
    """PyAV's, for frames of CUDA memory; None for others."""

    def allocate(self, size_bytes: int) -> int:
        """The address of as many bytes. Raises InteropFailed."""

    def free(self, address: int) -> None:
        """Gives allocated bytes back."""

    def shared(self, textures: Sequence[moderngl.Texture]) -> SharedTextures:
        """Makes textures readable. Raises InteropFailed."""

    def upload(self, rows: Rows, address: int, pitch_bytes: int) -> None:
        """Copies rows of the processor's memory, which may be overwritten as soon as this returns. Raises InteropFailed."""

    def mark(self) -> int:
        """Names the moment at which all that was asked for so far is done."""

    def wait(self, mark: int) -> None:
        """Waits for that moment. Each mark is waited for once. Raises InteropFailed."""

    def close(self) -> None:
        """Lets the device go, when all that was allocated and shared has been given back."""
