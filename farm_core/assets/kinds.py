"""The eleven media types of uploads, their names, and other names that clients use for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

ENDINGS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "image/gif": "gif",
    "image/svg+xml": "svg",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "video/quicktime": "mov",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/mp4": "m4a",
}
PICTURES: Final = tuple(kind for kind in ENDINGS if kind.startswith("image/"))
VIDEOS: Final = tuple(kind for kind in ENDINGS if kind.startswith("video/"))
SHOWN: Final = (*PICTURES, *VIDEOS)
"""Types that inputs of templates take. Sounds belong to the project."""
_NAMES: Final = dict(
    zip(ENDINGS, ("PNG", "JPEG", "WebP", "GIF", "SVG", "MP4", "WebM", "QuickTime", "MP3", "WAV", "M4A"), strict=True)
)
_NO_PICTURE: Final = "is no picture; an image input takes PNG, JPEG, WebP, GIF or SVG"
_SOUND: Final = "is a sound; a media input takes pictures and videos"
_OTHER_NAMES: Final = {
    "image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "image/svg": "image/svg+xml",
    "text/xml": "image/svg+xml", "application/xml": "image/svg+xml", "video/x-m4v": "video/mp4",
    "audio/webm": "video/webm", "audio/mp3": "audio/mpeg", "audio/x-mp3": "audio/mpeg", "audio/x-mpeg": "audio/mpeg",
    "audio/wave": "audio/wav", "audio/x-wav": "audio/wav", "audio/vnd.wave": "audio/wav", "audio/x-pn-wav": "audio/wav",
    "audio/x-m4a": "audio/mp4", "audio/m4a": "audio/mp4", "audio/mp4a-latm": "audio/mp4", "application/mp4": "video/mp4",
}  # fmt: skip
_NO_TYPE: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})


def declared_kind(content_type: str | None) -> str | None:
    """Return the declared type under its usual name, or None if the client declares none."""
    bare = (content_type or "").partition(";")[0].strip().lower()
    return None if bare in _NO_TYPE else _OTHER_NAMES.get(bare, bare)


def name_of(kind: str) -> str:
    """Return what people call a file of the type, such as *a picture (PNG)*."""
    nouns = {"image": "a picture", "video": "a video", "audio": "a sound"}
    return f"{nouns[kind.partition('/')[0]]} ({_NAMES[kind]})"


def listed(kinds: Iterable[str]) -> str:
    """Return the names of types, such as *PNG, JPEG and MP4*."""
    *others, last = (_NAMES[kind] for kind in kinds)
    return f"{', '.join(others)} and {last}" if others else last


def is_picture(key: str) -> bool:
    """Return True if the storage key of an upload or of fetched media is that of a picture."""
    return _is_of(key, PICTURES)


def input_fault(input_kind: str, key: str) -> str | None:
    """Return why an upload or fetched media cannot be the value of an *image* or *media* input, or None. `key`: its storage key."""
    if input_kind == "image":
        return None if is_picture(key) else _NO_PICTURE
    return None if _is_of(key, SHOWN) else _SOUND


def _is_of(key: str, kinds: Iterable[str]) -> bool:
    return any(key.endswith(f".{ENDINGS[kind]}") for kind in kinds)
