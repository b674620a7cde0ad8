"""Logs of a farm that runs for months stay bounded while processes write them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from cluster.embedded import process
from cluster.local import log_files
from cluster.local.log_files import LogWatch
from tests.patience import HANG_SECONDS


def _appears(path: Path, text: str) -> None:
    deadline = time.monotonic() + HANG_SECONDS
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_large_log_is_moved_aside_and_its_process_writes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "LOG_BYTES", 150)
    now, log, go = 0.0, tmp_path / "api.log", tmp_path / "go"
    code = f"import os, time\nfor c in 'abc':\n while not os.path.exists('{go}-' + c): time.sleep(0.01)\n print(c * 100, flush=True)"
    watch = LogWatch([tmp_path], lambda: now)
    writer = process.spawn([sys.executable, "-c", code], log, "KILL")
    for letter in "abc":
        Path(f"{go}-{letter}").touch()
        _appears(log, letter * 100)
        watch.poll()
        now += log_files.POLL_SECONDS
    assert writer.wait(HANG_SECONDS) == 0
    assert (tmp_path / "api.log.1").read_text() == f"{'a' * 100}\n{'b' * 100}\n"
    assert log.read_text() == f"{'c' * 100}\n"
