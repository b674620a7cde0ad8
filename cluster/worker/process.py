"""A process of a local Ray node's workers: `python process.py` takes the options of Ray's own program.

It starts with less processor time: `preloaded.py`, which Ray imports next, enables the collection of garbage.
"""

from __future__ import annotations

import cluster.quick_ray  # noqa: F401  # isort: skip
import farm_core.quick_start  # noqa: F401  # isort: skip
import runpy
from pathlib import Path

import ray

if __name__ == "__main__":
    runpy.run_path(str(Path(ray.__file__).parent / "_private/workers/default_worker.py"), run_name="__main__")
