"""Each operation as data: its request, and the reader of its answer. Both clients use them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar
from urllib.parse import quote

import httpx

from render_farm_client import models
from render_farm_client.models import ApiKey, Asset, Batch, Job, Preset, Template, TemplateVersion, Validation

Answer = TypeVar("Answer")
PAGE = 100
ATTEMPTS = 6
"""Attempts of a request, over about seven seconds."""
ATTEMPTS_OF_WAITING = 10
"""Attempts while waiting for a render, over about a minute: an update of the farm takes less."""


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """A request. `repeats`: the request can be sent again after a lost answer; `target` is the file for the answer's
    bytes.
    """

    method: str
    path: str
    read: Callable[[httpx.Response], Answer]
    json: Any = None
    params: Mapping[str, Any] | None = None
    data: Mapping[str, str] | None = None
    file: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = True
    target: Path | None = None
    attempts: int = ATTEMPTS


@dataclass(frozen=True)
class Page(Generic[Answer]):
    """A part of a list."""

    items: Sequence[Answer]
    total: int
    ids: Sequence[str]

    def unseen(self, seen: set[str]) -> list[Answer]:
        """Return the items that no earlier page had, and remember them: new rows move older ones to later pages."""
        fresh = [item for one, item in zip(self.ids, self.items, strict=True) if one not in seen]
        seen.update(self.ids)
        return fresh


def segment(identifier: str) -> str:
    """Return an id as one part of a path: an agent's id with slashes or dots must not lead to another route."""
    return quote(identifier, safe="").replace(".", "%2E")


def form_file(name: str, file: BinaryIO) -> dict[str, tuple[str, BinaryIO, str]]:
    """Return the form's file. Its type comes from its bytes, because the farm refuses a wrong type from the file's
    name.
    """
    return {"file": (name, file, "application/octet-stream")}


