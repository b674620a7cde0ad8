"""Fake GPU device in main memory: tests the handover with real OpenGL and encoders, but without a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import moderngl
import numpy as np

from gpu_renderer.backends.gl.handover import Copy, InteropFailed
from gpu_renderer.geometry.samples import Rows

UNWRITTEN = 77


class HostDevice:
    """Device that counts its calls. After `copies_max` copies it fails, like a GPU that was reset. A shift makes its
    copies wrong."""

    dlpack = (1, 0)
    cuda_context: object = None

    def __init__(self, copies_max: int = 1 << 30, shift_texels: int = 0) -> None:
        self.memory: dict[int, Rows] = {}
        self.shared_count = self.mark_count = 0
        self.copies_left, self.shift_texels = copies_max, shift_texels

    def allocate(self, size_bytes: int) -> int:
        bytes_ = np.full(size_bytes, UNWRITTEN, np.uint8)
        self.memory[bytes_.ctypes.data] = bytes_
        return bytes_.ctypes.data

    def free(self, address: int) -> None:
        del self.memory[address]

    def share(self, textures: Sequence[moderngl.Texture]) -> None:
        self.shared_count += len(textures)
        self._textures = textures

    def copy(self, copies: Sequence[Copy]) -> None:
        for number, box, address, pitch in copies:
            if self.copies_left == 0:
                raise InteropFailed("the device is gone")
            self.copies_left -= 1
            texture = self._textures[number]
            texels = np.frombuffer(texture.read(alignment=1), np.uint8).reshape(texture.height, 4 * texture.width)
            rows = self.rows(address, box.height, 4 * box.width, pitch)
            rows[:] = np.roll(texels, 4 * self.shift_texels)[box.y : box.bottom, 4 * box.x : 4 * box.right]

    def unshare(self) -> None:
        self.shared_count -= len(self._textures)

    def upload(self, rows: Rows, address: int, pitch_bytes: int) -> None:
        self.rows(address, rows.shape[0], rows.shape[1], pitch_bytes)[:] = rows

    def mark(self) -> int:
        self.mark_count += 1
        return self.mark_count

    def wait(self, mark: int) -> None:
        assert mark <= self.mark_count

    def close(self) -> None:
        assert not self.memory
        assert self.shared_count == 0

    def rows(self, address: int, count: int, width_bytes: int, pitch_bytes: int) -> Rows:
        """Return a view of memory. It must be within one allocation."""
        start = max(held for held in self.memory if held <= address)
        held = self.memory[start]
        offset = address - start
        assert offset + (count - 1) * pitch_bytes + width_bytes <= held.size
        return np.lib.stride_tricks.as_strided(held[offset:], (count, width_bytes), (pitch_bytes, 1))
