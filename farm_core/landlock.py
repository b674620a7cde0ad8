"""Landlock, an unprivileged sandbox of the Linux kernel that limits the files and TCP ports of a thread.

The limits apply to the calling thread and to threads that it starts later. They cannot be lifted. See landlock(7).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ABI_QUESTION: Final = 1
_PATH_RULE, _PORT_RULE = 1, 2
_NO_NEW_PRIVILEGES: Final = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_FILES_BY_ABI: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Number of file access rights in each version of the interface."""
NETWORK_ABI: Final = 4
"""First version that restricts ports."""

_SCOPE_ABI: Final = 6
_BIND, _CONNECT = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("access", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _PortRule(ctypes.Structure):
    _fields_ = (("access", ctypes.c_uint64), ("port", ctypes.c_uint64))


class SandboxUnavailable(Exception):
    """The kernel does not support Landlock, or this process may not use it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Paths that a thread may read, paths that it may also change, and TCP ports that it may connect to.

    Missing paths are ignored.
    """

    read: tuple[Path, ...]
    write: tuple[Path, ...]
    devices: tuple[Path, ...] = ()
    """Devices for read, write and ioctl."""
    ports: tuple[int, ...] = ()


def version() -> int:
    """Return the version of the kernel's interface, or 0 if there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(_CREATE, None, 0, _ABI_QUESTION))


def enter(policy: Policy) -> int:
    """Restrict this thread and its later threads to the policy. Return the interface's version. Raises SandboxUnavailable.

    Ports are restricted from version 4 on.
    """
    abi = version()
    if abi == 0:
        raise SandboxUnavailable("the kernel has no Landlock")
    handled = (1 << _FILES_BY_ABI[min(abi, 5)]) - 1
    network = _BIND | _CONNECT if abi >= NETWORK_ABI else 0
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if abi >= _SCOPE_ABI else 0
    ruleset = _Ruleset(handled, network, scoped)
    size = 24 if abi >= _SCOPE_ABI else 16 if abi >= NETWORK_ABI else 8
    descriptor = _checked(_call(_CREATE, ctypes.byref(ruleset), size, 0))
    try:
        _allow(descriptor, policy.read, _READ & handled)
        _allow(descriptor, policy.write, handled & ~_EXECUTE)
        _allow(descriptor, policy.devices, (_READ_DIR | _READ_FILE | _WRITE_FILE | _IOCTL) & handled)
        for port in policy.ports if network else ():
            rule = _PortRule(_CONNECT, port)
            _checked(_call(_ADD_RULE, descriptor, _PORT_RULE, ctypes.byref(rule), 0))
        _checked(_libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(_call(_RESTRICT_SELF, descriptor, 0))
    finally:
        os.close(descriptor)
    return abi


def _allow(ruleset: int, paths: Iterable[Path], access: int) -> None:
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                allowed = access if path.is_dir() else access & _OF_FILES
                rule = _PathRule(allowed, opened)
                _checked(_call(_ADD_RULE, ruleset, _PATH_RULE, ctypes.byref(rule), 0))
            finally:
                os.close(opened)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    return int(_libc().syscall(number, *arguments))


def _checked(result: int) -> int:
    if result < 0:
        raise SandboxUnavailable(os.strerror(ctypes.get_errno()))
    return result