@contextmanager
def part_of(target: Path) -> Iterator[Path]:
    """Yield a temporary file to write `target` through. Create its folder, and remove the file afterwards."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def keys(offset: int) -> Call[Page[ApiKey]]:
    """A page of keys."""
    return _page("/keys", offset, models.api_key)


def create_key(name: str | None, scopes: Sequence[str] | None, expires_at: str | None) -> Call[ApiKey]:
    """Create a key. It is not repeated after a lost answer: that would create a second key."""
    body = given(name=name, scopes=None if scopes is None else list(scopes), expiresAt=expires_at)
    return Call("POST", "/keys", _json(models.api_key), json=body, repeats=False)


def revoke_key(key_id: str) -> Call[None]:
    """Revoke a key."""
    return Call("DELETE", f"/keys/{segment(key_id)}", lambda _: None)


def import_template(
    path: str | Path, name: str | None, description: str | None, include_text: bool, comp_id: str | None
) -> Call[Template]:
    """Import a project."""
    form = _import_form(name, description, include_text, comp_id)
    return Call("POST", "/templates/import", _json(models.template), data=form, file=Path(path), repeats=False)


def replace_template(template_id: str, body: Mapping[str, Any]) -> Call[Template]:
    """Publish a document as a new version of a template."""
    path = f"/templates/{segment(template_id)}"
    return Call("PUT", path, _json(models.template), json=dict(body))


def replace_template_by_import(
    template_id: str, path: str | Path, name: str | None, description: str | None, include_text: bool | None,
    comp_id: str | None,
) -> Call[Template]:  # fmt: skip
    """Import a project as a new version of a template."""
    form = _import_form(name, description, include_text, comp_id)
    return Call("PUT", f"/templates/{segment(template_id)}/import", _json(models.template), data=form, file=Path(path))


def _import_form(
    name: str | None, description: str | None, include_text: bool | None, comp_id: str | None
) -> dict[str, str]:
    data = {} if include_text is None else {"includeText": "true" if include_text else "false"}
    texts = {"name": name, "description": description, "compId": comp_id}
    return data | {field: value for field, value in texts.items() if value}


def publish_template(body: Mapping[str, Any]) -> Call[Template]:
    """Publish a document."""
    return Call("POST", "/templates", _json(models.template), json=dict(body), repeats=False)


def template(template_id: str) -> Call[Template]:
    """Read a template."""
    return Call("GET", f"/templates/{segment(template_id)}", _json(models.template))


def delete_template(template_id: str) -> Call[None]:
    """Delete a template."""
    return Call("DELETE", f"/templates/{segment(template_id)}", lambda _: None)


def templates(offset: int) -> Call[Page[Template]]:
    """A page of templates."""
    return _page("/templates", offset, models.template)


def template_versions(template_id: str, offset: int) -> Call[Page[TemplateVersion]]:
    """A page of former versions of a template."""
    return _page(f"/templates/{segment(template_id)}/versions", offset, models.template_version, "version")


def restore_template(template_id: str, version: int) -> Call[Template]:
    """Restore a former version of a template. A repeat changes nothing."""
    path = f"/templates/{segment(template_id)}/versions/{version}/restore"
    return Call("POST", path, _json(models.template))


def delete_template_version(template_id: str, version: int) -> Call[None]:
    """Delete a former version of a template."""
    return Call("DELETE", f"/templates/{segment(template_id)}/versions/{version}", lambda _: None)


def renders(offset: int) -> Call[Page[Job]]:
    """A page of renders."""
    return _page("/renders", offset, models.job)


def upload(path: str | Path) -> Call[Asset]:
    """Upload a file."""
    return Call("POST", "/assets", _json(models.asset), file=Path(path))


def still(
    template_id: str, inputs: Mapping[str, Any] | None, time: float | None, frame: int | None, width: int | None,
    format: str,
) -> Call[bytes]:  # fmt: skip
    """A picture of a template; without inputs as it was published."""
    chosen = given(time=time, frame=frame, width=width, format=format)
    path = f"/templates/{segment(template_id)}/still"
    if inputs is None:
        return Call("GET", path, lambda answer: answer.content, params=chosen)
    return Call("POST", path, lambda answer: answer.content, json={**chosen, "inputs": dict(inputs)})


def thumbnail(job_id: str, time: float | None, width: int | None, sprite: bool, format: str) -> Call[bytes]:
    """A picture of a completed render."""
    params = given(format=format, sprite=str(sprite).lower(), time=time, width=width)
    return Call("GET", f"/renders/{segment(job_id)}/thumbnail", lambda answer: answer.content, params=params)


def render_body(
    template_id: str, inputs: Mapping[str, Any], output: Mapping[str, Any] | None, callback_url: str | None,
    metadata: Mapping[str, Any] | None, priority: int | None,
) -> dict[str, Any]:  # fmt: skip
    """A render request."""
    options = given(output=output, callbackUrl=callback_url, metadata=metadata, priority=priority)
    return {"templateId": template_id, "inputs": dict(inputs), **options}


def render(body: Mapping[str, Any], idempotency_key: str | None) -> Call[Job]:
    """Create a render; every repeat has the same key."""
    return Call("POST", "/renders", _json(models.job), json=body, headers=_key(idempotency_key))


def validate(body: Mapping[str, Any]) -> Call[Validation]:
    """Check a render."""
    return Call("POST", "/renders/validate", _json(models.validation), json=body)


def job(job_id: str, attempts: int = ATTEMPTS) -> Call[Job]:
    """Read a render."""
    return Call("GET", f"/renders/{segment(job_id)}", _json(models.job), attempts=attempts)


def download(job_id: str, target: Path) -> Call[Path]:
    """Write the file of a completed render to `target`."""
    path = f"/renders/{segment(job_id)}/download"
    return Call("GET", path, lambda _: target, target=target, attempts=ATTEMPTS_OF_WAITING)


def cancel(job_id: str) -> Call[Job]:
    """Cancel a render."""
    return Call("POST", f"/renders/{segment(job_id)}/cancel", _json(models.job))


def batch_body(
    template_id: str, rows: Sequence[Mapping[str, Any]], output: Mapping[str, Any] | None, callback_url: str | None,
    priority: int | None, partial: bool,
) -> dict[str, Any]:  # fmt: skip
    """A batch request."""
    options = given(output=output, callbackUrl=callback_url, priority=priority, partial=partial or None)
    return {"templateId": template_id, "rows": [dict(row) for row in rows], **options}


def create_batch(body: Mapping[str, Any], idempotency_key: str | None) -> Call[Batch]:
    """Create a batch; every repeat has the same key."""
    return Call("POST", "/batches", _json(models.batch), json=body, headers=_key(idempotency_key))


def batch(batch_id: str, offset: int) -> Call[Batch]:
    """A batch with a page of its rows."""
    path, params = f"/batches/{segment(batch_id)}", {"limit": PAGE, "offset": offset}
    return Call("GET", path, _json(models.batch), params=params, attempts=ATTEMPTS_OF_WAITING)


def cancel_batch(batch_id: str) -> Call[int]:
    """Cancel a batch; answer how many renders."""
    return Call("POST", f"/batches/{segment(batch_id)}/cancel", lambda answer: int(answer.json()["cancelled"]))


def presets(offset: int) -> Call[Page[Preset]]:
    """A page of presets."""
    return _page("/animations", offset, models.preset)


def preset(preset_id: str) -> Call[Preset]:
    """Read a preset."""
    return Call("GET", f"/animations/{segment(preset_id)}", _json(models.preset))


def publish_preset(name: str, animation_data: Mapping[str, Any]) -> Call[Preset]:
    """Publish a preset. A repeat replaces it by equal data, under the next version."""
    body = {"name": name, "animationData": dict(animation_data)}
    return Call("POST", "/animations", _json(models.preset), json=body)


def delete_preset(preset_id: str) -> Call[None]:
    """Delete a preset."""
    return Call("DELETE", f"/animations/{segment(preset_id)}", lambda _: None)


def usage() -> Call[dict[str, Any]]:
    """Return the account's usage."""
    return Call("GET", "/usage", lambda answer: dict(answer.json()))


def _page(path: str, offset: int, read: Callable[[models.Record], Answer], name: str = "id") -> Call[Page[Answer]]:
    """A page of a list whose items have their id under `name`."""

    def page(answer: httpx.Response) -> Page[Answer]:
        body = answer.json()
        ids = [str(one.get("jobId") or one[name]) for one in body["items"]]
        return Page([read(one) for one in body["items"]], body["total"], ids)

    return Call("GET", path, page, params={"limit": PAGE, "offset": offset})


def _json(read: Callable[[models.Record], Answer]) -> Callable[[httpx.Response], Answer]:
    """Return a function that reads an answer in JSON."""
    return lambda answer: read(answer.json())


def _key(idempotency_key: str | None) -> dict[str, str]:
    return {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
