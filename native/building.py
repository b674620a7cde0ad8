"""Parts of a setuptools build that compile the kernels, shared by this folder's wheel and the project's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import compiling
from setuptools import Distribution
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py


class BinaryDistribution(Distribution):
    """A distribution for one kind of machine."""

    def has_ext_modules(self) -> bool:
        """Return True: the wheel has libraries of this machine, though no extension module."""
        return True


class BuildWithKernels(build_py):
    """Compile the libraries beside the module that loads them."""

    def run(self) -> None:
        """Copy the modules, then compile."""
        super().run()
        compiling.build(Path(self.build_lib) / "render_kernels")


class AnyPythonWheel(bdist_wheel):
    """A wheel for this machine and every Python 3: the libraries do not depend on Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the wheel's tag."""
        return "py3", "none", super().get_tag()[2]


COMMANDS: dict[str, Any] = {"build_py": BuildWithKernels, "bdist_wheel": AnyPythonWheel}
