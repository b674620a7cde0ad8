"""The window of `./farm preview`, on an X server without a screen, driven with keys as a person does."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from gpu_renderer.commands.options import FONTS
from tests.gpu_renderer.documents import document, layer, moving_square, write_document
from tests.patience import HANG_SECONDS

pytestmark = [
    pytest.mark.gl,
    pytest.mark.thorough,
    pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base"),
    pytest.mark.skipif(
        not all(map(shutil.which, ("Xvfb", "xdotool"))), reason="no display: `apt-get install xvfb xdotool` does it"
    ),
]
T = TypeVar("T")
BLUE, RED, GREEN = (0, 0, 255), (255, 0, 0), (0, 255, 0)


@dataclass(slots=True)
class Display:
    """An X server without a screen."""

    name: str
    framebuffer: Path

    def xdotool(self, *words: str) -> str:
        """Run xdotool on the display and return what it prints."""
        environment = {**os.environ, "DISPLAY": self.name}
        return subprocess.run(
            ["xdotool", *words], env=environment, capture_output=True, text=True, check=False
        ).stdout.strip()

    def colour(self, x: int, y: int) -> tuple[int, int, int]:
        """Return a pixel of the screen (an XWD file, X11/XWDFile.h): red, green and blue."""
        data = self.framebuffer.read_bytes()
        header = struct.unpack(">25I", data[:100])
        start = header[0] + header[19] * 12 + y * header[12] + x * 4
        blue, green, red = data[start : start + 3]
        return red, green, blue


@pytest.fixture
def display(tmp_path: Path) -> Iterator[Display]:
    """Yield a display of 800 x 600 pixels."""
    reading, writing = os.pipe()
    command = [
        "Xvfb",
        "-displayfd",
        str(writing),
        "-screen",
        "0",
        "800x600x24",
        "-fbdir",
        str(tmp_path),
        "-nolisten",
        "tcp",
    ]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield Display(f":{int(told.readline())}", tmp_path / "Xvfb_screen0")
    finally:
        server.terminate()
        server.wait()


def test_a_person_scrubs_edits_the_file_and_reads_it_again(display: Display, tmp_path: Path) -> None:
    file = write_document(tmp_path, moving_square())
    process = _preview(file, display.name)
    try:
        window = _until(lambda: display.xdotool("search", "--onlyvisible", "--name", "project.motion"), process)
        display.xdotool("windowfocus", "--sync", window)

        def shows(title: str) -> bool:
            return display.xdotool("getwindowname", window) == title

        display.xdotool("key", "Home")
        _until(lambda: shows("project.motion  frame 0"), process)
        _until(lambda: display.colour(30, 45) == RED and display.colour(130, 45) == BLUE, process)
        display.xdotool("key", "shift+Right", "Left")
        _until(lambda: shows("project.motion  frame 28"), process)
        _until(lambda: display.colour(30, 45) == BLUE and display.colour(130, 45) == RED, process)

        file.write_text("{")
        display.xdotool("key", "r")
        _until(lambda: shows("project.motion  has an error, see the terminal"), process)
        assert display.colour(130, 45) == RED

        write_document(
            tmp_path, document(layer("wide", x=40, y=45, width=80, height=90, fill="#00ff00"), size=(80, 90))
        )
        display.xdotool("key", "r")
        _until(lambda: shows("project.motion  frame 28"), process)
        # half as wide as the window: centred, black at its sides
        _until(lambda: [display.colour(x, 45) for x in (20, 80, 140)] == [(0, 0, 0), GREEN, (0, 0, 0)], process)
        display.xdotool("key", "Escape")
        _, errors = process.communicate(timeout=HANG_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert errors.startswith(f"preview: {file}: The file is no .motion project")


def test_without_a_display_it_names_the_command_that_writes_files(tmp_path: Path) -> None:
    process = _preview(write_document(tmp_path, moving_square()), None)
    _, errors = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 1
    assert errors == "preview: there is no display to open a window on; ./farm render writes files instead\n"


def _preview(file: Path, display: str | None) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {"DISPLAY": display} if display else {}
    command = [sys.executable, "-m", "farm_core", "preview", str(file)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def _until(look: Callable[[], T], process: subprocess.Popen[str]) -> T:
    """Return the first true value of `look`. Fail if there is none in time, or if the preview has ended."""
    ends = time.monotonic() + HANG_SECONDS
    while not (value := look()):
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.1)
    return value
