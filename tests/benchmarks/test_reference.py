"""The comparison with the editor's own renderer, whose figures are not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import reference
from benchmarks.result import Result, plot


def test_without_figures_there_is_no_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "CORPUS", tmp_path)
    found = reference.run()
    assert found["rows"] == []
    assert found["recommendation"].startswith("Nothing to compare with")
    result = Result.of("reference", reference.QUESTION, found, {})
    assert plot(result, tmp_path).is_file()
