"""Read a document from a zip bundle, a folder or a single file, and migrate it (document.md 1)."""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Container, Iterable, Mapping
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from motion.errors import BundleUnreadable
from motion.migrations import migrate
from motion.stored import CONTAINERS_MAX, VALUES_MAX, Document, JsonValue, Record, as_record, items, record

__all__ = ["Document", "read_document", "read_file", "read_folder", "read_value"]

CHUNK_NAMES = ("manifest.json", "scene.json", "animation.json", "timeline.json", "meta.json")
SETTINGS = {
    "timeline.json": ("timelines", "motionBlur", "guides", "colorManagement"),
    "meta.json": ("comps", "comp"),
}
"""The keys of the document that each chunk may hold; others in it are left out."""

ENTRIES_MAX = 20_000
CHUNK_BYTES_MAX = 64 * 1024 * 1024
BUNDLE_BYTES_MAX = 64 * 1024 * 1024
"""Largest inflated size of all chunks of a bundle together."""

NODES_MAX = 50_000
RATIO_MAX = 200
"""Largest ratio of inflated to packed size of a chunk over one megabyte."""

SINGLE_FILE = "The file, which is not a zipped bundle,"
NO_PROJECT = "The file is no .motion project: it is neither a zipped bundle nor a project in one JSON file."
_DAMAGES = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip
"""Errors of damaged archives, of every compression that zips can have."""
_HERE = re.compile(r"\A(?:\./)++")


def read_document(data: bytes) -> Document:
    """Return the document in a zipped bundle or a single-file project, migrated to the current version.

    Raises BundleUnreadable (not a project, damaged, or a zip bomb) and VersionUnsupported.
    """
    return _read(BytesIO(data))


def read_file(path: Path) -> Document:
    """Return the document in a file on disk. Media of a bundle are not read into memory.

    Raises what `read_document` raises, and OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        return _read(file)


def _read(file: BinaryIO) -> Document:
    head = file.read(4)
    file.seek(0)
    if head[:2] == b"PK" and len(head) == 4:
        return _from_archive(file)
    return read_value(_parsed(file.read(CHUNK_BYTES_MAX + 1), SINGLE_FILE))


def read_folder(files: Mapping[str, bytes]) -> Document:
    """Return the document in a bundle's files, by their paths in the bundle. Wrapping folders are allowed."""
    names = {safe: path for path in files if (safe := _safe_name(path))}
    root = _root(list(names))
    chunks = {name: files[names[root + name]] for name in CHUNK_NAMES if root + name in names}
    _refuse_other_products(root, names, chunks)
    return migrate(_assembled(chunks))


def read_value(value: JsonValue) -> Document:
    """Return the document in parsed JSON of one of the single-file shapes (document.md 1.4), migrated."""
    document = as_record(value)
    if isinstance(document.get("nodes"), list):
        _check_nodes(items(document, "nodes"))
        return migrate({"version": "1.1.0", "scene": document, "animation": _empty_animation()})
    if not isinstance(record(document, "scene").get("nodes"), list):
        raise BundleUnreadable("This is not a .motion project: it has no scene.")
    _check_nodes(items(record(document, "scene"), "nodes"))
    if not isinstance(document.get("animation"), dict):
        document = {**document, "animation": _empty_animation()}
    return migrate(document)


