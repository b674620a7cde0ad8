"""Environment of a contract test: accounts, their credentials, and a client."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx
import psycopg
from PIL import Image

from farm_core.accounts import tokens
from farm_core.accounts.models import Account
from farm_core.accounts.plans import set_limit
from farm_core.ids import new_id
from farm_core.secret import farm_secret
from farm_core.settings import Settings
from tests import documents
from tests.clock import ManualClock
from tests.patience import HANG_SECONDS

ALL_SCOPES = ["renders:read", "renders:write", "templates:read", "templates:write", "usage:read"]


@dataclass
class Someone:
    """A caller with one credential."""

    world: World
    headers: dict[str, str]
    account_id: str

    def ask(self, method: str, path: str, **given: Any) -> httpx.Response:
        headers = {**self.headers, **given.pop("headers", {})}
        return self.world.client.request(method, f"/api/v1{path}", headers=headers, **given)

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.ask("GET", path, **given)

    def post(self, path: str, **given: Any) -> httpx.Response:
        return self.ask("POST", path, **given)

    def delete(self, path: str, **given: Any) -> httpx.Response:
        return self.ask("DELETE", path, **given)

    def usage(self) -> dict[str, Any]:
        record: dict[str, Any] = self.get("/usage").json()
        return record

    def new_key(self, scopes: list[str] | None = None, **body: Any) -> Someone:
        """Return a caller with a new key of this account."""
        made = self.post("/keys", json={"scopes": ALL_SCOPES if scopes is None else scopes, **body}).json()
        return Someone(self.world, {"Authorization": f"Bearer {made['secret']}"}, self.account_id)

    def template(self, **changes: Any) -> str:
        """Create a template with inputs `headline` (text), `size` (number), `tint` (color), `photo` (image); return
        its id."""
        answer = self.post("/templates", json=template_body(**changes))
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def batch(self, template_id: str) -> str:
        """Create a batch of two renders; return its id."""
        inputs = {"photo": "https://media.example.com/photo.png"}
        answer = self.post("/batches", json={"templateId": template_id, "rows": [{"inputs": inputs}] * 2})
        return str(answer.json()["batchId"])

    def render(self, template_id: str, **body: Any) -> httpx.Response:
        headers = body.pop("headers", {})
        inputs = body.pop("inputs", {"photo": "https://media.example.com/photo.png"})
        return self.post("/renders", json={"templateId": template_id, "inputs": inputs, **body}, headers=headers)

    def job(self, **body: Any) -> str:
        """Create a job; return its id."""
        answer = self.render(self.template(), **body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["jobId"])

    def upload(self, data: bytes, name: str = "file", content_type: str = "application/octet-stream") -> httpx.Response:
        return self.post("/assets", files={"file": (name, data, content_type)})


class World:
    """A running app."""

    def __init__(self, origin: str, settings: Settings, clock: ManualClock) -> None:
        self.origin = origin
        self.settings = settings
        self.clock = clock
        self.client = self.new_client()

    def new_client(self, **options: Any) -> httpx.Client:
        """Return an HTTP client of the app. It loads no CA certificates, which would take 0.06 s of processor time."""
        return httpx.Client(base_url=self.origin, timeout=HANG_SECONDS, verify=False, **options)

    @cached_property
    def database(self) -> psycopg.Connection:
        """Open a session to read the tables."""
        return psycopg.connect(str(self.settings.database_url), autocommit=True)

    def close(self) -> None:
        self.client.close()
        if "database" in self.__dict__:
            self.database.close()

    def account(self, name: str = "ada", plan: str = "pro", **limits: Any) -> Someone:
        """Create an account and sign it in."""
        account = Account(id=new_id("acc"), name=f"{name}-{new_id('n')}", plan=plan)
        self.database.execute(
            "INSERT INTO accounts (id, name, plan, created_at) VALUES (%s, %s, %s, now())",
            (account.id, account.name, plan),
        )
        self.limit(account.id, **limits)
        token = tokens.issue(farm_secret(self.settings), account.id, 3600)
        return Someone(self, {"Authorization": f"Bearer {token}"}, account.id)

    def limit(self, account_id: str, plan: str | None = None, **limits: Any) -> None:
        """Change plan or limits at once, as the command line does."""
        account = Account(id=account_id, name="", plan=plan or "pro")
        for name, value in limits.items():
            set_limit(account, f"{name}={json.dumps(value)}")
        fields = (
            "api_enabled",
            "monthly_render_minutes",
            "monthly_api_requests",
            "max_active_api_keys",
            "max_upload_bytes",
            "max_storage_bytes",
        )
        columns = {field: getattr(account, field) for field in fields} | {"unlimited": account.unlimited}
        if plan is not None:
            columns["plan"] = plan
        assignments = ", ".join(f"{column} = %({column})s" for column in columns)
        self.database.execute(f"UPDATE accounts SET {assignments} WHERE id = %(id)s", {**columns, "id": account_id})

    def move(self, job_id: str, status: str, **columns: Any) -> None:
        """Change a job's status, as the scheduler would."""
        ended = status in ("completed", "failed", "cancelled")
        values = {"status": status, **columns}
        assignments = ", ".join(f"{column} = %({column})s" for column in values)
        ended_at = ", finished_at = now()" if ended else ""
        self.database.execute(f"UPDATE jobs SET {assignments}{ended_at} WHERE id = %(id)s", {**values, "id": job_id})


def document(*nodes: dict[str, Any], fields: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return a small document: a composition with these layers, and exposed fields."""
    card = {"name": "Card", "width": 640, "height": 360, "durationSeconds": 3}
    made = documents.document(*nodes, composition=card, fields=fields)
    made["scene"]["rootIds"] = ["comp_root"]
    return made


def layer(node_id: str, name: str, kind: str, **props: Any) -> dict[str, Any]:
    """Return a layer of a document. A text says *Hello* in white."""
    if kind == "text":
        props |= {"text": {"content": "Hello"}, "style": {"fill": "#ffffff"}}
    return documents.node(node_id, kind, name=name, **props)


def field(id_: str, kind: str, node_id: str, component: str, prop: str) -> dict[str, Any]:
    """Return an exposed field of a document."""
    target = {"nodeId": node_id, "componentType": component, "prop": prop}
    return {"id": id_, "label": id_.title(), "kind": kind, "target": target}


def template_body(**changes: Any) -> dict[str, Any]:
    """Return a request that publishes a template with an input of each kind except `media`."""
    fields = [
        field("headline", "text", "n1", "Text", "content"), field("size", "number", "n1", "Text", "fontSize"),
        field("tint", "color", "n1", "Style", "fill"), field("photo", "image", "n2", "Transform", "src"),
    ]  # fmt: skip
    body = {
        "name": "Card",
        "document": document(layer("n1", "Headline", "text"), layer("n2", "Photo", "image", src=""), fields=fields),
        "inputs": [{"id": one["id"], "label": one["label"], "kind": one["kind"]} for one in fields],
        "width": 640, "height": 360, "fps": 30, "durationSeconds": 3,
    }  # fmt: skip
    return body | changes


def text_template(someone: Someone) -> str:
    """Create a template with one optional input, `headline`; return its id."""
    doc = document(layer("n1", "Headline", "text"), fields=[field("headline", "text", "n1", "Text", "content")])
    return someone.template(document=doc, inputs=[{"id": "headline", "label": "Headline", "kind": "text"}])


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 6)) -> bytes:
    """Return the bytes of a picture."""
    out = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(out, kind)
    return out.getvalue()
