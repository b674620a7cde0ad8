"""Code snippets that create a render, in four languages."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from farm_core.accounts.scopes import Scope

_N8N_USE: Final = (
    "Paste it onto the canvas of a workflow. In the node, choose a credential of the type Header Auth "
    "with the name Authorization and the value Bearer, a space and your API key."
)
_READS: Final = {Scope.templates_read: "templates", Scope.renders_read: "renders", Scope.usage_read: "usage"}


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code snippet in one language. `use` says where to put it."""

    id: str
    language: str
    code: str
    use: str


def snippets(
    origin: str, template_id: str, inputs: Mapping[str, Any], output: Mapping[str, Any] | None = None
) -> list[Snippet]:
    """Return code that creates the render. The code reads the API key from `FARM_KEY`, so it contains no secret."""
    body: dict[str, Any] = {"templateId": template_id, "inputs": dict(inputs)}
    if output:
        body["output"] = dict(output)
    url = f"{origin.rstrip('/')}/api/v1/renders"
    return [
        Snippet("curl", "curl", _curl(url, body), "Paste it into a terminal."),
        Snippet("python", "Python", _python(url, body), "Save it as render.py and run python render.py."),
        Snippet("javascript", "JavaScript", _javascript(url, body), "Save it as render.mjs and run node render.mjs."),
        Snippet("n8n", "n8n", _n8n(url, body), _N8N_USE),
    ]


def first_call(origin: str, secret: str, scopes: Collection[str]) -> str | None:
    """Return a shell command that sets FARM_KEY and makes a read request, or None if the key has no read scope."""
    path = next((path for scope, path in _READS.items() if scope in scopes), None)
    if path is None:
        return None
    url = shlex.quote(f"{origin}/api/v1/{path}")
    return f'export FARM_KEY={secret}\ncurl -sS --fail-with-body {url} -H "Authorization: Bearer $FARM_KEY"'


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _curl(url: str, body: Mapping[str, Any]) -> str:
    return (
        f'curl -sS --fail-with-body -X POST {shlex.quote(url)} \\\n  -H "Authorization: Bearer $FARM_KEY" \\\n'
        f"  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(_json(body))}"
    )


def _python(url: str, body: Mapping[str, Any]) -> str:
    return (
        "import json\nimport urllib.error\nimport urllib.request\nfrom os import environ\n\n"
        f"body = {_pretty(body)}\n"
        f"request = urllib.request.Request(\n    {url!r},\n    json.dumps(body).encode(),\n"
        '    {"Authorization": f"Bearer {environ[\'FARM_KEY\']}", "Content-Type": "application/json"},\n)\n'
        'try:\n    with urllib.request.urlopen(request) as answer:\n        print(json.load(answer)["jobId"])\n'
        "except urllib.error.HTTPError as error:\n    raise SystemExit(error.read().decode())"
    )


def _pretty(value: Any, depth: int = 0) -> str:
    """Return the value as a Python literal on several lines."""
    if not isinstance(value, Mapping) or not value:
        return repr(value)
    pad = "    " * (depth + 1)
    inner = "".join(f"{pad}{name!r}: {_pretty(one, depth + 1)},\n" for name, one in value.items())
    return "{\n" + inner + "    " * depth + "}"


def _javascript(url: str, body: Mapping[str, Any]) -> str:
    return (
        f'const answer = await fetch({json.dumps(url)}, {{\n  method: "POST",\n  headers: {{\n'
        '    Authorization: `Bearer ${process.env.FARM_KEY}`,\n    "Content-Type": "application/json",\n  },\n'
        f"  body: JSON.stringify({_indented(_json(body), 2)}),\n}});\n"
        "if (!answer.ok) throw new Error(await answer.text());\nconst { jobId } = await answer.json();\nconsole.log(jobId);"
    )


def _indented(text: str, spaces: int) -> str:
    return text.replace("\n", "\n" + " " * spaces)


def _n8n(url: str, body: Mapping[str, Any]) -> str:
    node = {
        "nodes": [
            {
                "name": "Render video", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0],
                "parameters": {
                    "method": "POST", "url": url, "authentication": "genericCredentialType",
                    "genericAuthType": "httpHeaderAuth", "sendBody": True, "specifyBody": "json", "jsonBody": _json(body),
                },
            }
        ],
        "connections": {},
    }  # fmt: skip
    return _json(node)
