"""Fixtures that every test may use. `tests.runner.plugin` has the options."""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, settings

sys.dont_write_bytecode = False  # compiling the assertions of all tests takes longer than collecting them
pytest_plugins = ["tests.runner.plugin", "tests.services"]
# On a busy machine an example takes long: that is no failure. The same examples in every run.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


@pytest.fixture(scope="session")
def slow(pytestconfig: pytest.Config) -> bool:
    """Return True if the long proofs run."""
    return bool(pytestconfig.getoption("--slow"))


@pytest.fixture
def golden_update(pytestconfig: pytest.Config) -> bool:
    """Return True if the pictures of tests/golden are drawn again."""
    return bool(pytestconfig.getoption("--golden-update"))
