"""Fixtures and options that every room may use."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.services"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="draw the pictures of tests/golden anew")
    parser.addoption("--slow", action="store_true", help="run the long proofs too (`slow`), and fuzz for an hour")
    parser.addoption("--kills", type=int, default=1000, metavar="N", help="with --slow: processes to kill")
    parser.addoption("--fast", action="store_true", help="leave out what starts servers or the whole farm")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long proofs out unless they are asked for, and with `--fast` whatever takes long to start."""
    left_out: tuple[str, ...] = () if config.getoption("--slow") else ("slow",)
    left_out += ("service", "acceptance", "chaos") if config.getoption("--fast") else ()
    kept = [item for item in items if not any(item.get_closest_marker(name) for name in left_out)]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


@pytest.fixture(scope="session")
def slow(pytestconfig: pytest.Config) -> bool:
    """Return True if the long proofs run."""
    return bool(pytestconfig.getoption("--slow"))


@pytest.fixture
def golden_update(pytestconfig: pytest.Config) -> bool:
    """Whether the pictures of tests/golden are drawn anew."""
    return bool(pytestconfig.getoption("--golden-update"))
