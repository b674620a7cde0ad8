"""Run the test suite. Further arguments go to pytest.

Without arguments every test runs, as in CI: first those that start no servers, on every core, then the others one after the other.
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
    """Run the tests without servers on every core, and those with servers alone: they have time limits and use every core themselves."""
    print("Tests that start no servers, on every core:", flush=True)
    first = _pytest(["--servers", "without", *_on_every_core()])
    if first not in (PASSED, FAILED):
        return first
    print("Tests that start servers, one after the other:", flush=True)
    second = _pytest(["--servers", "only"])
    if first == FAILED:
        print("Tests that start no servers failed too: see above, before the first test that starts one.", flush=True)
    return second or first


def _pytest(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode  # noqa: S603


def _workers(extra: list[str]) -> list[str]:
    """Options that spread `--fast` over the cores. A selection of a few tests is sooner done by one process."""
    selects = any(word.startswith(("-k", "-n", "tests")) for word in extra)
    return [] if selects or "--fast" not in extra or _cores() == 1 else _on_every_core()


def _on_every_core() -> list[str]:
    return ["-n", str(_cores()), "--dist", "worksteal"]


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _install_chromium() -> None:
    """Install the browser of the console's tests where that may be done quietly; they are skipped without it."""
    apt = shutil.which("apt-get")
    if shutil.which("chromium") or shutil.which("chromium-browser") or apt is None or os.geteuid() != 0:
        return
    print("installing Chromium for the tests of the console", file=sys.stderr)
    with contextlib.suppress(subprocess.TimeoutExpired):
        for words in (("update", "-qq"), ("install", "-y", "-qq", "--no-install-recommends", "chromium")):
            subprocess.run([apt, *words], capture_output=True, check=False, timeout=INSTALL_SECONDS)  # noqa: S603
