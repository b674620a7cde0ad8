"""Publish a project as a template, or as a new version of one, and restore former versions. The project's texts, colours,
numbers and media become inputs; local media are embedded.

Prints the template as JSON. Media that the project names but that are not public are looked for in the bundle's folder and in
--media DIR. They become the inputs' default pictures.
"""

from __future__ import annotations

import argparse
import base64
import json
import mimetypes
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

from render_farm_client import ApiError, NoAnswer, Template, TemplateVersion

from cluster.commands import connecting
from farm_core.cli import screen
from farm_core.cli.argument_types import whole
from farm_core.cli.listing import Listing
from farm_core.user_error import UserError
from gpu_renderer.commands.local import read_local
from motion import template
from motion.errors import DocumentError
from motion.schema.compositions import chosen
from motion.stored import Document, copied, record, records, scene_nodes
from motion.template import InputField

BODY_BYTES_MAX: Final = 10_000_000
"""The API's limit for a request body."""


class NotPublished(UserError):
    """The project cannot be published. The message says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands `add FILE`, `replace ID FILE`, `versions ID` and `restore ID N`, and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="add | replace | versions | restore")
    add = actions.add_parser("add", help="publish a project", description=__doc__)
    replace = actions.add_parser(
        "replace", help="publish a project as a new version of a template; accepted renders keep the former one"
    )
    replace.add_argument("id", metavar="ID", help="the template's id, which stays")
    for action, kept in ((add, "the composition's"), (replace, "as it is")):
        action.add_argument("file", type=Path, metavar="FILE", help="a .motion folder, zip or single file")
        action.add_argument("--name", metavar="N", help=f"the template's name (default: {kept})")
        action.add_argument("--media", type=Path, metavar="DIR", help="where local media are looked for, by name")
    versions = actions.add_parser("versions", help="list the former versions of a template")
    restore = actions.add_parser("restore", help="make a new version of a template with the content of a former one")
    for action in (versions, restore):
        action.add_argument("id", metavar="ID", help="the template's id")
    restore.add_argument("version", type=whole(1), metavar="N", help="the former version's number")
    for action in (add, replace, versions, restore):
        connecting.add_arguments(action)


def run(arguments: argparse.Namespace) -> int:
    """Print the template that was made, or the list of versions. Raises NotPublished and NoFarm."""
    subject = arguments.file if "file" in arguments else arguments.id
    try:
        if arguments.action == "versions":
            with connecting.client(arguments) as farm:
                screen.console().print(_table(farm.template_versions(arguments.id)))
            return 0
        made = _made(arguments)
    except DocumentError as error:
        raise NotPublished(f"{subject}: {error.message}") from error
    except (ApiError, NoAnswer) as error:
        raise NotPublished(f"{subject}: {error}") from error
    for warning in made.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(json.dumps(dict(made.raw), indent=2))
    return 0


def _made(arguments: argparse.Namespace) -> Template:
    """Publish the project or restore the version. Return the template."""
    if arguments.action == "restore":
        with connecting.client(arguments) as farm:
            return farm.restore_template(arguments.id, arguments.version)
    body = publication(read_local(arguments.file), arguments.name, _folders(arguments))
    with connecting.client(arguments) as farm:
        if arguments.action == "add":
            return farm.publish_template(body)
        return farm.replace_template(arguments.id, body | {"name": arguments.name, "keepChoices": True})


def _table(versions: Iterable[TemplateVersion]) -> Listing:
    table = Listing("version", "replaced at", "size", "seconds", "inputs")
    for one in versions:
        inputs = ", ".join(field.id for field in one.inputs)
        table.add_row(
            str(one.version), one.replaced_at, f"{one.width:g}x{one.height:g}", f"{one.duration_seconds:g}", inputs
        )
    return table


def publication(document: Document, name: str | None, folders: Iterable[Path]) -> dict[str, Any]:
    """Return the request body that publishes a document with all of its inputs. Raises DocumentError, NotPublished."""
    composition = chosen(document, None)
    folders = list(folders)
    document = with_sounds(document, folders)
    found = template.discover(document, include_text=True)
    pictures, fields = _with_media(found.fields, folders)
    document = template.apply(document, fields, pictures)
    inputs = [
        {
            "id": field.id,
            "label": field.label,
            "kind": field.kind,
            "required": field.required and field.id not in pictures,
        }
        for field in fields
    ]
    body = {
        "name": name or composition.name or "Template", "document": document, "inputs": inputs, "width": composition.width,
        "height": composition.height, "fps": composition.fps, "durationSeconds": composition.duration_seconds,
    }  # fmt: skip
    size = len(json.dumps(body))
    if size > BODY_BYTES_MAX:
        raise NotPublished(
            f"with its media the project has {size} bytes, and a request at most {BODY_BYTES_MAX}: put large media on a "
            "public server, name their URLs in the project, and publish again"
        )
    return cast(dict[str, Any], body)


def with_sounds(document: Document, folders: Sequence[Path]) -> Document:
    """Return a copy of the document with its sounds embedded, if a folder contains a file of the same name."""
    copy = cast(Document, copied(document))
    for node in scene_nodes(copy):
        for component in records(node, "components"):
            props = record(component, "props")
            source = props.get("__src")
            if component.get("type") == "Audio" and isinstance(source, str) and (path := _named(source, folders)):
                props["__src"] = _data_url(path)
    return copy


def _named(source: str, folders: Sequence[Path]) -> Path | None:
    """Return the first file with the name of the source, or None."""
    name = _file_name(source)
    return next((path for folder in folders if (path := folder / name).is_file()), None)


def _file_name(source: str) -> str:
    """Return the last part of a URL or path, or an empty string."""
    return unquote(urlsplit(source).path).rsplit("/", 1)[-1]


def _data_url(path: Path) -> str:
    mime = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{mime};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _folders(arguments: argparse.Namespace) -> list[Path]:
    file: Path = arguments.file
    own = [file, file / "assets"] if file.is_dir() else [file.parent, file.parent / "media"]
    return [*([arguments.media] if arguments.media else []), *own]


def _with_media(fields: Iterable[InputField], folders: list[Path]) -> tuple[dict[str, str | float], list[InputField]]:
    """Return data URLs by input id for the required media inputs that have a local file, and all fields."""
    pictures: dict[str, str | float] = {}
    fields_with_media = list(fields)
    for field in fields_with_media:
        if field.kind in ("image", "media") and field.required and (path := _file_of(field, folders)):
            pictures[field.id] = _data_url(path)
    return pictures, fields_with_media


def _file_of(field: InputField, folders: list[Path]) -> Path | None:
    """Return the first file with the name of the field's default or of its id, or None."""
    name = _file_name(str(field.default or ""))
    for folder in folders:
        for candidate in (folder / name, *sorted(folder.glob(f"{field.id}.*"))):
            if candidate.is_file():
                return candidate
    return None
