"""Build the project's wheel: its packages with all their files, the examples, and the native kernels."""

import sys
from pathlib import Path

from setuptools import find_packages, setup

sys.path.insert(0, str(Path(__file__).parent / "native"))
from building import COMMANDS, BinaryDistribution

ROOMS = (
    "api",
    "scheduler",
    "gpu_renderer",
    "shaders",
    "cluster",
    "motion",
    "farm_core",
    "benchmarks",
    "examples",
    "console",
)

setup(
    packages=[
        *find_packages(include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")]),
        "render_kernels",
        "render_farm_client",
    ],
    package_dir={"render_kernels": "native/render_kernels", "render_farm_client": "clients/python/render_farm_client"},
    package_data={"": ["**/*"]},
    exclude_package_data={"": ["**/__pycache__/*", "__pycache__/*"]},
    cmdclass=COMMANDS,
    distclass=BinaryDistribution,
)
