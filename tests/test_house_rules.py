"""Rules of the house that no linter knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("motion", "farm_core", "api", "console", "scheduler", "cluster", "gpu_renderer", "shaders")


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        str(path.relative_to(ROOT)) for path in sources() if re.search(r"os\.(environ|getenv)", path.read_text())
    }
    assert readers <= {"farm_core/settings.py"}


@pytest.mark.parametrize("word", ["manager", "helper", "utils", "common", "info"])
def test_no_module_has_a_name_that_says_nothing(word: str) -> None:
    assert [path for path in sources() if word in path.stem.split("_")] == []
