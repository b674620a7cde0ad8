"""Version of the farm."""

from __future__ import annotations

import tomllib
from importlib import metadata

from farm_core.settings import ROOT


def version() -> str:
    """Return the version in the checkout's `pyproject.toml`, or that of the installed package."""
    project = ROOT / "pyproject.toml"
    if project.is_file():
        named: str = tomllib.loads(project.read_text())["project"]["version"]
        return named
    return metadata.version("render-farm")
