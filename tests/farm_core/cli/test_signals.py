"""SIGINT and SIGTERM end a command without a traceback and leave neither files nor processes behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from farm_core import __main__ as farm
from tests.farm_core.commands import start_command
from tests.gpu_renderer.documents import document, layer, write_document
from tests.patience import HANG_SECONDS

NATIVE_MODULE = """\
import os, signal
try:
    os.kill(os.getpid(), signal.{name})
except BaseException:
    raise ImportError("initialization failed")
"""
"""Module that gets a signal while it is imported, and loses the exception as native ones do."""


@pytest.mark.thorough
@pytest.mark.gl
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_render_that_is_told_to_end_leaves_nothing_behind(
    folder_of_commands: Path, number: signal.Signals, workers: str
) -> None:
    file = write_document(folder_of_commands, document(layer("square"), seconds=3600))
    (out := folder_of_commands / "out").mkdir()
    words = ("render", str(file), "-o", str(out / "a.mp4"), "--workers", workers)
    with start_command(*words, folder=folder_of_commands) as render:
        _wait_for(out, ".render-*/*")  # it renders
        assert len(list(out.iterdir())) == 1
        # Ctrl-C in a terminal is for all of its processes.
        (os.killpg if number == signal.SIGINT else os.kill)(render.pid, number)
        error = render.communicate(timeout=HANG_SECONDS)[1]  # until no process is left that could write to it
    assert render.returncode == 128 + number
    assert "Traceback" not in error
    assert list(out.iterdir()) == []


@pytest.fixture
def raising_sigterm() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, as commands do."""

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    former = signal.signal(signal.SIGTERM, end)
    yield
    signal.signal(signal.SIGTERM, former)


@pytest.mark.gl
@pytest.mark.parametrize(("step", "is_early"), [("tempfile.mkdtemp", False), ("shutil.rmtree", True)])
def test_a_signal_while_the_folder_of_a_render_is_made_or_removed_leaves_nothing_behind(
    folder_of_commands: Path, raising_sigterm: None, monkeypatch: pytest.MonkeyPatch, step: str, is_early: bool
) -> None:
    module, name = step.split(".")
    act, sent = getattr(sys.modules[module], name), list[object]()

    def signalled(*words: Any, **options: Any) -> Any:
        def send() -> None:
            if ".render-" in f"{words} {options}" and not sent:
                sent.append(words)
                signal.raise_signal(signal.SIGTERM)

        if is_early:
            send()
        result = act(*words, **options)
        send()
        return result

    monkeypatch.setattr(step, signalled)
    file = write_document(folder_of_commands, document(layer("square"), seconds=0.1))
    (out := folder_of_commands / "out").mkdir()
    with pytest.raises(SystemExit) as ended:
        farm.main(["render", str(file), "-o", str(out / "a.mp4")])
    assert (ended.value.code, len(sent)) == (128 + signal.SIGTERM, 1)
    assert [path.name for path in out.iterdir() if path.name != "a.mp4"] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_interrupted_while_it_loads_ends_without_a_word(
    folder_of_commands: Path, number: signal.Signals
) -> None:
    (modules := folder_of_commands / "modules").mkdir()
    (modules / "skia.py").write_text(NATIVE_MODULE.format(name=number.name))
    with start_command("render", "a.motion", folder=folder_of_commands, modules=modules) as render:
        assert render.communicate(timeout=HANG_SECONDS) == ("", "")
    assert render.returncode == -number


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_documentation_that_is_no_longer_served_leaves_nothing_behind(
    folder_of_commands: Path, number: signal.Signals
) -> None:
    (temporary := folder_of_commands / "temporary").mkdir()
    with start_command("docs", "--serve", folder=folder_of_commands, TMPDIR=str(temporary)) as docs:
        _wait_for(temporary, "**/mkdocs_*")  # the folder of the site
        (os.killpg if number == signal.SIGINT else os.kill)(docs.pid, number)
        error = docs.communicate(timeout=HANG_SECONDS)[1]
    assert docs.returncode == 128 + number
    assert "Traceback" not in error
    assert list(temporary.iterdir()) == []


def _wait_for(folder: Path, pattern: str) -> None:
    """Wait until a path below the folder matches the pattern."""
    deadline = time.monotonic() + HANG_SECONDS
    while not list(folder.glob(pattern)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
