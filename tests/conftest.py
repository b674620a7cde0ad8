"""Fixtures for all tests. `tests.runner.plugin` has the options."""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, settings

sys.dont_write_bytecode = False  # compiling all assertions takes longer than collecting the tests
pytest_plugins = ["tests.runner.plugin", "tests.services"]
# No deadline: an example takes long on a busy machine. Every run has the same examples.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


@pytest.fixture(scope="session")
def slow(pytestconfig: pytest.Config) -> bool:
    """Return True if long tests run."""
    return bool(pytestconfig.getoption("--slow"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Return the event loop of tests that are coroutines. Each test has a new one."""
    return "asyncio"


@pytest.fixture
def long_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rate limits count for an hour: on a busy machine, a few requests can take a minute."""
    monkeypatch.setattr("farm_core.rates.WINDOW_SECONDS", 3600.0)


@pytest.fixture
def golden_update(pytestconfig: pytest.Config) -> bool:
    """Return True if the pictures of tests/golden are updated."""
    return bool(pytestconfig.getoption("--golden-update"))
