"""Sandbox workers stay warm, whatever files and memory their parent process has."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from structlog.testing import capture_logs

from farm_core import landlock
from farm_core import sandbox as sandbox_module
from farm_core.sandbox import CALLS_MAX, CALLS_PER_OWNER, RESIDENT_BYTES, Exhausted, Sandbox
from farm_core.settings import ROOT


def test_a_worker_is_used_again_though_its_parent_holds_more_than_a_worker_may() -> None:
    held = b"\x01" * (RESIDENT_BYTES + 50_000_000)
    sandbox = Sandbox()
    try:
        assert len({sandbox.call_now(os.getpid) for _ in range(3)}) == 1
    finally:
        sandbox.close()
    assert len(held) > RESIDENT_BYTES


def grown_by(number_of_bytes: int) -> int:
    """For the sandbox: take memory, give it back, and return the worker's process id."""
    assert len(bytearray(number_of_bytes)) == number_of_bytes
    return os.getpid()


def test_a_worker_that_has_grown_is_replaced() -> None:
    sandbox = Sandbox()
    try:
        first, second, third = (sandbox.call_now(grown_by, size) for size in (RESIDENT_BYTES, 1000, 1000))
        assert first != second == third
    finally:
        sandbox.close()


def after_a_word(word: str) -> str:
    """For the sandbox: print like a talkative library, by Python and by C."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()
    os.write(1, f"{word}\n".encode())
    return word


def test_a_library_that_prints_does_not_break_the_answer() -> None:
    sandbox = Sandbox()
    try:
        assert [sandbox.call_now(after_a_word, word) for word in ('{"result": "forged"}', "b")] == [
            '{"result": "forged"}', "b",
        ]  # fmt: skip
    finally:
        sandbox.close()


def worked_for(seconds: float) -> int:
    """For the sandbox: take processor time, and return the worker's process id."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return os.getpid()


@pytest.mark.thorough
def test_each_call_has_the_whole_limit_of_processor_time() -> None:
    sandbox = Sandbox(cpu_seconds=1)
    try:
        assert len({sandbox.call_now(worked_for, 0.8) for _ in range(4)}) == 1
        with pytest.raises(Exhausted):
            sandbox.call_now(worked_for, 3)
    finally:
        sandbox.close()


def waits() -> None:
    """For the sandbox: wait for something that never comes, without processor time."""
    threading.Event().wait()


def test_a_call_that_takes_too_long_ends_and_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Sandbox()
    try:
        sandbox.call_now(after_a_word, "a")  # starts the worker, which imports this module
        monkeypatch.setattr(sandbox_module, "WALL_SECONDS", 2.0)
        with capture_logs() as lines, pytest.raises(Exhausted):
            sandbox.call_now(waits)
    finally:
        sandbox.close()
    assert [line["event"] for line in lines] == ["a sandbox worker was killed"]


def until_released(began: str, release: str) -> None:
    """For the sandbox: say that the call has begun, and wait."""
    Path(began).touch()
    while not Path(release).exists():
        time.sleep(0.01)


def wait_for(marks: list[Path]) -> None:
    while not all(mark.exists() for mark in marks):
        time.sleep(0.01)


async def test_a_cancelled_call_counts_for_its_account_until_its_worker_has_finished(tmp_path: Path) -> None:
    sandbox, release = Sandbox(is_confined=False), tmp_path / "release"
    try:
        marks = [tmp_path / str(number) for number in range(CALLS_PER_OWNER)]
        calls = [asyncio.create_task(sandbox.call("a", until_released, str(mark), str(release))) for mark in marks]
        await asyncio.to_thread(wait_for, marks)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        further = asyncio.create_task(sandbox.call("a", os.getpid))
        for _ in range(2):  # the second one after `further`, if that has begun
            await sandbox.call("b", os.getpid)
        assert not further.done()
        release.touch()
        assert await further
    finally:
        release.touch()
        sandbox.close()


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


async def test_a_call_whose_worker_is_stopped_from_outside_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that paused its processes for longer than the limit let good uploads be refused as damaged, and failed jobs."""
    sandbox, release = Sandbox(is_confined=False), tmp_path / "release"
    try:
        marks = [tmp_path / name for name in ("first", "second")]
        calls = [
            asyncio.create_task(sandbox.call(mark.name, until_released, str(mark), str(release))) for mark in marks
        ]
        await asyncio.to_thread(wait_for, marks)
        release.touch()
        await asyncio.gather(*calls)  # two warm workers
        monkeypatch.setattr(sandbox_module, "WALL_SECONDS", 1.0)
        assert await sandbox.call("a", killed_until, str(tmp_path / "calls"), 1, signal.SIGSTOP) == 1
    finally:
        release.touch()
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
    sandbox = Sandbox(is_confined=False)
    try:
        with pytest.raises(OSError, match="No space left") as raised:
            sandbox.call_now(written_to, "/dev/full")
    finally:
        sandbox.close()
    assert raised.value.errno == errno.ENOSPC


def reached(path: str, port: int) -> list[str]:
    """For the sandbox: return what can be reached of a file, a new file beside it, and a port of this machine."""
    found = []
    with suppress(PermissionError):
        found += [Path(path).read_text()]
    with suppress(PermissionError):
        Path(path).with_suffix(".new").write_text("changed")
        found += ["changed"]
    with suppress(PermissionError), socket.create_connection(("127.0.0.1", port)):
        found += ["connected"]
    return found


@pytest.mark.skipif(landlock.version() < landlock.NETWORK_ABI, reason="the kernel's Landlock knows no ports")
@pytest.mark.parametrize("is_confined", [True, False])
def test_a_library_that_a_file_controls_reaches_no_other_file_and_no_connection(
    tmp_path: Path, is_confined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for folder in (tmp_path, own):
        (folder / "file").write_text("text")
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    sandbox = Sandbox(is_confined=is_confined)
    everything = ["text", "changed", "connected"]
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            assert sandbox.call_now(reached, str(tmp_path / "file"), port) == ([] if is_confined else everything)
            assert sandbox.call_now(reached, str(own / "file"), port) == everything[: 2 if is_confined else 3]
            if is_confined:  # a checkout holds `.env` beside it
                assert sandbox.call_now(reached, str(ROOT / "pyproject.toml"), port) == []
    finally:
        sandbox.close()
