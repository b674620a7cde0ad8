"""Documents, inputs and media from the local disk, for commands that need no service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from motion import template
from motion.bundle import read_file, read_folder
from motion.errors import DocumentError
from motion.stored import Document

LOCAL_PREFIX = "https://local.invalid/"
"""Address prefix of local files that are given as inputs. The host cannot exist."""


class InputRefused(DocumentError):
    """A given input does not fit the document."""


def read_local(path: Path) -> Document:
    """Return the document in a `.motion` folder, zip or single file. Raises DocumentError, also for a missing file."""
    try:
        if path.is_dir():
            files = {str(file.relative_to(path)): file for file in sorted(path.rglob("*.json"))}
            return read_folder({name: file.read_bytes() for name, file in files.items()})
        return read_file(path)
    except OSError as error:
        raise DocumentError(f"The file cannot be read: {error.strerror}.") from error


class LocalMedia:
    """Find sources on disk: files given as inputs, and addresses by their file name in a media folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._named: list[Path] = []

    def named(self, path: Path) -> str:
        """Return an address that `resolve` maps to this file, in the media folder or the current folder.

        The address ends in the file's name: warnings show the name, and its extension distinguishes videos from pictures.
        Raises InputRefused if there is no such file.
        """
        file = next((one for one in self._candidates(path) if one.is_file()), None)
        if file is None:
            folder = self._folder
            where = (
                "; --media names a folder of files" if folder is None else f", and there is no such file in {folder}"
            )
            raise InputRefused(f"{path} is neither an address nor a file{where}.")
        self._named.append(file)
        return f"{LOCAL_PREFIX}{len(self._named) - 1}/{quote(file.name)}"

    def _candidates(self, path: Path) -> list[Path]:
        return [path] if self._folder is None else [self._folder / path, path]

    def resolve(self, src: str) -> Path | None:
        """Return the file of a source, or None. Nothing is fetched."""
        if src.startswith(LOCAL_PREFIX):
            return self._named[int(src.removeprefix(LOCAL_PREFIX).partition("/")[0])]
        name = unquote(urlsplit(src).path).rsplit("/", 1)[-1]
        path = self._folder / name if self._folder is not None and name not in ("", ".", "..") else None
        return path if path is not None and path.is_file() else None


def with_inputs(
    document: Document, values: Mapping[str, str], media: LocalMedia, composition_id: str | None = None
) -> Document:
    """Return a copy of the document with the inputs applied. A picture or video can be an address or a local file.

    Raises InputRefused, which lists every fault.
    """
    fields = fields_by_id(document, composition_id)
    given: dict[str, str | float] = {}
    faults = []
    for name, text in values.items():
        try:
            given[name] = _value(fields, name, text, media)
        except InputRefused as fault:
            faults.append(fault.message)
    if faults:
        raise InputRefused("\n".join(faults))
    return template.apply(document, fields.values(), given)


def fields_by_id(document: Document, composition_id: str | None = None) -> dict[str, template.InputField]:
    """Return the inputs by each of their ids.

    One of the ids is the id that the project's author chose, which templates published by the editor use.
    """
    fields = {field.id: field for field in fields_of(document, composition_id)}
    own_ids = {field.target: field.id for field in template.authored_fields(document, composition_id)}
    return {
        own: replace(field, id=own) for field in fields.values() if (own := own_ids.get(field.target)) is not None
    } | fields


def fields_of(document: Document, composition_id: str | None = None) -> Sequence[template.InputField]:
    """Return the document's inputs: authored inputs, media layers and texts."""
    return template.discover(document, composition_id, include_text=True).fields


def _value(fields: Mapping[str, template.InputField], name: str, text: str, media: LocalMedia) -> str | float:
    if name not in fields:
        offered = ", ".join(sorted(fields)) or "none"
        raise InputRefused(f"There is no input {name!r}; the document offers: {offered}.")
    kind = fields[name].kind
    if kind in ("image", "media"):
        if text.startswith(("http://", "https://")):
            return text
        try:
            return media.named(Path(text))
        except InputRefused as refused:
            raise InputRefused(f"{name}: {refused.message}") from None
    if kind == "text":
        return text
    value = _number(text) if kind == "number" else text
    for fault in template.validate([fields[name]], {name: value}):  # the same rules and messages as the API
        raise InputRefused(f"{name} {fault.message}, not {text!r}.")
    return value


def _number(text: str) -> float | str:
    """Return the text as a number, or unchanged if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return text
