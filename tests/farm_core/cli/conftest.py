"""Fixtures for commands that run in their own folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest

from farm_core import __main__ as farm
from farm_core.settings import settings
from tests.runner.plugin import NO_ENV_FILE

CommandError = Callable[..., str]


@pytest.fixture
def folder_of_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Change to a new folder with an environment of its own, where commands read `.env`."""
    monkeypatch.chdir(tmp_path)
    settings.cache_clear()
    with mock.patch.dict(os.environ):
        os.environ.pop(NO_ENV_FILE, None)
        yield tmp_path
    settings.cache_clear()


@pytest.fixture
def command_error(folder_of_commands: Path, capsys: pytest.CaptureFixture[str]) -> CommandError:
    """Run a command that must exit with status 1; return its message."""

    def run(*words: str) -> str:
        assert farm.main(list(words)) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("farm: ")
        return printed.err

    return run
