"""Explain why a queued render waits."""

from __future__ import annotations

from typing import Final

from farm_core.controls.waiting import Wait

WORDS: Final = {
    Wait.PAUSED_FARM: "Waiting: an operator has paused the farm",
    Wait.SUSPENDED_ACCOUNT: "Waiting: an operator has suspended this account",
    Wait.PAUSED_ACCOUNT: "Waiting: an operator has paused this account",
    Wait.RESERVE: "Waiting: the farm's disk is nearly full, and this account stores much",
    Wait.NO_WORKER: "Waiting: no worker takes work now",
    Wait.STORAGE: "Waiting: storage does not answer, or a disk is full",
    Wait.DISK: "Waiting: a disk is nearly full, and this render needs large files",
    Wait.BUSY_WORKERS: "Waiting for a worker",
}
