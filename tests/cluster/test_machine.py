"""Cores, memory and threads that the local farm can use, and the workers that follow from them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.embedded import shared_memory
from cluster.local.machine import Machine, TooFewThreads, TooLittleMemory, segment_bytes_max, this_machine, worker_count

ROOT = Path(__file__).resolve().parents[2]
GB = 1_000_000_000


@pytest.mark.parametrize(
    ("cores", "memory", "workers"),
    [
        (1, 2 * GB, 1),
        (2, 4 * GB, 2),
        (4, 2 * GB, 2),
        (8, 16 * GB, 8),
        (16, 4 * GB, 6),
        (64, 256 * GB, 64),
        (64, 8 * GB, 14),
    ],
)
def test_each_core_gets_a_worker_as_far_as_memory_allows(cores: int, memory: int, workers: int) -> None:
    assert worker_count(Machine(cores, memory)) == workers


def test_a_chosen_number_of_workers_is_taken_as_it_is() -> None:
    assert worker_count(Machine(2, 4 * GB), 12) == 12


@pytest.mark.parametrize("wanted", [None, 4])
def test_too_little_memory_is_refused_with_what_is_needed(wanted: int | None) -> None:
    with pytest.raises(TooLittleMemory, match=r"1\.0 GB of memory is too little: the farm needs 1\.3 GB"):
        worker_count(Machine(2, GB), wanted)


def test_few_threads_leave_room_for_fewer_workers_or_are_refused_with_what_is_needed() -> None:
    assert worker_count(Machine(16, 16 * GB, threads=400)) == 3
    with pytest.raises(TooFewThreads, match=r"100 processes and threads are too few: the farm needs 260 with one"):
        worker_count(Machine(2, 16 * GB, threads=100))


def test_the_limit_on_threads_of_an_ordinary_user_holds() -> None:
    ordinary = ["unshare", "--user"] if os.geteuid() == 0 else []
    program = "from cluster.local.machine import this_machine; print(this_machine().threads)"
    command = [*ordinary, "prlimit", "--nproc=250", sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.stderr.startswith("unshare:"):
        pytest.skip(f"user namespaces cannot be made here: {done.stderr}")
    assert (done.stdout, done.stderr) == ("250\n", "")


def test_one_render_cannot_use_more_memory_than_the_machine_has_left() -> None:
    assert segment_bytes_max(Machine(2, 64 * GB), 4 * GB) == 4 * GB
    assert segment_bytes_max(Machine(2, 3 * GB), 4 * GB) == 3 * GB - 800_000_000
    assert segment_bytes_max(Machine(1, 1_300_000_000), 4 * GB) == 500_000_000


def _written(files: dict[Path, str]) -> None:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _measured(folder: Path, group: str, files: dict[str, str]) -> Machine:
    process, groups = folder / "proc", folder / "cgroup"
    _written({process / "meminfo": "MemTotal:       67108864 kB\nMemFree: 1 kB\n", process / "self/cgroup": group})
    _written({groups / name: text for name, text in files.items()})
    return this_machine(groups, process)


def test_without_control_groups_the_machine_is_all_there_is(tmp_path: Path) -> None:
    machine = _measured(tmp_path, "", {})
    assert (machine.cores, machine.memory_bytes) == (len(os.sched_getaffinity(0)), 64 * 1024**3)


def test_the_least_limit_from_the_own_group_up_to_the_root_holds(tmp_path: Path) -> None:
    files = {
        "memory.max": "max\n", "farm/memory.max": "2000000000\n", "farm/up/memory.max": "3000000000\n",
        "farm/cpu.max": "100000 100000\n", "farm/up/cpu.max": "max 100000\n",
        "farm/pids.max": "500\n", "farm/up/pids.max": "max\n",
    }  # fmt: skip
    assert _measured(tmp_path, "0::/farm/up\n", files) == Machine(1, 2_000_000_000, 500)


def test_limits_of_version_1_hold_too(tmp_path: Path) -> None:
    group = "6:pids:/docker/one\n5:memory:/docker/one\n4:cpu,cpuacct:/docker/one\n1:name=systemd:/\n0::/\n"
    files = {
        "memory/docker/one/memory.limit_in_bytes": "1500000000\n", "memory/memory.limit_in_bytes": "9223372036854771712\n",
        "cpu,cpuacct/docker/one/cpu.cfs_quota_us": "50000\n", "cpu,cpuacct/docker/one/cpu.cfs_period_us": "100000\n",
        "pids/docker/one/pids.max": "700\n", "cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }  # fmt: skip
    assert _measured(tmp_path, group, files) == Machine(1, 1_500_000_000, 700)


def test_in_a_container_whose_own_group_is_not_shown_the_root_counts(tmp_path: Path) -> None:
    files = {"memory/memory.limit_in_bytes": "1500000000\n"}
    assert _measured(tmp_path, "5:memory:/docker/one\n", files).memory_bytes == 1_500_000_000


def test_shared_memory_that_is_missing_or_has_no_room_is_not_used(tmp_path: Path) -> None:
    assert not shared_memory.is_fit(tmp_path / "none")
    assert not shared_memory.is_fit(Path("/proc"))
    assert shared_memory.is_fit(tmp_path)
