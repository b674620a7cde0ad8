"""Setuptools commands that compile the kernels, for the wheels of this folder and of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import compiling
from setuptools import Distribution
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py


class BinaryDistribution(Distribution):
    """A platform-specific distribution."""

    def has_ext_modules(self) -> bool:
        """Return True: the wheel contains libraries for this platform, although no extension modules."""
        return True


class BuildWithKernels(build_py):
    """Build command that compiles the libraries beside the module that loads them."""

    def run(self) -> None:
        """Copy the modules, then compile the libraries."""
        super().run()
        compiling.build(Path(self.build_lib) / "render_kernels")


class AnyPythonWheel(bdist_wheel):
    """A wheel for this platform and every Python 3, because the libraries do not depend on Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the wheel's tag."""
        return "py3", "none", super().get_tag()[2]


COMMANDS: dict[str, Any] = {"build_py": BuildWithKernels, "bdist_wheel": AnyPythonWheel}
