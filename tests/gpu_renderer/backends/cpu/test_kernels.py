"""The loops on the processor: where they come from, and what happens where they cannot be had."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_renderer.host.kernels import COMPILERS, KernelsUnavailable, cache_folder, loaded

needs_compiler = pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="no C compiler")


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@needs_compiler
def test_they_are_compiled_once_and_found_again_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(tmp_path / "cache")
    (made,) = (tmp_path / "cache").iterdir()
    monkeypatch.setenv("PATH", "")
    loaded(tmp_path / "cache")
    assert [made] == list((tmp_path / "cache").iterdir())


@needs_compiler
def test_a_library_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    loaded(tmp_path / "whole")
    (made,) = (tmp_path / "whole").iterdir()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / made.name).write_bytes(made.read_bytes()[:1000])
    loaded(tmp_path / "cut")
    assert (tmp_path / "cut" / made.name).stat().st_size == made.stat().st_size


@needs_compiler
def test_several_processes_may_make_it_at_once(tmp_path: Path) -> None:
    load = "import sys, pathlib; from gpu_renderer.host.kernels import loaded; loaded(pathlib.Path(sys.argv[1]))"
    running = [subprocess.Popen([sys.executable, "-c", load, str(tmp_path)]) for _ in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    assert len(list(tmp_path.iterdir())) == 1


@needs_compiler
def test_without_a_folder_to_keep_it_in_it_is_made_for_the_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    loaded(tmp_path / "file" / "cache")


def test_without_a_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KernelsUnavailable, match=r"no C compiler \(cc, gcc, clang\)"):
        loaded(tmp_path / "cache")


def test_what_cannot_be_loaded_is_not_fatal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "cc", 'for a; do made="$a"; done; echo "no library" > "$made"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(KernelsUnavailable, match="cannot be kept or loaded"):
        loaded(tmp_path / "cache")


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "cc", "echo 'no such header' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(KernelsUnavailable, match="no such header"):
        loaded(tmp_path / "cache")


@needs_compiler
@pytest.mark.parametrize(
    ("source", "mistake"),
    [
        ("kernels", "s/5983u/5982u/"),
        ("kernels", "s/= red.i./= blue[i]/"),
        ("kernels", "s/3 . near.i./2 * near[i]/"),
        ("kernels", "s/>> 22;/>> 21;/"),
        ("numbers", "s/~0x1fffu/~0xfffu/"),
        ("composite", "s/own + 3 . plane/own + 2 * plane/"),
    ],
)
def test_what_gives_other_bytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, mistake: str
) -> None:
    real = next(filter(None, map(shutil.which, COMPILERS)))
    copy = f"""for a; do case "$a" in *.c) cp "${{a%/*}}"/*.[ch] {tmp_path}; sed -i '{mistake}' {tmp_path}/{source}.[ch];; esac; done"""
    there = f'for a; do shift; case "$a" in *.c) set -- "$@" "{tmp_path}/${{a##*/}}";; *) set -- "$@" "$a";; esac; done'
    script(tmp_path / "cc", f'{copy}\n{there}\nexec {real} "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(KernelsUnavailable, match="other bytes"):
        loaded(tmp_path / "cache")


def test_they_are_kept_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "render-farm"
