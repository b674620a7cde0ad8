"""Libraries that rarely are of use are left out of a program, or wait until they are used."""

from __future__ import annotations

import subprocess
import sys

from farm_core.settings import ROOT


def _printed(program: str) -> str:
    command = [sys.executable, "-c", f"import sys; {program}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def test_a_delayed_library_is_loaded_by_its_first_use() -> None:
    program = (
        "from farm_core.optional_libraries import delay; delay('email'); import email; print('email.errors' in sys.modules);"
        " from email import message_from_string as read; import email.errors; print(read('A: b')['a'], email.errors.__name__)"
    )
    assert _printed(program) == "False\nb email.errors"


def test_a_library_is_missing_only_while_it_is_left_out() -> None:
    program = (
        "from farm_core.optional_libraries import without\n"
        "with without('colorsys'):\n"
        "    try:\n        import colorsys\n    except ImportError:\n        print('missing')\n"
        "import colorsys; print(colorsys.__name__)"
    )
    assert _printed(program) == "missing\ncolorsys"
