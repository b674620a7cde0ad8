"""Build backend: setuptools, with a C compiler from a wheel as a build requirement if the machine has none."""

from __future__ import annotations

from typing import Any

import compiling
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403 - a build backend is a module with setuptools' functions


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return the requirements of setuptools, and `ziglang` if there is no C compiler."""
    found: list[str] = build_meta.get_requires_for_build_wheel(config_settings)
    return found if compiling.system_compiler() else [*found, compiling.ZIG]


get_requires_for_build_editable = get_requires_for_build_wheel
