"""Inspect an uploaded file: detect its type from its bytes, and test that its beginning can be decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import magic

from farm_core.assets import audio, isobmff, pictures, svg, webm
from farm_core.assets.faults import NotRenderable
from farm_core.assets.kinds import ENDINGS, declared_kind, listed, name_of
from farm_core.assets.streams import check_streams
from farm_core.errors import BadRequest

_HEAD_BYTES: Final = 8192
_UNUSABLE: Final = "The farm cannot draw or play this file (not a renderable asset type)"
_OTHERS: Final = {
    "image/heic": "it is a HEIC photo; save it as JPEG",
    "image/heif": "it is a HEIF photo; save it as JPEG",
    "image/avif": "it is an AVIF picture; save it as PNG or JPEG",
    "image/tiff": "it is a TIFF picture; save it as PNG",
    "image/bmp": "it is a BMP picture; save it as PNG",
    "image/vnd.adobe.photoshop": "it is a Photoshop file; save it as PNG",
    "application/pdf": "it is a PDF; save its page as PNG or SVG",
    "application/zip": "it is a ZIP archive; unpack it and choose a file in it",
    "font/sfnt": "it is a font, which an operator installs for all templates",
    "audio/flac": "it is a FLAC sound; save it as WAV",
    "audio/ogg": "it is an Ogg sound; save it as MP3",
}
"""Other files that people choose, by libmagic's name: what they are, and what to do."""

# libmagic's answer only selects the decoder. The decoder determines the type.
_READERS: Final[dict[str, Callable[[Path], str]]] = {
    "image/png": pictures.read,
    "image/jpeg": pictures.read,
    "image/webp": pictures.read,
    "image/gif": pictures.read,
    "image/svg+xml": svg.read,
    "text/xml": svg.read,
    "text/html": svg.read,
    "text/plain": svg.read,
    "application/xml": svg.read,
    "video/mp4": isobmff.read,
    "video/quicktime": isobmff.read,
    "video/x-m4v": isobmff.read,
    "video/3gpp": isobmff.read,
    "audio/mp4": isobmff.read,
    "audio/x-m4a": isobmff.read,
    "video/webm": webm.read,
    "video/x-matroska": webm.read,
    "audio/mpeg": audio.read_mp3,
    "audio/x-wav": audio.read_wav,
    "audio/vnd.wave": audio.read_wav,
}


def kind_of(path: Path, declared: str | None, accepted: Sequence[str] = tuple(ENDINGS)) -> str:
    """Return the file's media type, one of eleven. Raises BadRequest if the file cannot be rendered, is damaged, or
    is not of the declared or an accepted type."""
    try:
        kind = _read(path)
    except NotRenderable as refusal:
        raise BadRequest(f"{_UNUSABLE}: {refusal}. Accepted are {listed(accepted)}.") from None
    if kind not in accepted:
        raise BadRequest(f"The file is {name_of(kind)}. Accepted are {listed(accepted)}.")
    claimed = declared_kind(declared)
    if claimed is not None and claimed != kind:
        raise BadRequest(f"The file was declared as {claimed}, but its bytes are {kind}.")
    return kind


def kind_at(path: str, declared: str | None, accepted: Sequence[str] = tuple(ENDINGS)) -> str:
    """Call `kind_of` in the sandbox."""
    return kind_of(Path(path), declared, accepted)


def _read(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        raise NotRenderable("the file is empty")
    guess = str(magic.from_buffer(head, mime=True))
    # HEIC and AVIF are ISO media too; without this their error would be that of a damaged video
    reader = _READERS.get(guess) or (None if guess.startswith("image/") else _reader_by_signature(head))
    if reader is None:
        raise NotRenderable(_OTHERS.get(guess, f"the bytes look like {guess}"))
    kind = reader(path)
    if not kind.startswith("image/"):
        check_streams(path)
    return kind


def _reader_by_signature(head: bytes) -> Callable[[Path], str] | None:
    """Return the reader of a file that libmagic does not know: ISO media of unusual brands, or MP3 after padding."""
    if head[4:8] == b"ftyp":
        return isobmff.read
    return audio.read_mp3 if head[:3] == b"ID3" or (head[0] == 0xFF and head[1:2] and head[1] & 0xE0 == 0xE0) else None
