"""Sandbox workers stay warm, whatever files and memory their parent process has."""

from __future__ import annotations

import errno
import gc
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from farm_core.sandbox import CALLS_MAX, RESIDENT_BYTES, Exhausted, Sandbox


def test_a_worker_is_used_again_though_its_parent_holds_more_than_a_worker_may() -> None:
    held = b"\x01" * (RESIDENT_BYTES + 50_000_000)
    sandbox = Sandbox()
    try:
        assert len({sandbox.call_now(os.getpid) for _ in range(3)}) == 1
    finally:
        sandbox.close()
    assert len(held) > RESIDENT_BYTES


def test_workers_end_with_their_sandbox() -> None:
    sandbox = Sandbox()
    worker = psutil.Process(sandbox.call_now(os.getpid))
    assert worker.is_running()
    del sandbox
    gc.collect()
    assert not worker.is_running()


def killed_until(path: str, calls: int, number: int, ending_seconds: float = 0) -> int:
    """For the sandbox: kill this process from outside in the first calls, up to a number. Its pipes close earlier."""
    with Path(path).open("ab") as file:
        file.write(b"x")
    if Path(path).stat().st_size <= calls:
        if ending_seconds:
            os.closerange(0, 256)
            time.sleep(ending_seconds)
        os.kill(os.getpid(), number)
    return calls


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_call_whose_worker_is_killed_from_outside_is_made_again(tmp_path: Path, number: int) -> None:
    sandbox = Sandbox()
    try:
        assert sandbox.call_now(killed_until, str(tmp_path / "calls"), CALLS_MAX - 1, number) == CALLS_MAX - 1
        with pytest.raises(Exhausted):
            sandbox.call_now(killed_until, str(tmp_path / "more calls"), CALLS_MAX, number)
        assert (tmp_path / "more calls").stat().st_size == CALLS_MAX
    finally:
        sandbox.close()


def test_a_killed_worker_may_end_slowly_as_on_a_busy_machine(tmp_path: Path) -> None:
    sandbox = Sandbox()
    try:
        assert sandbox.call_now(killed_until, str(tmp_path / "calls"), 1, signal.SIGKILL, 2.0) == 1
    finally:
        sandbox.close()


def written_to(path: str) -> None:
    """For the sandbox: write a file, as functions that read documents do."""
    Path(path).write_bytes(b"x")


def test_a_file_is_not_refused_because_the_disk_is_full() -> None:
    sandbox = Sandbox()
    try:
        with pytest.raises(OSError, match="No space left") as raised:
            sandbox.call_now(written_to, "/dev/full")
    finally:
        sandbox.close()
    assert raised.value.errno == errno.ENOSPC
