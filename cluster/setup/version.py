"""Version of the farm and of everything that affects its frames."""

from __future__ import annotations

import platform
import subprocess

from farm_core.release import version
from farm_core.settings import ROOT
from gpu_renderer.content.text.folders import FontFolders, fonts_folder, identity
from gpu_renderer.session import BUILD


def line() -> str:
    """Return version, commit, renderer build, fonts and Python in one line."""
    fonts = FontFolders(fonts_folder()).files()
    built_from = f" ({known})" if (known := commit()) else ""
    named = f"fonts {identity(fonts)[:12]}" if fonts else "no fonts"
    return f"render-farm {version()}{built_from}, renderer build {BUILD}, {named}, Python {platform.python_version()}"


def commit() -> str:
    """Return the commit of a checkout, or an empty string for an installation or an unpacked archive, or without git."""
    if not (ROOT / ".git").exists():
        return ""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
