"""Run the whole test suite, the same command that CI runs. Further arguments go to pytest."""

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


class NoTests(Failure):
    """There is nothing to run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Runs pytest in the project's root; returns its status."""
    if not (ROOT / "tests").is_dir():
        raise NoTests("the test suite is part of a checkout, not of an installation")
    extra: list[str] = arguments.pytest_arguments
    os.chdir(ROOT)
    _install_chromium()
    return subprocess.run([sys.executable, "-m", "pytest", *extra], check=False).returncode  # noqa: S603


def _install_chromium() -> None:
    """Install the browser of the console's tests where that may be done quietly; they are skipped without it."""
    apt = shutil.which("apt-get")
    if shutil.which("chromium") or shutil.which("chromium-browser") or apt is None or os.geteuid() != 0:
        return
    print("installing Chromium for the tests of the console", file=sys.stderr)
    with contextlib.suppress(subprocess.TimeoutExpired):
        for words in (("update", "-qq"), ("install", "-y", "-qq", "--no-install-recommends", "chromium")):
            subprocess.run([apt, *words], capture_output=True, check=False, timeout=INSTALL_SECONDS)  # noqa: S603
