"""The renderer on OpenGL drivers other than llvmpipe draws the golden cases without driver errors.

`softpipe` comes with Mesa. `zink` draws with Vulkan: it needs Mesa's lavapipe (Debian's `mesa-vulkan-drivers`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.gl, pytest.mark.slow, pytest.mark.timeout(1200)]
ROOT = Path(__file__).resolve().parents[2]
DRIVERS: dict[str, dict[str, str]] = {
    "softpipe": {"GALLIUM_DRIVER": "softpipe"},
    "zink": {"MESA_LOADER_DRIVER_OVERRIDE": "zink", "LIBGL_ALWAYS_SOFTWARE": "1"},
}
SHARE_MAX = 0.001
WITHOUT_SAMPLES = {"softpipe": ("space/", "text/per-character", "text/letters-in-one-plane")}
"""Cases that this driver draws with jagged edges, because it lacks multisampling, which OpenGL 3.3 requires."""


@cache
def report(driver: str) -> dict[str, Any]:
    """Return the report of the driver's process. Skip the test if the driver does not start."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu_renderer.driver_check"], cwd=ROOT, env={**os.environ, **DRIVERS[driver]},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{driver} ended with {done.returncode}:\n{done.stderr[-3000:]}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "unavailable" in found:
        pytest.skip(f"the driver {driver} does not start here: {found['unavailable']}")
    if driver not in found["renderer"]:
        pytest.skip(f"Mesa has no driver {driver} here, it took {found['renderer']}")
    return found


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_driver_has_nothing_to_complain_of(driver: str) -> None:
    assert report(driver)["messages"] == {}


@pytest.mark.parametrize("driver", DRIVERS)
def test_golden_cases_look_the_same_on_a_driver(driver: str) -> None:
    shares = report(driver)["apart"].items()
    jagged = WITHOUT_SAMPLES.get(driver, ())
    assert shares, "cases were drawn"
    assert {case: share for case, share in shares if share > SHARE_MAX and not case.startswith(jagged or ("-",))} == {}
