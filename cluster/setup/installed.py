"""First start of the installed command `farm`: check the system's libraries, install the fonts."""

from __future__ import annotations

import ctypes.util
import filecmp
import shutil
import sys
from pathlib import Path
from typing import Final

from farm_core.settings import choose_font_configuration
from farm_core.user_error import UserError
from gpu_renderer.commands.fonts import BASE_PACKS
from gpu_renderer.content.text.folders import fonts_folder
from gpu_renderer.content.text.packages import MANIFEST, fetch, missing

LIBRARIES: Final = {"EGL": "libegl1", "GL": "libgl1", "magic": "libmagic1", "fontconfig": "libfontconfig1"}
"""System libraries that no wheel contains, with their Debian packages."""
PACKAGES: Final = "libegl1 libgl1 libegl-mesa0 libgl1-mesa-dri libmagic1 fontconfig libfontconfig1 libexpat1"


class LibrariesMissing(UserError):
    """System libraries are missing. The message says how to install them."""


def prepare() -> None:
    """Check the libraries and install missing fonts. Later calls only read two small files. Raises LibrariesMissing."""
    # Fonts come from the farm's folder, never from the machine's font configuration.
    choose_font_configuration(Path(__file__).with_name("fontconfig"))
    folder = fonts_folder()
    stamp = folder / "packages.installed"
    if stamp.is_file() and filecmp.cmp(stamp, MANIFEST, shallow=False):
        return
    _check_libraries()
    _say(f"first use: installing fonts into {folder}")
    reasons = fetch(missing(folder, BASE_PACKS), folder, _say)
    for name, reason in reasons.items():
        _say(f"{name}: {reason}")
    if not reasons:
        shutil.copyfile(MANIFEST, stamp)


def _check_libraries() -> None:
    lacking = [name for name in LIBRARIES if not ctypes.util.find_library(name)]
    if lacking:
        raise LibrariesMissing(
            f"the system lacks {', '.join(lacking)}. Install them and start again:\n"
            f"    sudo apt-get update && sudo apt-get install -y {PACKAGES}"
        )


def _say(line: str) -> None:
    print(f"farm: {line}", file=sys.stderr)  # noqa: T201 - the command line's own first words
