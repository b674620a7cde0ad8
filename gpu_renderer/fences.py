"""Waiting for the GPU while other threads run: moderngl keeps the interpreter's lock as long as a call of its waits.

So what is about to be read, or copied by the processor, is waited for here first: the call that follows finds it finished.
ctypes gives the lock away during a call.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, c_char_p, c_uint, c_uint64, c_void_p

from gpu_renderer.errors import GpuUnavailable

_COMMANDS_COMPLETE, _FLUSH_COMMANDS = 0x9117, 0x1
"""GL_SYNC_GPU_COMMANDS_COMPLETE, GL_SYNC_FLUSH_COMMANDS_BIT."""
_FOR_EVER = 2**64 - 1
LIBRARY = "libEGL.so.1"


class Fences:
    """The fences of the context that is current on this thread."""

    def __init__(self) -> None:
        """Raises GpuUnavailable where EGL does not give the calls."""
        try:
            address_of = ctypes.CDLL(LIBRARY).eglGetProcAddress
        except (OSError, AttributeError) as error:
            raise GpuUnavailable(f"{LIBRARY}: {error}") from error
        address_of.restype, address_of.argtypes = c_void_p, (c_char_p,)

        def call(name: str) -> int:
            address = address_of(name.encode())
            if address is None:
                raise GpuUnavailable(f"the driver has no {name}")
            return int(address)

        self._finish = CFUNCTYPE(None)(call("glFinish"))
        self._fence_sync = CFUNCTYPE(c_void_p, c_uint, c_uint)(call("glFenceSync"))
        self._wait_sync = CFUNCTYPE(c_uint, c_void_p, c_uint, c_uint64)(call("glClientWaitSync"))
        self._delete_sync = CFUNCTYPE(None, c_void_p)(call("glDeleteSync"))

    def put(self) -> int:
        """A fence behind all that was asked of the GPU so far. To be waited for once."""
        return int(self._fence_sync(_COMMANDS_COMPLETE, 0))

    def wait(self, fence: int) -> None:
        """Returns when the GPU has done what was asked before the fence, which is gone then."""
        self._wait_sync(fence, _FLUSH_COMMANDS, _FOR_EVER)
        self._delete_sync(fence)

    def settle(self) -> None:
        """Returns when the GPU has done all that was asked of it."""
        self._finish()
