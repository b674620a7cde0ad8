"""Run the test suite. Further arguments go to pytest.

Without arguments every test runs, as in CI, in three parts: those that start no servers, on every core; then those that start servers,
in lanes, each with servers of its own; beside both those that use every core, such as a whole farm, one after the other. Tests that
fail run once more, alone: the run fails if one fails again, and names those that fail only beside others.
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
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path
from typing import IO

from farm_core.user_error import UserError

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 300
LANES_MAX = 6
ENDING_SECONDS = 30
DRIVER_LIBRARY = "libatomic1"
"""Library that Playwright's driver needs, and that a bare system lacks."""
DISPLAY_PACKAGES = ("xvfb", "xdotool")
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
    if not extra or any("console" in word or "preview" in word for word in extra):
        _install_programs()
    if extra or _cores() == 1:
        return _run(*_pytest(*_workers(extra), *extra))
    return _every_test()


class _Part:
    """A part of the suite: a running pytest, and its output in a file, or on the screen without a file.

    `servers` selects the tests (`tests/conftest.py`). Each part remembers its failed tests in a cache of its own, because parts run
    side by side.
    """

    def __init__(
        self, title: str, niceness: int, servers: str, options: Sequence[str] = (), output: IO[str] | None = None
    ) -> None:
        self.title, self._output = title, output
        self._options = ["--servers", servers, "-o", f"cache_dir=.pytest_cache/{servers}"]
        command = ["nice", "-n", str(niceness), *_pytest(*self._options, *options)]
        with contextlib.nullcontext() if output is None else Path(output.name).open("w") as written:
            self.process = subprocess.Popen(command, stdout=written, stderr=written and subprocess.STDOUT)  # noqa: S603

    def wait(self) -> int:
        """Print the title and the output until the part ends; return its status."""
        print(f"{self.title}:", flush=True)
        if self._output is None:
            return self.process.wait()
        has_ended = False
        while not has_ended:
            has_ended = self.process.poll() is not None
            print(self._output.read(), end="", flush=True)
            time.sleep(0 if has_ended else 1)
        return self.process.returncode

    def again(self) -> int:
        """Run the failed tests once more, alone, until one fails again; return the status."""
        print(f"Some failed above: {self.title}. Once more, alone:", flush=True)
        status = _run(*_pytest(*self._options, "--last-failed", "--last-failed-no-failures", "none", "-x", "-rfEp"))
        if status == PASSED:
            print("They passed alone, so they depend on the load of the machine: mend them.", flush=True)
        return status


def _every_test() -> int:
    """Run tests without servers and then the lanes, both beside the tests of whole farms.

    Farms have time limits, so the others yield to them. Browsers have some too: lanes run when most farms have ended, and
    not beside the tests without servers, which take every core.
    """
    others = (
        ("Tests that start no servers, on every core", "without", _on_every_core()),
        (f"Tests that start servers, in {_lanes()} lanes", "lanes", _in_lanes()),
    )
    with _output_file() as of_farms:
        farms = _Part("Tests of whole farms", 0, "alone", output=of_farms)
        parts = [farms]
        try:
            print("Tests of whole farms run beside the others. Their output comes last.", flush=True)
            for title, servers, options in others:
                parts.append(_Part(title, 10, servers, options))
                if (status := parts[-1].wait()) not in (PASSED, FAILED):
                    return status
            farms.wait()
        finally:
            _end([part.process for part in parts])
    statuses = [part.again() if part.process.returncode == FAILED else part.process.returncode for part in parts]
    return next((status for status in statuses if status != PASSED), PASSED)  # a killed process has a negative status


def _output_file() -> IO[str]:
    """Return a file for the output of a part. It is read while the part writes, perhaps in the middle of a letter."""
    return tempfile.NamedTemporaryFile("r", errors="replace")


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Interrupt running processes, so that they stop their children too. Terminate those that ignore the interrupt."""
    for process in processes:
        process.send_signal(signal.SIGINT)
    ends = time.monotonic() + ENDING_SECONDS
    for process in processes:
        try:
            process.wait(max(0.0, ends - time.monotonic()))
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


def _install_programs() -> None:
    """Install the browser of the console's tests, and the display of the preview's, if this needs no questions.

    Tests without their program are skipped. Chromium without windows opens a page with a quarter of the processor time.
    """
    apt = shutil.which("apt-get")
    browser = ("chromium-headless-shell", DRIVER_LIBRARY)
    has_browser = shutil.which("chromium-headless-shell") and find_library("atomic")
    has_display = all(shutil.which(program) for program in ("Xvfb", "xdotool"))
    if (has_browser and has_display) or apt is None or os.geteuid() != 0:
        return
    other = shutil.which("chromium") or shutil.which("chromium-browser")
    print("installing programs for the tests: Chromium, Xvfb and xdotool", file=sys.stderr)
    with contextlib.suppress(subprocess.TimeoutExpired):
        if not (other and has_display):
            _quietly(apt, "update")
        if not has_browser and not _quietly(apt, "install", *browser) and not other:
            _quietly(apt, "install", "chromium", DRIVER_LIBRARY)
        if not has_display:
            _quietly(apt, "install", *DISPLAY_PACKAGES)


def _quietly(apt: str, *words: str) -> bool:
    """Run apt-get without output; return True if it succeeds."""
    command = [apt, "-y", "-qq", "--no-install-recommends", *words]
    return subprocess.run(command, capture_output=True, check=False, timeout=INSTALL_SECONDS).returncode == 0  # noqa: S603