def _from_archive(file: BinaryIO) -> Document:
    """Return the document of a zip. Names alone decide its root, and only the root's chunks are inflated, once each."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > ENTRIES_MAX:
                raise BundleUnreadable(f"The bundle has more than {ENTRIES_MAX} entries.")
            named = {name: one for one in entries if (name := _safe_name(one.filename)) and not one.is_dir()}
            root = _root(list(named))
            entries_of_chunks = {name: named[root + name] for name in CHUNK_NAMES if root + name in named}
            chunks = _inflated_chunks(archive, entries_of_chunks, file.seek(0, SEEK_END))
    except _DAMAGES as error:
        raise BundleUnreadable("The bundle is damaged or was cut off: it cannot be unzipped.") from error
    _refuse_other_products(root, named, chunks)
    return migrate(_assembled(chunks))


def _inflated_chunks(
    archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], archive_bytes: int
) -> dict[str, bytes]:
    """Return the chunks. An entry can claim any compressed size, but has at most that of the archive."""
    chunks: dict[str, bytes] = {}
    room = BUNDLE_BYTES_MAX
    for name, entry in entries.items():
        with archive.open(entry) as file:
            content = file.read(room + 1)
        if len(content) > room:
            raise BundleUnreadable(f"The bundle's chunks are larger than {BUNDLE_BYTES_MAX // 1024**2} MB.")
        if len(content) > 1024**2 and len(content) > RATIO_MAX * max(1, min(entry.compress_size, archive_bytes)):
            raise BundleUnreadable(f"{name} inflates to an implausible size.")
        chunks[name] = content
        room -= len(content)
    return chunks


def _safe_name(path: str) -> str:
    """Return the path inside the bundle, or nothing if the path points outside the bundle."""
    name = _HERE.sub("", path.replace("\\", "/"))
    return "" if name.startswith("/") or ".." in name else name


def _root(names: list[str]) -> str:
    """Return the prefix of the folder with the chunks: the top, or the folder of the first manifest that has a scene
    beside it, else of the first manifest.

    Archivers add files such as `__MACOSX/project/._manifest.json`.
    """
    if "manifest.json" in names or "scene.json" in names:
        return ""
    folders = [name[: name.rfind("/") + 1] for name in names if name.endswith("manifest.json")]
    present = set(names)
    if not folders:
        raise BundleUnreadable("This is not a .motion project: it has no manifest.json and no scene.json.")
    return next(
        (folder for folder in folders if {folder + "manifest.json", folder + "scene.json"} <= present), folders[0]
    )


def _refuse_other_products(root: str, names: Container[str], chunks: Mapping[str, bytes]) -> None:
    """Raise BundleUnreadable for a `.mogrt.zip`: it has a manifest.json too, and would open as an empty project."""
    manifest = chunks.get("manifest.json", b"")
    if b"premation-mogrt" in manifest or (root + "package.json" in names and "scene.json" not in chunks):
        raise BundleUnreadable(
            "This is a motion graphics template package (.mogrt.zip), not a .motion project: upload the project."
        )


def _assembled(chunks: Mapping[str, bytes]) -> Document:
    if "scene.json" not in chunks:
        raise BundleUnreadable("The bundle has no scene.json.")
    _check_counts(chunks.values())
    scene = _parsed(chunks["scene.json"], "scene.json")
    if not isinstance(as_record(scene).get("nodes"), list):
        raise BundleUnreadable("scene.json holds no list of nodes.")
    _check_nodes(items(as_record(scene), "nodes"))
    others = {
        name: chunk for name, data in chunks.items() if name != "scene.json" and (chunk := _lenient(data)) is not None
    }
    manifest = others.get("manifest.json", {})
    version = manifest.get("documentVersion")
    document: Document = {
        "version": "1.1.0" if version is None else version,
        "scene": scene,
        "animation": others.get("animation.json") or _empty_animation(),
    }
    for name, keys in SETTINGS.items():
        settings = others.get(name, {})
        document.update({key: settings[key] for key in keys if isinstance(settings.get(key), dict)})
    listed = [name for name, digest in record(manifest, "chunks").items() if digest and name in CHUNK_NAMES]
    readable = {"scene.json", *others}
    if unreadable := [name for name in dict.fromkeys((*chunks, *listed)) if name not in readable]:
        document["unreadableChunks"] = list(unreadable)
    return document


def _lenient(data: bytes) -> Record | None:
    """Return the chunk if it is an object, else None: the editor then uses the chunk's default (document.md 1.3)."""
    try:
        value = _parsed(data, "")
    except BundleUnreadable:
        return None
    return value if isinstance(value, dict) else None


def _check_counts(chunks: Iterable[bytes]) -> None:
    """Raise BundleUnreadable before parsing, which turns a byte of `[],[]` into fifty.

    Brackets in texts count too.
    """
    data_of_chunks = list(chunks)
    if sum(data.count(b"{") + data.count(b"[") for data in data_of_chunks) > CONTAINERS_MAX:
        raise BundleUnreadable(f"The project holds more than {CONTAINERS_MAX} objects and lists.")
    if sum(data.count(b",") for data in data_of_chunks) > VALUES_MAX:
        raise BundleUnreadable(f"The project holds more than {VALUES_MAX} values.")


def _check_nodes(nodes: list[JsonValue]) -> None:
    if len(nodes) > NODES_MAX:
        raise BundleUnreadable(f"The project has more than {NODES_MAX} layers.")


def _parsed(data: bytes, where: str) -> JsonValue:
    if len(data) > CHUNK_BYTES_MAX:
        raise BundleUnreadable(f"{where} is larger than {CHUNK_BYTES_MAX // 1024**2} MB.")
    if not data.strip():
        raise BundleUnreadable(f"{where} is empty.")
    _check_counts((data,))
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_int=_integer, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        message = NO_PROJECT if where == SINGLE_FILE else f"{where} cannot be read as JSON."
        raise BundleUnreadable(message) from error
    return cast(JsonValue, value)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 20 else float(digits)


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is not JSON")


def _empty_animation() -> Record:
    return {"tracks": {}, "expressions": {}}
