"""Control groups of the kernel, version 1 or 2, that limit processes to a share of the processor."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from farm_core.user_error import UserError

ROOT: Final = Path("/sys/fs/cgroup")
ROUNDS, ROUND_SECONDS = 50, 0.1
"""Attempts to empty a group, and the pause between them."""
PERIOD_US: Final = 1_000_000
"""Period of a limit: the kernel stops a group that has used its share until the next period. This is the kernel's longest one: each
period begins with cold caches. With a quarter of it, a worker with 0.023 of a core took a fifth more processor time for a frame."""


class NoShares(UserError):
    """The kernel does not let this process limit others."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Folder of the kernel's `cpu` controller, and the version of its control groups, 1 or 2."""

    folder: Path
    version: int


def hierarchy(root: Path = ROOT) -> Hierarchy:
    """Return the hierarchy that has the `cpu` controller. Raises NoShares.

    Version 2 is mounted at `root` itself, or at `unified` beside controllers of version 1.
    """
    for folder in (root, root / "unified"):
        if "cpu" in _words(folder / "cgroup.controllers"):
            return Hierarchy(folder, 2)
    for folder in (root / "cpu", root / "cpu,cpuacct"):
        if (folder / "cgroup.procs").is_file():
            return Hierarchy(folder, 1)
    raise NoShares(f"no cpu controller is mounted at {root}: run as root, outside a container")


class CpuGroups:
    """Control groups below one of our own, each with a limit of processor time."""

    def __init__(self, root: Path = ROOT) -> None:
        """Create the outer group. Raises NoShares."""
        found = hierarchy(root)
        self._is_v2 = found.version == 2
        self._outside = found.folder / "cgroup.procs"
        self._folder = found.folder / f"farm-bench-{os.getpid()}"
        try:
            if self._is_v2:
                (found.folder / "cgroup.subtree_control").write_text("+cpu")
            self._folder.mkdir()
            if self._is_v2:
                (self._folder / "cgroup.subtree_control").write_text("+cpu")
        except OSError as error:
            raise NoShares(f"no control group can be made ({error}): run as root, outside a container") from error

    def limit(self, pid: int, cores: float) -> None:
        """Limit a process with all its threads to a number of cores; 0.1 is a tenth of one."""
        group = self._folder / str(pid)
        group.mkdir()
        quota = round(cores * PERIOD_US)
        if self._is_v2:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        (group / "cgroup.procs").write_text(str(pid))

    def close(self) -> None:
        """Move the processes that still run out of the groups, and remove the groups."""
        for group in [*self._folder.glob("*/"), self._folder]:
            for _ in range(ROUNDS):
                for pid in _words(group / "cgroup.procs"):
                    with suppress(OSError):
                        self._outside.write_text(pid)
                with suppress(OSError):  # a process that is starting or ending
                    group.rmdir()
                    break
                time.sleep(ROUND_SECONDS)


def _words(path: Path) -> list[str]:
    return path.read_text().split() if path.is_file() else []
