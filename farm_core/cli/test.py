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
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from farm_core.user_error import UserError

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 300
LANES_MAX = 6
ENDING_SECONDS = 30
YIELDING = ("nice", "-n", "10")
"""Prefix that runs a command with low priority."""
PASSED, FAILED = 0, 1
"""Exit statuses of pytest for a complete run."""


class NoTests(UserError):
    """There are no tests to run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: all of them go to pytest."""


def run(arguments: argparse.Namespace) -> int:
    """Run pytest in the project's root; return its status."""
    if not (ROOT / "tests").is_dir():
        raise NoTests("the test suite is part of a checkout, not of an installation")
    extra: list[str] = arguments.pytest_arguments
    os.chdir(ROOT)
    if not extra or any("console" in word for word in extra):
        _install_chromium()
    if extra or _cores() == 1:
        return _run(*_pytest(*_workers(extra), *extra))
    return _every_test()


def _every_test() -> int:
    """Run the three parts. Farms have time limits and wait a third of their time, so the other parts run with low
    priority."""
    print("Tests of whole farms run beside the others. Their output comes last.", flush=True)
    with tempfile.NamedTemporaryFile("r") as output:
        with Path(output.name).open("w") as written:
            farms = subprocess.Popen(_pytest("--servers", "alone"), stdout=written, stderr=subprocess.STDOUT)  # noqa: S603
        try:
            statuses = []
            for title, options in (
                ("Tests that start no servers, on every core:", ["--servers", "without", *_on_every_core()]),
                (f"Tests that start servers, in {_lanes()} lanes:", ["--servers", "lanes", *_in_lanes()]),
            ):
                print(title, flush=True)
                status = _run(*YIELDING, *_pytest(*options))
                if status not in (PASSED, FAILED):
                    return status
                statuses.append((status, title))
            print("Tests of whole farms:", flush=True)
            _show_until_the_end(farms, output)
        finally:
            _end(farms)
    for status, title in statuses:
        if status == FAILED:
            print(f"Some failed above: {title.rstrip(':')}.", flush=True)
    ended = [*(status for status, _ in statuses), farms.returncode]
    return next((status for status in ended if status != PASSED), PASSED)  # a killed process has a negative status


def _show_until_the_end(process: subprocess.Popen[bytes], output: IO[str]) -> None:
    """Print the process's output file until the process ends."""
    has_ended = False
    while not has_ended:
        has_ended = process.poll() is not None
        print(output.read(), end="", flush=True)
        time.sleep(0 if has_ended else 1)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a running process, so that it stops its children too. Terminate it if it ignores the interrupt."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()


def _pytest(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", *arguments]


def _run(*command: str) -> int:
    return subprocess.run(command, check=False).returncode  # noqa: S603


def _workers(extra: list[str]) -> list[str]:
    """Return the pytest options that spread `--fast` over the cores. One process is faster for a few selected tests."""
    selects = any(word.startswith(("-k", "-n", "tests")) for word in extra)
    return [] if selects or "--fast" not in extra or _cores() == 1 else _on_every_core()


def _on_every_core() -> list[str]:
    return ["-n", str(_cores()), "--dist", "worksteal"]


def _in_lanes() -> list[str]:
    """Return the pytest options that give each file to one lane, in order of collection: module fixtures are set up
    once."""
    return ["-n", str(_lanes()), "--dist", "loadfile", "--no-loadscope-reorder"]


def _lanes() -> int:
    """Return one more lane than cores: a test waits for its servers half of the time. A lane takes half a gigabyte of
    memory."""
    return min(_cores() + 1, LANES_MAX)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _install_chromium() -> None:
    """Install the browser of the console's tests if this needs no questions. Without a browser they are skipped.

    Chromium without windows opens a page with a quarter of the processor time.
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
    """Run apt-get without output; return True if it succeeds."""
    command = [apt, "-y", "-qq", "--no-install-recommends", *words]
    return subprocess.run(command, capture_output=True, check=False, timeout=INSTALL_SECONDS).returncode == 0  # noqa: S603
