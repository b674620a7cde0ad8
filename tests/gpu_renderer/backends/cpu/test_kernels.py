"""Native kernels: each library gives the bytes of the formulas. Also tests machines where no library can be loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_renderer.kernels.bindings import Kernels
from gpu_renderer.kernels.loading import KernelsUnavailable, installed, kernels, loaded
from tests.gpu_renderer.backends.cpu.kernel_formulas import decodes, encodes, resamples


def test_the_set_up_has_installed_them() -> None:
    assert kernels() is not None


@pytest.mark.parametrize(
    ("equals_formula", "size"),
    [(encodes, size) for size in ((18, 12), (37, 21), (2051, 3))]
    + [(compares, size) for compares in (decodes, resamples) for size in ((18, 12), (2050, 4))],
)
def test_every_library_that_the_processor_can_run_gives_the_bytes_of_the_formulas(
    equals_formula: Callable[[Kernels, int, int], bool], size: tuple[int, int]
) -> None:
    assert all(equals_formula(loaded(path), *size) for path in installed())


def test_without_the_package_they_are_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "render_kernels", None)
    with pytest.raises(KernelsUnavailable, match="not installed"):
        installed()


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernels.so").write_text("no library")
    with pytest.raises(KernelsUnavailable, match="cannot be loaded"):
        loaded(tmp_path / "kernels.so")
