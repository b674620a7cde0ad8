"""House rules that no linter checks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("motion", "farm_core", "api", "console", "scheduler", "cluster", "gpu_renderer", "shaders")
LINES_MAX, FUNCTION_LINES_MAX = 400, 60


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


def test_files_and_functions_stay_short() -> None:
    kernels = sorted((ROOT / "native" / "src").iterdir())
    long_files = [str(path) for path in [*sources(), *kernels] if len(path.read_text().splitlines()) > LINES_MAX]
    assert long_files == []
    long_functions = [
        f"{path}:{node.lineno} {node.name}"
        for path in sources()
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_LINES_MAX
    ]
    assert long_functions == []


def test_decision_records_have_numbers_of_their_own_and_citations_name_one() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert sorted(set(numbers)) == numbers
    places = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *sources()]
    cited = {number for path in places for number in re.findall(r"decisions?[ /](\d{4})\b", path.read_text())}
    assert len(cited) > 10
    assert cited <= set(numbers)
