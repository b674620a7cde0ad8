"""Fetch the fonts that documents name into the farm's own folder, pinned by version and hash.

Without arguments, the command fetches everything: the fonts of the editor's render worker, scripts and emoji, Chinese,
Japanese and Korean, and the families that the editor offers. It keeps fonts that are installed, so it also works offline later.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gpu_renderer.content.text.folders import PACKS, FontFolders, fonts_folder
from gpu_renderer.content.text.packages import fetch, missing

FONTS = fonts_folder()
BASE_PACKS = ("reference", "scripts")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the font packs and the folder."""
    parser.add_argument("--base", action="store_true", help="only the fonts that the farm cannot do without")
    parser.add_argument("--list", action="store_true", help="only print the families that are installed")
    parser.add_argument("--folder", type=Path, default=FONTS, help=f"the font folder (default: {FONTS})")


def run(arguments: argparse.Namespace) -> int:
    """Fetch missing fonts. Return 1 if no font is available afterwards."""
    if arguments.list:
        return _list(arguments.folder)
    wanted = missing(arguments.folder, BASE_PACKS if arguments.base else PACKS)
    reasons = fetch(wanted, arguments.folder, _say) if wanted else {}
    for name, reason in reasons.items():
        _say(f"{name}: {reason}")
    if reasons:
        _say("without them this machine draws some text differently from others. Start again to fetch them.")
    return 1 if reasons else 0


def _list(folder: Path) -> int:
    for pack in PACKS:
        families = sorted({file.family for file in FontFolders(folder, (pack,)).files()})
        print(f"{pack}: {', '.join(families) or 'nothing'}")
    return 0


def _say(line: str) -> None:
    print(f"fonts: {line}", file=sys.stderr)
