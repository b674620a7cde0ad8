"""Limit the free file descriptors of this process."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def descriptors_left(count: int) -> Iterator[None]:
    """Allow this process to open only `count` more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))  # noqa: PTH208 - names
    with ExitStack() as stack:
        while (taken := os.open(os.devnull, os.O_RDONLY)) <= highest:
            stack.callback(os.close, taken)
        stack.callback(os.close, taken)
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken + 1 + count, hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        yield
