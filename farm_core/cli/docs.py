"""Build the documentation as a site in out/docs, without network. Broken links are errors. `--serve` shows it while you edit."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from farm_core.user_error import UserError

ROOT = Path(__file__).resolve().parents[2]
QUIET = "NO_MKDOCS_2_WARNING=1"
"""Keeps the theme from printing news about its successor."""


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
    words = ["serve", "--dev-addr", "127.0.0.1:8001"] if arguments.serve else ["build", "--strict", "--quiet"]
    command = ["/usr/bin/env", QUIET, sys.executable, "-m", "mkdocs", *words]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603
    if status == 0 and not arguments.serve:
        print(f"{ROOT / 'out' / 'docs' / 'index.html'}")
    return status
