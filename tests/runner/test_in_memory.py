"""Folders of test servers in memory, which runs of tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cluster.embedded.shared_memory import SYSTEM
from tests.in_memory import PREFIX, folder

UNKNOWN_PID = 2**22  # the kernel gives smaller ones


def test_a_folder_in_use_stays_though_its_process_is_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: UNKNOWN_PID)  # as of a process in a container
    with folder(tmp_path) as first, folder(tmp_path):
        assert first.exists()


def test_the_folder_of_a_killed_process_is_removed_though_its_id_is_in_use(tmp_path: Path) -> None:
    left = SYSTEM / f"{PREFIX}{os.getpid()}-left"
    left.mkdir()
    with folder(tmp_path) as made:
        if made == tmp_path:
            left.rmdir()
            pytest.skip("no memory for folders")
        assert not left.exists()
    assert not made.exists()
