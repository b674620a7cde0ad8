"""Font folders of the farm: list faces by family, weight and style. The machine's own fonts are never used.

A package folder made by `./farm fonts` carries `faces.json`, which lists thousands of faces without opening them. A
folder of an operator's own fonts has no list and is scanned. Faces are preferred by the order of the folders, then by
file name.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from fontTools.ttLib import TTCollection, TTFont, TTLibError

PACKS = ("reference", "scripts", "cjk", "offered")
"""Packs of `packages.json`, in the order in which a missing character tries them."""
REFERENCE_PACKS = ("reference", "scripts", "cjk")
"""Packs with the fonts of the editor's render worker and with scripts that it lacks.

Families that only the editor's page loads are not included.
"""
FONT_ENDINGS = (".ttf", ".otf", ".ttc")
LISTING = "faces.json"
_ROOT = Path(__file__).resolve().parents[3]
_FAMILY_NAMES = (16, 1)
"""Name ids: the typographic family, then the legacy family, whose name can include the weight."""

_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    TTLibError,
    TypeError,
    ValueError,
    struct.error,
)
"""Errors that fontTools raises for damaged fonts."""

log = logging.getLogger(__name__)


def fonts_folder() -> Path:
    """Return the farm's own font folder: `.fonts` in a checkout, else `render-farm/fonts` in the user's data folder."""
    if (_ROOT / "pyproject.toml").is_file():
        return _ROOT / ".fonts"
    return platformdirs.user_data_path("render-farm") / "fonts"


@dataclass(frozen=True, slots=True)
class FontFile:
    """One face: its file, its names, and the code points that it covers as consecutive [start, end) edges."""

    path: Path
    index: int
    family: str
    weight: int
    italic: bool
    edges: tuple[int, ...]
    sha256: str

    def covers(self, code_point: int) -> bool:
        """Return True if the face has a glyph for the code point."""
        return bisect_right(self.edges, code_point) % 2 == 1

    def covers_any(self, start: int, end: int) -> bool:
        """Return True if the face has a glyph for a code point in [start, end)."""
        after = bisect_right(self.edges, start)
        return after % 2 == 1 or (after < len(self.edges) and self.edges[after] < end)


@dataclass(frozen=True, slots=True)
class FontFolders:
    """A root with a folder for each pack, and the operator's folders, which come first."""

    root: Path
    packs: tuple[str, ...] = PACKS
    further: tuple[Path, ...] = ()

    def files(self) -> tuple[FontFile, ...]:
        """Return every face, in order of preference."""
        packs = (self.root.absolute() / pack for pack in self.packs)
        packages = [path for pack in packs if pack.is_dir() for path in sorted(pack.iterdir()) if path.is_dir()]
        return tuple(file for folder in (*self.further, *packages) for file in _listed(folder))


def identity(files: Iterable[FontFile]) -> str:
    """Return a hex digest of the faces' bytes. Machines with equal digests draw equal letters."""
    return hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()


def write_listing(folder: Path, named: Sequence[FontFile] | None = None) -> None:
    """Write `faces.json` for the fonts in the folder. The faces are scanned, unless the caller names them."""
    rows = [
        [file.path.name, file.index, file.family, file.weight, file.italic, list(file.edges), file.sha256]
        for file in (_scanned(folder) if named is None else named)
    ]
    (folder / LISTING).write_text(json.dumps(rows, separators=(",", ":")))


def edges(font: TTFont) -> tuple[int, ...]:
    """Return sorted [start, end) edges of the runs of consecutive code points that a font covers."""
    found: list[int] = []
    for point in sorted(font.getBestCmap() or ()):
        if found and found[-1] == point:
            found[-1] = point + 1
        else:
            found += [point, point + 1]
    return tuple(found)


def _listed(folder: Path) -> list[FontFile]:
    listing = folder / LISTING
    if not listing.is_file():
        return _scanned(folder)
    return [
        FontFile(folder / name, index, family, weight, italic, tuple(edges), sha256)
        for name, index, family, weight, italic, edges, sha256 in json.loads(listing.read_text())
    ]


def _scanned(folder: Path) -> list[FontFile]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in FONT_ENDINGS)
    return [face for path in paths for face in _faces(path)]


def _faces(path: Path) -> Iterator[FontFile]:
    """Yield each face of a font file. A file that is not a font is skipped and logged."""
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    try:
        count = len(TTCollection(io.BytesIO(data), lazy=True).fonts) if data.startswith(b"ttcf") else 1
        for index in range(count):
            with TTFont(io.BytesIO(data), lazy=True, fontNumber=index) as font:
                names = (font["name"].getDebugName(name_id) for name_id in _FAMILY_NAMES)
                family = next((str(name) for name in names if name), "unnamed")
                os2 = font.get("OS/2")
                weight = int(os2.usWeightClass) if os2 else 400
                italic = bool(font["head"].macStyle & 2) or bool(os2 and os2.fsSelection & 1)
                yield FontFile(path, index, family, weight, italic, edges(font), digest)
    except _FAULTS as error:
        log.warning("the font file %s cannot be read: %s", path.name, error)
