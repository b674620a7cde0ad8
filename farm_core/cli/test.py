"""Run the whole test suite, the same command that CI runs. Further arguments go to pytest."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from farm_core.failure import Failure

ROOT = Path(__file__).resolve().parents[2]


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
    return subprocess.run([sys.executable, "-m", "pytest", *extra], check=False).returncode  # noqa: S603
