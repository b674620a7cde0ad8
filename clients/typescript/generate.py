"""Write `src/operations.ts` from the API's OpenAPI document: `python clients/typescript/generate.py`.

With `--check` it only compares them, as a test does.

Every schema becomes a type, and every operation under `/api/v1` a method of `Operations`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
TARGET: Final = HERE / "src" / "operations.ts"
PREFIX: Final = "/api/v1"
Record = dict[str, Any]

_HEAD: Final = """// Generated from the farm's OpenAPI document by generate.py. Do not edit.

import type { Transport } from "./transport.js";
"""
_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_WIDTH: Final = 120


def document() -> Record:
    """Return the OpenAPI document of this checkout. It needs no database."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from api.app import app_state_from, create_app  # noqa: PLC0415  (found by the path above)
    from farm_core.settings import Settings  # noqa: PLC0415

    nowhere = Settings(
        database_url="postgresql://127.0.0.1:1/none", redis_url="redis://127.0.0.1:1", jwt_secret="none" * 16
    )
    found: Record = create_app(app_state_from(nowhere)).openapi()
    return found


def source(document: Record) -> str:
    """Return the TypeScript file of a document."""
    schemas: Record = document["components"]["schemas"]
    types = [_declaration(name, schemas[name]) for name in sorted(schemas)]
    methods = [
        _method(path, verb, operation)
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
        if path.startswith(PREFIX)
    ]
    body = "\n\n".join(methods)
    return (
        "\n\n".join([_HEAD.rstrip(), *types])
        + "\n\n/** A method for each operation of the API. */\nexport class Operations {\n"
        + "  constructor(protected readonly transport: Transport) {}\n\n"
        + body
        + "\n}\n"
    )


def _declaration(name: str, schema: Record) -> str:
    comment = _comment(schema.get("description"), "")
    if schema.get("type") == "object" and "properties" in schema:
        return f"{comment}export interface {name} {_object(schema, '')}"
    return f"{comment}export type {name} = {_type(schema, '')};"


def _object(schema: Record, indent: str) -> str:
    required = set(schema.get("required", ()))
    inner = indent + "  "
    lines = ["{"]
    for name, property_ in schema.get("properties", {}).items():
        lines.append(
            f"{_comment(property_.get('description'), inner)}{inner}{name}{'' if name in required else '?'}: {_type(property_, inner)};"
        )
    return "\n".join([*lines, indent + "}"])


def _type(schema: Record, indent: str) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_type(one, indent) for one in schema[union]))
    if "allOf" in schema:
        return " & ".join(_type(one, indent) for one in schema["allOf"])
    return _by_kind(schema, indent)


def _by_kind(schema: Record, indent: str) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": one}, indent) for one in kind)
    if schema.get("format") == "binary" or schema.get("contentMediaType"):
        return "Blob"
    if kind == "array":
        return f"Array<{_type(schema.get('items', {}), indent)}>"
    if kind == "object" and "properties" in schema:
        return _object(schema, indent)
    if kind == "object":
        further = schema.get("additionalProperties")
        return f"Record<string, {_type(further, indent) if isinstance(further, dict) else 'unknown'}>"
    return _PLAIN.get(str(kind), "unknown")


def _method(path: str, verb: str, operation: Record) -> str:
    parameters = operation.get("parameters", [])
    in_path = [one for one in parameters if one["in"] == "path"]
    query = [one for one in parameters if one["in"] == "query"]
    idempotent = any(one["name"] == "Idempotency-Key" for one in parameters)
    arguments = [f"{one['name']}: {_type(one['schema'], '')}" for one in in_path]
    fields = [f'method: "{verb.upper()}"', f"path: `{_path(path)}`"]
    if body := _body(operation):
        kind, text, is_needed = body
        arguments.append(f"body{'' if is_needed else '?'}: {text}")
        fields.append("form: body" if kind == "multipart/form-data" else "body")
    if query:
        arguments.append(f"query: {_query(query)} = {{}}")
        fields.append("query")
    if idempotent:
        arguments.append("idempotencyKey?: string")
        fields.append("idempotencyKey: idempotencyKey ?? this.transport.newKey()")
    answer, reads = _answer(operation)
    fields.append(f'answer: "{reads}"')
    comment = _comment(operation.get("summary"), "  ")
    head = f"  {operation['operationId']}({', '.join(arguments)}): Promise<{answer}> {{"
    return f"{comment}{head}\n    return this.transport.send<{answer}>({{ {', '.join(fields)} }});\n  }}"


def _path(path: str) -> str:
    return re.sub(r"\{(\w+)\}", r"${encodeURIComponent(\1)}", path)


def _body(operation: Record) -> tuple[str, str, bool] | None:
    body = operation.get("requestBody")
    if body is None:
        return None
    kind, media = next(iter(body["content"].items()))
    return kind, _type(media["schema"], "  "), bool(body.get("required"))


def _query(parameters: list[Record]) -> str:
    return "{ " + "; ".join(f"{one['name']}?: {_type(_without_null(one['schema']), '')}" for one in parameters) + " }"


def _without_null(schema: Record) -> Record:
    kept = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return {"anyOf": kept} if kept else schema


def _answer(operation: Record) -> tuple[str, str]:
    for status, response in operation["responses"].items():
        if status.startswith("3") and "Location" in response.get("headers", {}):
            return "Blob", "file"
        for kind, media in response.get("content", {}).items() if status.startswith("2") else ():
            if kind == "application/json":
                return _type(media.get("schema", {}), "  "), "json"
            return "Blob", "file"
    return "Blob", "file"


def _comment(text: str | None, indent: str) -> str:
    if not text:
        return ""
    return "".join(_wrapped(" ".join(text.replace("*/", "* /").split()), indent))


def _wrapped(text: str, indent: str) -> Iterator[str]:
    room = _WIDTH - len(indent) - 7
    if len(text) <= room:
        yield f"{indent}/** {text} */\n"
        return
    yield f"{indent}/**\n"
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > room:
            yield f"{indent} * {line}\n"
            line = ""
        line = f"{line} {word}".strip()
    yield f"{indent} * {line}\n{indent} */\n"


def main(words: list[str]) -> int:
    """Write the file. With `--check`, only return 1 if it is out of date."""
    made = source(document())
    if words == ["--check"]:
        return 0 if TARGET.read_text() == made else 1
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
