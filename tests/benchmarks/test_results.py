"""Benchmark results: identify, store, compare and draw them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from benchmarks.drawing.scenes import SCENES
from benchmarks.runner.benchmark import Benchmark
from benchmarks.runner.command import discovered
from benchmarks.runner.machine import ROOT, machine_line
from benchmarks.runner.result import Result, compared, plot, show
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


def test_results_of_two_machines_are_marked() -> None:
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


def test_every_benchmark_is_found_by_its_module() -> None:
    assert {"throughput", "peers", "tuning", "optimisations", "workers", "soak"} <= set(discovered())


def test_a_benchmark_is_run_stored_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "evaluate", "--quick"]) == 0
    shown = capsys.readouterr().out
    assert "evaluate: 50 moving: evaluate_ms" in shown
    stored = Result.read(ROOT / "out" / "bench" / "evaluate.json")
    assert [row["layers"] for row in stored.rows] == ["50 moving", "50 at rest"]


def test_a_machine_without_git_is_described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine_line("software")["commit"] == "unknown"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_column_is_readable_on_any_console(width: int) -> None:
    row = {"scene": "a", "size": "1x1", **{f"column_{number}": f"value_{number}" for number in range(12)}}
    console = Console(record=True, width=width)
    show(Result("speed", "How fast?", [row], "scene", "column_0"), console)
    text = console.export_text()
    assert all(word in text for word in (*row, *row.values()))


def test_a_ranked_benchmark_shows_the_largest_first() -> None:
    ranked = Benchmark("How slow?", lambda _: iter(()), label="effect", bar="ms", is_ranked=True)
    result = Result.of("slow", ranked, [{"effect": "a", "ms": 1.0}, {"effect": "b", "ms": 2.0}], "", {})
    assert [row["effect"] for row in result.rows] == ["b", "a"]


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "nothing"]) == 1
    assert "nothing" in capsys.readouterr().err


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_can_be_evaluated(name: str) -> None:
    composition = build(read_value(SCENES[name].document()))
    assert composition.warnings == ()
    assert snapshot(composition, 1.0).layers
