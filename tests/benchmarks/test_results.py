"""Benchmark results: told apart, stored, compared, drawn."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from benchmarks.command import discovered
from benchmarks.result import Result, compared, plot, show
from benchmarks.scenes import SCENES
from farm_core.__main__ import main
from motion.build import build
from motion.bundle import read_value
from motion.evaluate import snapshot


def result(fps: float, processor: str = "one") -> Result:
    rows = [{"scene": "a", "size": "1x1", "fps": fps}, {"scene": "b", "size": "1x1", "fps": 10.0}]
    return Result("speed", "How fast?", rows, "scene", "fps", 20.0, "Buy more.", {"processor": processor})


def test_a_stored_result_is_read_again(tmp_path: Path) -> None:
    assert Result.read(result(30.0).write(tmp_path)) == result(30.0)


def test_two_results_are_compared_by_ratio() -> None:
    rows = compared(result(20.0), result(30.0)).rows
    assert [row["ratio"] for row in rows] == [1.5, 1.0]


def test_results_of_two_machines_are_said_to_be_so() -> None:
    assert "different machines" in compared(result(20.0), result(30.0, "other")).recommendation


def test_a_table_and_a_plot_are_made(tmp_path: Path) -> None:
    console = Console(record=True, width=120)
    show(result(30.0), console)
    assert "How fast?" in console.export_text()
    with Image.open(plot(result(30.0), tmp_path)) as picture:
        assert picture.width > 400


def test_a_file_that_is_no_result_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert main(["bench", "--compare", str(tmp_path / "a.json"), str(tmp_path / "a.json")]) == 1
    assert "no benchmark result" in capsys.readouterr().err


def test_every_benchmark_can_be_run_quickly() -> None:
    found = discovered()
    assert {"throughput", "peers", "tuning", "levers", "workers", "soak"} <= set(found)
    assert all("quick" in inspect.signature(module.run).parameters for module in found.values())


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "nothing"]) == 1
    assert "nothing" in capsys.readouterr().err


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_can_be_evaluated(name: str) -> None:
    composition = build(read_value(SCENES[name].document()))
    assert composition.warnings == ()
    assert snapshot(composition, 1.0).layers
