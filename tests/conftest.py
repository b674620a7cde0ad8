"""Fixtures and options that every room may use."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.services"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="draw the pictures of tests/golden anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests marked slow unless -m names the mark."""
    if "slow" not in config.getoption("markexpr"):
        skipped = pytest.mark.skip(reason="slow: runs with -m slow")
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(skipped)


@pytest.fixture
def golden_update(pytestconfig: pytest.Config) -> bool:
    """Whether the pictures of tests/golden are drawn anew."""
    return bool(pytestconfig.getoption("--golden-update"))
