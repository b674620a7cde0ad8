"""The command line of the farm, and its composition root: it can start every part, and nothing imports it.

Each command is a module with `add_arguments(parser)` and `run(arguments) -> int`; its docstring is its help text.
Only the module of the requested command is imported, so that every command starts quickly. Errors that a user can fix
end with one message and status 1.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from farm_core.user_error import UserError

CLIENT: Final = Path(__file__).resolve().parents[1] / "clients" / "python"
"""The API client in the checkout. An installed farm has it as a package."""
COMMANDS: Final = {
    "demo": ("cluster.commands.demo", "start a farm, render an example over HTTP, stop the farm"),
    "test": ("farm_core.cli.test", "run the test suite"),
    "up": ("cluster.commands.up", "run the farm in the foreground"),
    "account": ("farm_core.cli.account", "create, change, suspend, delete and list accounts"),
    "token": ("farm_core.cli.token", "print a session token of an account"),
    "console-link": ("farm_core.cli.console_link", "print a one-time link that signs in to the web console"),
    "render": ("gpu_renderer.commands.render", "render a document on this machine, without a farm"),
    "stills": ("gpu_renderer.commands.stills", "render many single frames in one process"),
    "inspect": ("gpu_renderer.commands.inspect", "show what a document contains"),
    "bench": ("benchmarks.runner.command", "run the benchmark suite"),
    "doctor": (
        "cluster.commands.doctor",
        "check the GPU, the encoder and every component, and suggest fixes",
    ),
    "preview": ("gpu_renderer.commands.preview", "play a composition in a window"),
    "fonts": ("gpu_renderer.commands.fonts", "fetch the fonts that the editor offers"),
    "jobs": ("farm_core.cli.jobs", "list jobs, follow one, say why one failed; cancel, retry, requeue, set priorities"),
    "workers": (
        "farm_core.cli.workers",
        "list the render workers and the jobs that they hold; drain, resume, restart, quarantine",
    ),
    "queue": ("farm_core.cli.queue", "show the queue; pause and resume it or one account"),
    "webhooks": ("farm_core.cli.webhooks", "show webhook deliveries; post one again"),
    "retry": ("farm_core.cli.retry", "render a failed job again"),
    "audit": ("farm_core.cli.audit", "show who controlled what, and when"),
    "backup": ("cluster.commands.backup", "write the embedded stores to one file, while the farm runs"),
    "restore": ("cluster.commands.restore", "restore a backup into a data folder"),
    "template": (
        "cluster.commands.template",
        "publish a project as a template, replace one, or restore a former version",
    ),
    "batch": ("cluster.commands.batch", "render a video for each row of a CSV file, with or without a farm"),
    "mcp": ("cluster.commands.mcp_server", "a Model Context Protocol server over the API"),
    "docs": ("farm_core.cli.docs", "build the documentation as a site"),
    "verify": ("cluster.commands.verify", "render random segments of a job again and compare"),
}


HELP: Final = ("-h", "--help", "help")
PROGRAM: Final = "farm" if Path(sys.argv[0]).name == "farm" else "./farm"
"""Name of the program in messages: the installed command, or the script of a checkout."""
OPENGL_PACKAGES: Final = "on Debian the packages libegl1, libgl1, libegl-mesa0 and libgl1-mesa-dri have those of OpenGL"
_LIBRARY: Final = re.compile(r"lib\S+\.so\S*: ")
"""Beginning of the dynamic linker's message about a library."""
Handler = Callable[[int, Any], Any] | signal.Handlers
INTERRUPTED: Final = 128 + signal.SIGINT
READER_GONE: Final = 128 + signal.SIGPIPE


def main(words: list[str] | None = None, before_run: Callable[[], None] = lambda: None) -> int:
    """Run one command; return its exit status. Call `before_run` when its modules are imported and its arguments are valid."""
    try:
        status = _run(sys.argv[1:] if words is None else words, before_run)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `| head` has closed the pipe; drop the buffered output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except UserError as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(_described(error))
    except ImportError as error:
        if _LIBRARY.search(str(error)) is None:  # a mistake of the farm, not a library that the system lacks
            raise
        return _failed(f"{error}. Install the library and start again; {OPENGL_PACKAGES}")
    return status


