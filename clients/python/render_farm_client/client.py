"""The blocking client."""

from __future__ import annotations

import time as time_of
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from render_farm_client import calls
from render_farm_client.calls import Call, Page
from render_farm_client.errors import RenderFailed
from render_farm_client.models import (
    ApiKey,
    Asset,
    Batch,
    BatchRow,
    Job,
    Preset,
    Template,
    TemplateVersion,
    Validation,
)
from render_farm_client.retrying import answered, base_url, headers, lost, pause_after, poll_pauses

Answer = TypeVar("Answer")


class FarmClient:
    """Talk to a farm. `server` is its origin; `key` an API key, or `token` a session token.

    Every method raises ApiError for a failure that the farm reports, and NoAnswer if it cannot be reached.
    """

    def __init__(
        self, server: str, key: str | None = None, *, token: str | None = None, timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:  # fmt: skip
        self._http = httpx.Client(
            base_url=base_url(server),
            headers=headers(key, token),
            timeout=timeout,
            transport=transport,
            trust_env=False,
        )

    def keys(self) -> Iterator[ApiKey]:
        """All keys of the account, newest first. Keys are managed with a session token, not with a key."""
        return self._listed(calls.keys)

    def create_key(
        self, name: str | None = None, scopes: Sequence[str] | None = None, expires_at: str | None = None
    ) -> ApiKey:
        """Create a key, whose `secret` is shown only now. `expires_at` is ISO 8601."""
        return self._send(calls.create_key(name, scopes, expires_at))

    def revoke_key(self, key_id: str) -> None:
        """Revoke a key: its next request is refused."""
        self._send(calls.revoke_key(key_id))

    def import_template(
        self, path: str | Path, *, name: str | None = None, description: str | None = None, include_text: bool = False,
        comp_id: str | None = None,
    ) -> Template:  # fmt: skip
        """Make a template of a `.motion` project (zip or single file)."""
        return self._send(calls.import_template(path, name, description, include_text, comp_id))

    def publish_template(self, body: Mapping[str, Any]) -> Template:
        """Make a template of an editor's document."""
        return self._send(calls.publish_template(body))

    def replace_template(self, template_id: str, body: Mapping[str, Any]) -> Template:
        """Replace a template by a new version, from an editor's document. Accepted renders keep the former version."""
        return self._send(calls.replace_template(template_id, body))

    def replace_template_by_import(
        self, template_id: str, path: str | Path, *, name: str | None = None, description: str | None = None,
        include_text: bool | None = None, comp_id: str | None = None,
    ) -> Template:  # fmt: skip
        """Replace a template by a new version, from a `.motion` project. What is None stays as it is."""
        call = calls.replace_template_by_import(template_id, path, name, description, include_text, comp_id)
        return self._send(call)

    def template(self, template_id: str) -> Template:
        """One template."""
        return self._send(calls.template(template_id))

    def delete_template(self, template_id: str) -> None:
        """Delete a template."""
        self._send(calls.delete_template(template_id))

    def templates(self) -> Iterator[Template]:
        """All templates, newest first."""
        return self._listed(calls.templates)

    def template_versions(self, template_id: str) -> Iterator[TemplateVersion]:
        """The former versions of a template that can be restored, newest first."""
        return self._listed(partial(calls.template_versions, template_id))

    def restore_template(self, template_id: str, version: int) -> Template:
        """Make a new version of a template with the content of a former one."""
        return self._send(calls.restore_template(template_id, version))

    def delete_template_version(self, template_id: str, version: int) -> None:
        """Delete a former version of a template. Accepted renders keep it."""
        self._send(calls.delete_template_version(template_id, version))

    def upload(self, path: str | Path) -> Asset:
        """Upload a picture, video or sound; its `url` can be an input for 24 hours."""
        return self._send(calls.upload(path))

    def still(
        self, template_id: str, inputs: Mapping[str, Any] | None = None, *, time: float | None = None,
        frame: int | None = None, width: int | None = None, format: str = "png",
    ) -> bytes:  # fmt: skip
        """A picture of a template: with inputs, or as it was published. It costs no minutes."""
        return self._send(calls.still(template_id, inputs, time, frame, width, format))

    def thumbnail(
        self, job_id: str, *, time: float | None = None, width: int | None = None, sprite: bool = False,
        format: str = "jpeg",
    ) -> bytes:  # fmt: skip
        """A picture of a completed render, or a contact sheet of its frames."""
        return self._send(calls.thumbnail(job_id, time, width, sprite, format))

    def render(
        self, template_id: str, inputs: Mapping[str, Any], *, output: Mapping[str, Any] | None = None,
        callback_url: str | None = None, metadata: Mapping[str, Any] | None = None, priority: int | None = None,
        idempotency_key: str | None = None,
    ) -> Job:  # fmt: skip
        """Queue a render. Repeats of the request carry the same key, so it is rendered once."""
        body = calls.render_body(template_id, inputs, output, callback_url, metadata, priority)
        return self._send(calls.render(body, idempotency_key))

    def validate(
        self, template_id: str, inputs: Mapping[str, Any], *, output: Mapping[str, Any] | None = None,
        callback_url: str | None = None, metadata: Mapping[str, Any] | None = None, priority: int | None = None,
    ) -> Validation:  # fmt: skip
        """Faults, minutes, expected time and warnings of a render; nothing is queued."""
        return self._send(
            calls.validate(calls.render_body(template_id, inputs, output, callback_url, metadata, priority))
        )

    def job(self, job_id: str) -> Job:
        """One render."""
        return self._send(calls.job(job_id))

    def renders(self) -> Iterator[Job]:
        """All renders, newest first."""
        return self._listed(calls.renders)

    def cancel(self, job_id: str) -> Job:
        """Cancel a render unless it has ended; its status is the one that holds."""
        return self._send(calls.cancel(job_id))

    def wait(self, job_id: str, timeout: float = 3600.0, on_job: Callable[[Job], object] | None = None) -> Job:
        """Wait until a render is completed. Each answer, with status and progress, goes to `on_job`. Raises RenderFailed, and
        TimeoutError after `timeout` seconds.
        """
        deadline = time_of.monotonic() + timeout
        for pause in poll_pauses():
            job = self._send(calls.job(job_id, calls.ATTEMPTS_OF_WAITING))
            if on_job is not None:
                on_job(job)
            if job.status == "completed":
                return job
            if job.has_ended:
                raise RenderFailed(job_id, job.status, job.error)
            if time_of.monotonic() + pause > deadline:
                break
            time_of.sleep(pause)
        raise TimeoutError(f"{job_id} has not ended after {timeout:g} s")

    def download(self, job_id: str, path: str | Path) -> Path:
        """Write the MP4 of a completed render to a file, whole or not at all."""
        return self._send(calls.download(job_id, Path(path)))

    def create_batch(
        self, template_id: str, rows: Sequence[Mapping[str, Any]], *, output: Mapping[str, Any] | None = None,
        callback_url: str | None = None, priority: int | None = None, partial: bool = False,
        idempotency_key: str | None = None,
    ) -> Batch:  # fmt: skip
        """Queue a render for each row: {"inputs": ..., "metadata": ...}."""
        body = calls.batch_body(template_id, rows, output, callback_url, priority, partial)
        return self._send(calls.create_batch(body, idempotency_key))

    def batch(self, batch_id: str) -> Batch:
        """A batch with its totals and its first rows."""
        return self._send(calls.batch(batch_id, 0))

    def batch_rows(self, batch_id: str) -> Iterator[BatchRow]:
        """All rows of a batch."""
        offset = 0
        while True:
            page = self._send(calls.batch(batch_id, offset))
            yield from page.rows
            offset += len(page.rows)
            if not page.rows or offset >= page.total:
                return

    def cancel_batch(self, batch_id: str) -> int:
        """Cancel what has not ended of a batch; answer how many renders."""
        return self._send(calls.cancel_batch(batch_id))

    def presets(self) -> Iterator[Preset]:
        """All animation presets by name, without their data."""
        return self._listed(calls.presets)

    def preset(self, preset_id: str) -> Preset:
        """One animation preset with its data."""
        return self._send(calls.preset(preset_id))

    def publish_preset(self, name: str, animation_data: Mapping[str, Any]) -> Preset:
        """Publish an animation preset. It replaces one of the same name, whose version is increased."""
        return self._send(calls.publish_preset(name, animation_data))

    def delete_preset(self, preset_id: str) -> None:
        """Delete an animation preset."""
        self._send(calls.delete_preset(preset_id))

    def usage(self) -> dict[str, Any]:
        """Return the account's usage of this month, and its limits."""
        return self._send(calls.usage())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _listed(self, page_at: Callable[[int], Call[Page[Answer]]]) -> Iterator[Answer]:
        offset, seen = 0, set[str]()
        while True:
            page = self._send(page_at(offset))
            yield from page.unseen(seen)
            offset += len(page.items)
            if not page.items or offset >= page.total:
                return

    def _send(self, call: Call[Answer]) -> Answer:
        """Send a call, again where that may help."""
        attempt = 0
        while True:
            answer, failure = self._sent(call)
            pause = None if answer is not None and answer.status_code < 429 else pause_after(call, answer, attempt)
            if pause is None:
                break
            time_of.sleep(pause)
            attempt += 1
        if answer is None:
            assert failure is not None, "there is an answer or a failure"
            raise lost(call, failure) from failure
        found: Answer = answered(call, answer)
        return found

    def _sent(self, call: Call[Any]) -> tuple[httpx.Response | None, httpx.TransportError | None]:
        try:
            return self._asked(call) if call.target is None else self._streamed(call.path, call.target), None
        except httpx.TransportError as error:
            return None, error

    def _asked(self, call: Call[Any]) -> httpx.Response:
        with ExitStack() as files:
            file = (
                None
                if call.file is None
                else calls.form_file(call.file.name, files.enter_context(call.file.open("rb")))
            )
            return self._http.request(
                call.method, call.path, json=call.json, params=call.params, data=call.data, files=file,
                headers=dict(call.headers),
            )  # fmt: skip

    def _streamed(self, path: str, target: Path) -> httpx.Response:
        with calls.part_of(target) as part:
            with self._http.stream("GET", path, follow_redirects=True) as answer:
                if not answer.is_success:
                    answer.read()
                    return answer
                with part.open("wb") as file:
                    for chunk in answer.iter_bytes():
                        file.write(chunk)
            part.replace(target)
        return answer
