"""Workers that read foreign files stay warm, whatever the process that started them holds."""

from __future__ import annotations

import gc
import os

import psutil

from farm_core.sandbox import RESIDENT_BYTES, Sandbox


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
