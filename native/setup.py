"""Build the wheel of the kernels with `compiling.py`."""

from building import COMMANDS, BinaryDistribution
from setuptools import setup

setup(packages=["render_kernels"], cmdclass=COMMANDS, distclass=BinaryDistribution)
