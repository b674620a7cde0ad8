"""The native kernels: each library gives the formulas' bytes, and what happens where none can be loaded."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_renderer.host.kernels import KernelsUnavailable, installed, kernels, loaded

ROOT = next(folder for folder in Path(__file__).parents if (folder / "native").is_dir())
COMPILE = (
    "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import compiling; compiling.build(pathlib.Path(sys.argv[2]))"
)
needs_compiler = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")


def test_the_set_up_has_installed_them() -> None:
    assert kernels() is not None


def test_every_library_that_the_processor_can_run_gives_the_bytes_of_the_formulas() -> None:
    for path in installed():
        loaded(path)


def test_without_the_package_they_are_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "render_kernels", None)
    with pytest.raises(KernelsUnavailable, match="not installed"):
        installed()


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernels.so").write_text("no library")
    with pytest.raises(KernelsUnavailable, match="cannot be loaded"):
        loaded(tmp_path / "kernels.so")


@needs_compiler
@pytest.mark.parametrize(
    ("source", "text", "mistake"),
    [
        ("kernels.c", "5983u", "5982u"),
        ("kernels.c", "3 * near[i]", "2 * near[i]"),
        ("kernels.c", ">> 22;", ">> 21;"),
        ("numbers.h", "bits_of(number) & ~0x1fffu", "bits_of(number) & ~0xfffu"),
        ("composite.c", "own + channel * plane, own + 3 * plane", "own + channel * plane, own + 2 * plane"),
    ],
)
def test_a_library_that_gives_other_bytes_is_refused(tmp_path: Path, source: str, text: str, mistake: str) -> None:
    copy = tmp_path / "native"
    shutil.copytree(ROOT / "native", copy)
    correct = (copy / "src" / source).read_text()
    assert text in correct
    (copy / "src" / source).write_text(correct.replace(text, mistake))
    subprocess.run([sys.executable, "-c", COMPILE, str(copy), str(tmp_path / "out")], check=True)
    with pytest.raises(KernelsUnavailable, match="other bytes"):
        loaded(tmp_path / "out" / installed()[-1].name)
