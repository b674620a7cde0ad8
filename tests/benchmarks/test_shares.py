"""Benchmark of shares: control groups of the kernel, and requirements of the machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.service.cpu_groups import CpuGroups, Hierarchy, NoShares, hierarchy
from benchmarks.service.farm import busy_part
from benchmarks.shares import TooManyWorkers, check_memory
from farm_core.jobs.models import Task

GB = 1_000_000_000


def _written(root: Path, *names: str, text: str = "") -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_version_2_is_known_by_its_list_of_controllers(tmp_path: Path) -> None:
    root = _written(tmp_path, "cgroup.controllers", text="cpuset cpu io memory\n")
    assert hierarchy(root) == Hierarchy(root, 2)


def test_version_1_has_a_folder_for_each_controller(tmp_path: Path) -> None:
    assert hierarchy(_written(tmp_path, "cpu/cgroup.procs")) == Hierarchy(tmp_path / "cpu", 1)


def test_version_1_may_keep_the_controller_beside_a_version_2_without_it(tmp_path: Path) -> None:
    _written(tmp_path, "cpu,cpuacct/cgroup.procs", "unified/cgroup.controllers")
    assert hierarchy(tmp_path) == Hierarchy(tmp_path / "cpu,cpuacct", 1)


def test_a_machine_without_the_controller_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoShares, match="run as root"):
        CpuGroups(tmp_path)


@pytest.mark.parametrize(
    ("version", "files"),
    [(1, {"cpu.cfs_quota_us": "100000", "cpu.cfs_period_us": "1000000"}), (2, {"cpu.max": "100000 1000000"})],
)
def test_a_share_is_written_as_the_version_has_it(tmp_path: Path, version: int, files: dict[str, str]) -> None:
    names = {1: "cpu/cgroup.procs", 2: "cgroup.controllers"}
    CpuGroups(_written(tmp_path, names[version], text="cpu")).limit(4321, 0.1)
    (group,) = tmp_path.rglob("4321")
    assert {name: (group / name).read_text() for name in files} == files
    assert (group / "cgroup.procs").read_text() == "4321"


@pytest.fixture
def groups() -> Iterator[CpuGroups]:
    """Return the control groups of this machine."""
    try:
        made = CpuGroups()
    except NoShares as error:
        pytest.skip(str(error))
    yield made
    made.close()


def test_a_process_is_in_its_group_until_the_groups_are_closed(groups: CpuGroups) -> None:
    ours = f"farm-bench-{os.getpid()}"
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            membership = Path(f"/proc/{process.pid}/cgroup")
            groups.limit(process.pid, 0.1)
            assert f"{ours}/{process.pid}" in membership.read_text()
        finally:
            process.kill()
    assert ours not in Path("/proc/self/cgroup").read_text()


def test_too_many_workers_for_the_memory_are_refused_with_what_they_need() -> None:
    check_memory(64, 64 * GB)
    with pytest.raises(TooManyWorkers, match=r"64 workers need .* GB of memory, and 4\.0 GB are free"):
        check_memory(64, 4 * GB)


def test_a_worker_is_busy_until_its_last_segment_ends() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)

    def ended(worker: str, seconds: int) -> Task:
        return Task(id="t", job_id="j", index=0, kind="render", first_frame=0, frame_count=1, worker=worker,
                    finished_at=began + timedelta(seconds=seconds))  # fmt: skip

    tasks = [ended("a", 4), ended("a", 10), ended("b", 6), ended("b", 2)]
    assert busy_part(tasks, began, 10.0) == pytest.approx(0.8)
