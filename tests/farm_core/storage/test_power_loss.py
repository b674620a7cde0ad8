"""Contents of a disk after a power failure, for objects stored before it."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage

KEY = "results/acc_1/job_1/video.mp4"


class Disk:
    """Synced contents of a folder: file contents by inode, and the names in each folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._contents: dict[int, bytes] = {}
        self._names: dict[int, set[str]] = {}
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._synced)

    def _synced(self, descriptor: int) -> None:
        self._fsync(descriptor)
        facts, path = os.fstat(descriptor), Path(f"/proc/self/fd/{descriptor}").resolve()
        if stat.S_ISDIR(facts.st_mode):
            self._names[facts.st_ino] = {child.name for child in path.iterdir()}
        else:
            self._contents[facts.st_ino] = path.read_bytes()

    def lose_power(self, folder: Path) -> None:
        """Reduce the folder to its synced contents."""
        names = self._names.get(folder.stat().st_ino, set())
        for path in folder.iterdir():
            if path.name not in names:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            elif path.is_dir():
                self.lose_power(path)
            else:
                path.write_bytes(self._contents.get(path.stat().st_ino, b""))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path, Links(b"secret"))


def test_objects_outlive_a_loss_of_power(storage: LocalStorage, disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "video").write_bytes(b"a video")
    storage.put_file(KEY, tmp_path / "video")
    storage.put_bytes("frozen/one.json", b"first, and longer")
    storage.put_bytes("frozen/one.json", b"second")
    storage.put_bytes("media/one.mp4", b"a picture", "image/webp")
    for part in ("objects", "types"):
        disk.lose_power(tmp_path / part)
    assert storage.get_bytes(KEY) == b"a video"
    assert storage.get_bytes("frozen/one.json") == b"second"
    assert storage.describe("media/one.mp4").content_type == "image/webp"
