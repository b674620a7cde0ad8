"""Fixtures and options that every room may use."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.services"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="draw the pictures of tests/golden anew")


@pytest.fixture
def golden_update(pytestconfig: pytest.Config) -> bool:
    """Whether the pictures of tests/golden are drawn anew."""
    return bool(pytestconfig.getoption("--golden-update"))
