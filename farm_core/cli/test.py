"""Run the test suite. Further arguments go to pytest.

Without arguments every test runs, as in CI, in three parts: those that start no servers, on every core; those that start servers, in
lanes, each with servers of its own; those that use every core, such as a whole farm, one after the other.
`--fast` leaves out tests that start servers or take seconds, and uses every core.
`-k NAME` or a path selects tests. `--slow` adds the long proofs. Durations are kept in `.cache/test-durations.json`: the next run
puts slow tests last and shows the time left.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from farm_core.failure import Failure

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 300
LANES_MAX = 6
PASSED, FAILED = 0, 1
"""pytest's statuses of a run that came to its end."""


class NoTests(Failure):
    """There is nothing to run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Run pytest in the project's root; return its status."""
    if not (ROOT / "tests").is_dir():
        raise NoTests("the test suite is part of a checkout, not of an installation")
    extra: list[str] = arguments.pytest_arguments
    os.chdir(ROOT)
    if not extra or any("console" in word for word in extra):
        _install_chromium()
    if extra or _cores() == 1:
        return _pytest([*_workers(extra), *extra])
    return _every_test()


def _every_test() -> int:
    """Run the three parts one after the other, each to its end: a farm has time limits, which neighbours would make it miss."""
    statuses = []
    for title, options in (
        ("Tests that start no servers, on every core:", ["--servers", "without", *_on_every_core()]),
        (f"Tests that start servers, in {_lanes()} lanes:", ["--servers", "lanes", *_in_lanes()]),
        ("Tests that use every core, one after the other:", ["--servers", "alone"]),
    ):
        print(title, flush=True)
        status = _pytest(options)
        if status not in (PASSED, FAILED):
            return status
        statuses.append((status, title))
    for status, title in statuses[:-1]:
        if status == FAILED:
            print(f"Some failed above: {title.rstrip(':')}.", flush=True)
    return max(status for status, _ in statuses)


def _pytest(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode  # noqa: S603


def _workers(extra: list[str]) -> list[str]:
    """Options that spread `--fast` over the cores. A selection of a few tests is sooner done by one process."""
    selects = any(word.startswith(("-k", "-n", "tests")) for word in extra)
    return [] if selects or "--fast" not in extra or _cores() == 1 else _on_every_core()


def _on_every_core() -> list[str]:
    return ["-n", str(_cores()), "--dist", "worksteal"]


def _in_lanes() -> list[str]:
    """Options that give each file to one lane, in the order of collection: fixtures of a module are set up once."""
    return ["-n", str(_lanes()), "--dist", "loadfile", "--no-loadscope-reorder"]


def _lanes() -> int:
    """One lane more than cores: a test waits for its servers half of the time. Each lane takes half a gigabyte of memory."""
    return min(_cores() + 1, LANES_MAX)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _install_chromium() -> None:
    """Install the browser of the console's tests where that may be done quietly; they are skipped without any.

    Without windows Chromium opens a page with a quarter of the processor time.
    """
    apt = shutil.which("apt-get")
    if shutil.which("chromium-headless-shell") or apt is None or os.geteuid() != 0:
        return
    other = shutil.which("chromium") or shutil.which("chromium-browser")
    print("installing Chromium for the tests of the console", file=sys.stderr)
    with contextlib.suppress(subprocess.TimeoutExpired):
        if not other:
            _quietly(apt, "update")
        if not _quietly(apt, "install", "chromium-headless-shell") and not other:
            _quietly(apt, "install", "chromium")


def _quietly(apt: str, *words: str) -> bool:
    """Run apt-get; return True if it succeeds."""
    command = [apt, "-y", "-qq", "--no-install-recommends", *words]
    return subprocess.run(command, capture_output=True, check=False, timeout=INSTALL_SECONDS).returncode == 0  # noqa: S603
