"""Fixtures that every room may use."""

from __future__ import annotations

pytest_plugins = ["tests.services"]
