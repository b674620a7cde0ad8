"""Comparison with the editor's own renderer. Its results are not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import reference
from benchmarks.runner.result import Result, plot


def test_without_figures_there_is_no_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "CORPUS", tmp_path)
    benchmark = reference.BENCHMARK
    rows = list(benchmark.rows(False))
    assert rows == []
    result = Result.of("reference", benchmark, rows, benchmark.advice(rows), {})
    assert result.recommendation.startswith("Nothing to compare with")
    assert plot(result, tmp_path).is_file()
