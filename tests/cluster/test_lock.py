"""Packages that `./farm` installs on first use."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKED = frozenset(
    canonicalize_name(name)
    for name in re.findall(r"^([\w.-]+)(?:\[.*\])?==", (ROOT / "requirements.lock").read_text(), re.M)
)
INSTALLED = {canonicalize_name(one.metadata["Name"]): one.requires or [] for one in distributions()}


def wanted(version: str) -> set[str]:
    """Return all packages that the project needs with that Python, from the metadata of the installed ones."""
    environment = {"python_version": version.rpartition(".")[0], "python_full_version": version}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: set[str] = set()
    waiting = [Requirement(line) for line in (*project["dependencies"], *project["optional-dependencies"]["dev"])]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        known = {f"{name}[{extra}]" for extra in one.extras} | {name}
        if known <= found:
            continue
        found |= known
        for line in INSTALLED.get(name, []):
            below = Requirement(line)
            extras = [{"extra": extra} for extra in ("", *one.extras)]
            if below.marker is None or any(below.marker.evaluate(environment | extra) for extra in extras):
                waiting.append(below)
    return {name for name in found if "[" not in name}


@pytest.mark.parametrize("version", ["3.11.2", "3.11.14", "3.12.3", "3.13.5", "3.14.0"])
def test_the_lock_holds_all_that_a_python_of_debian_or_ubuntu_needs(version: str) -> None:
    """A locked installation refuses packages that are not in the lock. Debian 12 has Python 3.11.2."""
    assert wanted(version) - LOCKED == set()
