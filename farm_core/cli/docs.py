"""Build the documentation as a site in out/docs, without network. Broken links are errors. `--serve` shows it while you edit."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from farm_core.interruption import interrupts_unseen_by_children
from farm_core.user_error import UserError

ROOT = Path(__file__).resolve().parents[2]
QUIET = "NO_MKDOCS_2_WARNING=1"
"""Keeps the theme from printing news about its successor."""
ADDRESS = "127.0.0.1:8001"


class NoDocs(UserError):
    """The documentation, or the tool to build it, is missing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the site."""
    parser.add_argument(
        "--serve", action="store_true", help="serve the site on http://127.0.0.1:8001 and rebuild on changes"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run MkDocs in the project's root; return its status."""
    if not (ROOT / "mkdocs.yml").is_file():
        raise NoDocs("the documentation is part of a checkout, not of an installation")
    if importlib.util.find_spec("mkdocs") is None:
        raise NoDocs("MkDocs is missing: delete .venv/requirements.installed and run ./farm again")
    status = _mkdocs(["serve", "--dev-addr", ADDRESS] if arguments.serve else ["build", "--strict", "--quiet"])
    if status == 0 and not arguments.serve:
        print(f"{ROOT / 'out' / 'docs' / 'index.html'}")
    return status


def _mkdocs(words: Sequence[str]) -> int:
    """Run MkDocs; return its status. An interrupted one is killed: of itself, it would report the interrupt and leave files behind."""
    with tempfile.TemporaryDirectory(prefix="farm-docs-") as folder:
        command = ["/usr/bin/env", QUIET, f"TMPDIR={folder}", sys.executable, "-m", "mkdocs", *words]
        with interrupts_unseen_by_children():
            process = subprocess.Popen(command, cwd=ROOT)  # noqa: S603
        try:
            return process.wait()
        finally:
            process.kill()
            process.wait()
