"""Build the wheel of the kernels; `compiling.py` does the work."""

from building import COMMANDS, BinaryDistribution
from setuptools import setup

setup(packages=["render_kernels"], cmdclass=COMMANDS, distclass=BinaryDistribution)