def _described(error: OSError) -> str:
    """Return the file and the error. The error of a full disk names no file."""
    advice = "free some space and start again" if error.errno in (errno.ENOSPC, errno.EDQUOT) else None
    return ": ".join(str(part) for part in (error.filename, error.strerror or error, advice) if part)


def _failed(message: str) -> int:
    print(f"farm: {message}", file=sys.stderr)
    return 1


def _run(words: list[str], before_run: Callable[[], None]) -> int:
    if words[:1] == ["--version"]:
        return _version()
    if words[:1] == ["help"] and words[1:]:
        words = [words[1], "--help"]
    if not words or words[0] in HELP or words[0] not in COMMANDS:
        return _usage(words)
    name, *rest = words
    if CLIENT.is_dir() and str(CLIENT) not in sys.path:
        sys.path.append(str(CLIENT))
    module = importlib.import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM} {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    if name == "test":
        arguments, extra = parser.parse_known_args(rest)
        arguments.pytest_arguments = extra
    else:
        arguments = parser.parse_args(rest)
    arguments.embedded_database = _embedded_database
    arguments.machine = _machine
    before_run()
    status: int = module.run(arguments)
    return status


def _embedded_database(data_folder: Path) -> AbstractContextManager[str]:
    """Yield the URL of the data folder's own Postgres. Start the server for the block if it does not run."""
    found: AbstractContextManager[str] = importlib.import_module("cluster.embedded.postgres").running(
        data_folder / "postgres"
    )
    return found


def _machine() -> object:
    """Return the drawing settings, for commands that draw without the farm."""
    from farm_core.settings import settings

    chosen, options = settings(), importlib.import_module("gpu_renderer.commands.options")
    device = importlib.import_module("cluster.worker.egl_devices").device_index(None, software=chosen.gl_software)
    return options.Machine(chosen.further_fonts, device, chosen.raster_threads, chosen.encoder, chosen.encode_from_gpu)


def _usage(words: list[str]) -> int:
    asked = bool(words) and words[0] in HELP
    out = sys.stdout if asked else sys.stderr
    if words and not asked:
        print(f"farm: there is no command {words[0]!r}", file=out)
    print(f"usage: {PROGRAM} COMMAND ...\n", file=out)
    for name, (_, help_text) in COMMANDS.items():
        print(f"  {name:13} {help_text}", file=out)
    print(f"\n{PROGRAM} COMMAND --help says more; {PROGRAM} --version names this build.", file=out)
    return 0 if asked else 2


def _version() -> int:
    """Print the version, the build of the renderer, and the fonts. Together with the GPU they determine every frame."""
    version = importlib.import_module("cluster.setup.version")
    print(version.line())
    return 0


def script() -> int:
    """Run the installed command `farm`. On first use, prepare the machine as the script of a checkout does."""
    _raise_on_signals()
    try:
        importlib.import_module("cluster.setup.installed").prepare()
    except UserError as error:
        return _failed(str(error))
    return program()


def program() -> int:
    """Run the command that this process was started for; return its exit status.

    SIGINT and SIGTERM kill the process at once before the command begins and after it ends, when there is nothing to clean up. An
    exception from a signal would be lost there, or become another one within the import of a native module.
    """
    _die_on_signals()
    try:
        return main(before_run=_raise_on_signals)
    finally:
        _die_on_signals()


def _die_on_signals() -> None:
    _handle(signal.SIG_DFL, signal.SIG_DFL)


def _raise_on_signals() -> None:
    _handle(signal.default_int_handler, _terminate)


def _handle(interrupt: Handler, termination: Handler) -> None:
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # which a script sets for jobs in the background
        signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, termination)


def _terminate(_number: int, _frame: object) -> None:
    sys.exit(128 + signal.SIGTERM)  # the default would leave servers and temporary files behind


if __name__ == "__main__":
    sys.exit(program())
