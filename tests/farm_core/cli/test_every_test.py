"""`./farm test` without arguments, on a small suite of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--servers")

def pytest_collection_modifyitems(config, items):
    items[:] = [item for item in items if item.path.stem == "test_" + config.getoption("--servers")]
"""

COMMAND = """
import argparse, sys
from pathlib import Path
from farm_core.cli import test
test.ROOT = Path(sys.argv[1])
test._cores = lambda: 2
test._install_programs = lambda: None
sys.exit(test.run(argparse.Namespace(pytest_arguments=[])))
"""

PASSES = "def test_passes(): pass\n"
FAILS_ONCE = """
from pathlib import Path

def test_fails_once():
    seen = Path(__file__ + ".seen")
    is_second = seen.exists()
    seen.touch()
    assert is_second, "beside others"
"""


def every_test(folder: Path, **modules: str) -> tuple[int, str]:
    """Run the command on a suite of one module for each part. Return the exit status and the output."""
    tests = folder / "tests"
    tests.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -q -p xdist\n")
    (tests / "conftest.py").write_text(CONFTEST)
    for part in ("without", "lanes", "alone"):
        (tests / f"test_{part}.py").write_text(modules.get(part, "") + PASSES)
    ran = subprocess.run(
        [sys.executable, "-c", COMMAND, str(folder)], check=False, capture_output=True, text=True, errors="replace",
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    return ran.returncode, ran.stdout


def test_a_suite_that_passes_runs_once(tmp_path: Path) -> None:
    status, output = every_test(tmp_path)
    assert (status, output.count("1 passed")) == (0, 3)
    assert "alone:" not in output


def test_tests_that_fail_only_beside_others_are_named_and_fail_no_run(tmp_path: Path) -> None:
    status, output = every_test(tmp_path, without=FAILS_ONCE, lanes=FAILS_ONCE, alone=FAILS_ONCE)
    assert status == 0
    assert output.count("They passed alone") == 3
    for part in ("without", "lanes", "alone"):
        assert f"PASSED tests/test_{part}.py::test_fails_once" in output


def test_a_test_that_fails_again_fails_the_run(tmp_path: Path) -> None:
    fails = "def test_fails(): assert False\n"
    status, output = every_test(tmp_path, alone=fails, lanes=FAILS_ONCE)
    assert status == 1
    assert "FAILED tests/test_alone.py::test_fails" in output
    assert output.count("They passed alone") == 1
