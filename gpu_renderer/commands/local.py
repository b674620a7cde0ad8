"""Documents, inputs and media from the local disk, for the commands that need no service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from motion import template
from motion.bundle import read_file, read_folder
from motion.errors import DocumentError
from motion.schema.stored import Document

LOCAL_PREFIX = "https://local.invalid/"
"""Stands for a file that a person named as an input; no such host can exist."""


class InputRefused(DocumentError):
    """An input given by hand does not fit the document."""


def read_local(path: Path) -> Document:
    """Return the document in a `.motion` folder, zip or single file. Raises DocumentError, also where there is no such file."""
    try:
        if path.is_dir():
            files = {str(file.relative_to(path)): file for file in sorted(path.rglob("*.json"))}
            return read_folder({name: file.read_bytes() for name, file in files.items()})
        return read_file(path)
    except OSError as error:
        raise DocumentError(f"The file cannot be read: {error.strerror}.") from error


class LocalMedia:
    """Find sources on the disk: files named as inputs, and any address by its last path part in a media folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._named: list[Path] = []

    def named(self, path: Path) -> str:
        """Return an address that `resolve` answers with this file, of the media folder or else of the present one.

        The address ends in the file's name: warnings show it, and its ending tells videos from pictures. Raises
        InputRefused if there is no such file.
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
        """Return the file behind a source, None where there is none. Nothing is fetched."""
        if src.startswith(LOCAL_PREFIX):
            return self._named[int(src.removeprefix(LOCAL_PREFIX).partition("/")[0])]
        name = unquote(urlsplit(src).path).rsplit("/", 1)[-1]
        path = self._folder / name if self._folder is not None and name not in ("", ".", "..") else None
        return path if path is not None and path.is_file() else None


def with_inputs(
    document: Document, values: Mapping[str, str], media: LocalMedia, composition_id: str | None = None
) -> Document:
    """A copy of the document with inputs written in; a picture or video may be an address or a local file.

    Raises InputRefused with every fault at once.
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
    """Return the inputs by every id that names them.

    The id that the project's author chose is one of them: a template that the editor publishes has it.
    """
    fields = {field.id: field for field in fields_of(document, composition_id)}
    own_ids = {field.target: field.id for field in template.authored_fields(document, composition_id)}
    return {
        own: replace(field, id=own) for field in fields.values() if (own := own_ids.get(field.target)) is not None
    } | fields


def fields_of(document: Document, composition_id: str | None = None) -> Sequence[template.InputField]:
    """Return the inputs that the document offers: its authors', its media layers and its texts."""
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
    for fault in template.validate([fields[name]], {name: value}):  # the API's rules and words
        raise InputRefused(f"{name} {fault.message}, not {text!r}.")
    return value


def _number(text: str) -> float | str:
    """Return the number, or the text itself if it is none."""
    try:
        return float(text)
    except ValueError:
        return text
