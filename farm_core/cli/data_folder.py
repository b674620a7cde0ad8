"""The option `--data`, and the settings that follow from it. Imports no slow modules."""

from __future__ import annotations

import argparse
from pathlib import Path

from farm_core.cli.argument_types import folder
from farm_core.settings import Settings, settings


def add_data_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--data DIR`."""
    parser.add_argument("--data", type=folder, default=None, metavar="DIR", help="the farm's data folder (.farm)")


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings, with the data folder of the command line."""
    chosen: Path | None = arguments.data
    return settings() if chosen is None else settings().model_copy(update={"data_folder": chosen})
