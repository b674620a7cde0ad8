"""Pytest plugin of the suite: options, selection and order of tests, live count, recorded durations."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from farm_core.long_steps import reporting
from farm_core.settings import Settings
from gpu_renderer.opengl.context import GpuIdentity
from tests.runner import durations, selection
from tests.runner.progress import Progress

OF_TERMINALS = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES")
"""Variables that change the output of commands. Many CI systems set them."""
OF_THE_MACHINE = {"gl_software", "drawing_sandbox"}
"""Settings that are kept: on some machines, tests cannot run without them."""
NO_ENV_FILE = "PYTHON_DOTENV_DISABLED"
NEAR = "127.0.0.1,localhost"
"""Hosts of test servers, which are reached without a proxy."""
Status = tuple[str, str, Any]
"""Category, letter and word of a test's outcome."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="draw the pictures of tests/golden again")
    parser.addoption("--slow", action="store_true", help="run the long proofs too (`slow`), and fuzz for an hour")
    parser.addoption("--kills", type=int, default=1000, metavar="N", help="with --slow: processes to kill")
    parser.addoption("--as-gpu", action="store_true", help="draw with software OpenGL as on a GPU: by its routes")
    parser.addoption("--fast", action="store_true", help="leave out tests that start servers or take seconds")
    parser.addoption(
        "--servers", choices=selection.PARTS,
        help="run only tests without servers, those with servers that can run in lanes, or those that use every core",
    )  # fmt: skip


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection and exclude the modules and tests from it later: it takes a third of the
    time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip folders without a test of the selected part."""
    return selection.is_left_out(collection_path, config.rootpath, config.getoption("--servers")) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that the options exclude, and put slow tests last, or first in lanes."""
    selection.mark_services(items)
    fast, slow, servers = (config.getoption(name) for name in ("--fast", "--slow", "--servers"))
    kept, left_out = selection.select(items, fast=fast, slow=slow, servers=servers)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    ordered = selection.longest_first if servers == selection.LANES else selection.order
    items[:] = ordered(kept, durations.recorded(config.rootpath))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Run tests in a clean environment, and show the live count in place of pytest's dots."""
    _leave_behind_the_environment()
    _leave_behind_ignored_signals()
    if config.getoption("--as-gpu"):
        GpuIdentity.is_software = property(lambda _: False)  # type: ignore[assignment, method-assign]
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or config.option.collectonly or config.option.verbose > 0:
        return
    width = shutil.get_terminal_size().columns if reporter.isatty else None
    progress = Progress(reporter._tw._file, durations.recorded(config.rootpath), width=width)
    config.pluginmanager.register(LiveCount(progress))


def _leave_behind_the_environment() -> None:
    """Remove variables that configure the farm or change the output of commands, read no `.env` of the checkout, and
    set no proxy for test servers."""
    for name in (*OF_TERMINALS, *(field.upper() for field in set(Settings.model_fields) - OF_THE_MACHINE)):
        os.environ.pop(name, None)
    os.environ[NO_ENV_FILE] = "1"
    others = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = f"{others},{NEAR}" if others else NEAR


def _leave_behind_ignored_signals() -> None:
    """Let processes that tests start take SIGHUP and SIGINT, although `nohup` or a script's background job ignores them.

    Processes inherit an ignored signal, but no handler. This process does nothing on these signals, as before.
    """
    for number in (signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)


class LiveCount:
    """Hooks of the reporting process, with or without xdist workers."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._reporting = ExitStack()

    def pytest_sessionstart(self) -> None:
        self._reporting.enter_context(reporting(lambda _seconds: self._progress.still()))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not session.config.getoption("numprocesses", None):
            self._reporting.close()  # tests that run here can need a process with one thread
        if session.items:
            self._progress.collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._progress.collected(ids)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self) -> Generator[None, Status, Status]:
        """Keep the category of a test in the summary, but print no letter."""
        category, *_ = yield
        return category, "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._progress.reported(report.nodeid, report.duration, failed=report.failed)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._progress.finished(nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._reporting.close()
        self._progress.end()
        durations.record(self._progress.took, session.config.rootpath)
