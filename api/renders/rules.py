"""Every fault of a render request at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from api.app_state import AppState
from api.renders.media import Uploads
from api.renders.output import output_of
from api.renders.schemas import METADATA_BYTES_MAX, RenderRequest
from api.shapes import Asked, Faults, field_hints, unknown_field
from farm_core.accounts.models import PRIORITY_MAX, Account
from farm_core.assets.kinds import input_fault
from farm_core.net.resolver import Resolver, url_fault
from farm_core.strict_json import character_fault
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion.hints import Hints
from motion.template import MEDIA_KINDS, NO_URL, InputField, hints_of, validate

LOOKUPS_AT_ONCE: Final = 32
"""Host names of one request that are resolved at the same time."""

ROWS_AT_ONCE: Final = 50
"""Rows that are checked before other requests run: checking and storing a thousand takes tenths of a second."""

NO_URL_BUT_A_NAME: Final = f"{NO_URL}. POST /v1/assets uploads a file and answers its URL."
KEY_PATTERN: Final = r"^[A-Za-z0-9._:-]{8,128}$"
KEY_CHARACTERS: Final = "8 to 128 characters from A-Z a-z 0-9 . _ : -"

NO_UPLOAD: Final = "must be an upload of this account that has not expired"


async def faults_of(
    state: AppState, account: Account, template: Template | None, wanted: RenderRequest, uploads: Uploads
) -> Faults:
    """Return the faults of the account's request. Without a template, faults that depend on it are left out."""
    inputs, callback = await asyncio.gather(
        faults_of_inputs(state, account.id, template, wanted.inputs, uploads),
        callback_faults(state, account.id, wanted.callback_url),
    )
    named = [] if isinstance(wanted.template_id, str) else [("templateId", "is required, as a string")]
    _, output = output_of(state, template, wanted.output)
    hints = hints_of_fields(RenderRequest)
    own = [*metadata_faults(wanted.metadata), *priority_faults(wanted.priority, account.job_priority)]
    return [*named, *inputs, *output, *callback, *own, *unknown_fields(wanted, hints)]


def key_faults(key: str | None) -> Faults:
    """Return the faults of an `Idempotency-Key`."""
    if key is None or re.fullmatch(KEY_PATTERN, key):
        return []
    return [("Idempotency-Key", f"must be {KEY_CHARACTERS}")]


def hints_of_fields(schema: type[Asked]) -> Hints:
    """Return hints for unknown fields. The rows of a batch share them."""
    return field_hints(field.alias or name for name, field in schema.model_fields.items())


def unknown_fields(wanted: Asked, hints: Hints) -> Faults:
    """Return the faults of the fields that the schema of a request does not have."""
    return [(name, unknown_field(name, hints)) for name in wanted.model_extra or ()]


def metadata_faults(value: Any) -> Faults:
    """Return the faults of an object that a caller attaches to a job."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return [("metadata", "must be an object")]
    size = len(orjson.dumps(value))
    if size <= METADATA_BYTES_MAX:
        return []
    return [("metadata", f"has {size} bytes; at most {METADATA_BYTES_MAX} are allowed")]


def priority_faults(value: Any, most: int) -> Faults:
    """Return the faults of a priority. `most`: the account's own, which its operator has set."""
    if value is None or (type(value) is int and -PRIORITY_MAX <= value <= most):
        return []
    allowed = f"must be an integer from {-PRIORITY_MAX} to {most}"
    return [
        (
            "priority",
            f"{allowed}. Whoever runs the farm can allow more with `./farm account set NAME --job-priority N`.",
        )
    ]


async def faults_of_inputs(
    state: AppState, account_id: str, template: Template | None, inputs: Any, uploads: Uploads
) -> Faults:
    """Return the faults of one row of inputs."""
    (faults,) = [one async for one in input_faults(state, account_id, template, [inputs], uploads)]
    return faults


async def input_faults(
    state: AppState, account_id: str, template: Template | None, rows: Sequence[Any], uploads: Uploads
) -> AsyncIterator[Faults]:
    """Yield the faults of each row, the values of a template's inputs. An address that rows share is checked once."""
    fields = None if template is None else fields_of(template)
    media = [field.id for field in fields or () if field.kind in MEDIA_KINDS]
    hints = hints_of(fields or ())
    reasons: dict[str, str | None] = {}
    for first in range(0, len(rows), ROWS_AT_ONCE):  # a caller with enough faults skips the other rows
        some = rows[first : first + ROWS_AT_ONCE]
        given = [values.get(name) for values in some if isinstance(values, dict) for name in media]
        urls = {value for value in given if isinstance(value, str) and value not in reasons}
        await _find_reasons(state, account_id, urls, uploads, reasons)
        for values in some:
            yield _row_faults(fields, values, reasons, uploads, hints)


async def _find_reasons(
    state: AppState, account_id: str, urls: Iterable[str], uploads: Uploads, reasons: dict[str, str | None]
) -> None:
    """Add the fault of each address, or None, to `reasons`."""
    resolve, waiting = state.lookups.of(account_id), iter(urls)

    async def check_waiting() -> None:
        for url in waiting:
            reasons[url] = await _media_fault(state, url, uploads, resolve)
            await asyncio.sleep(0)  # a batch can have hundreds of thousands: let other requests run

    await asyncio.gather(*(check_waiting() for _ in range(LOOKUPS_AT_ONCE)))


def _row_faults(
    fields: Sequence[InputField] | None, values: Any, reasons: Mapping[str, str | None], uploads: Uploads, hints: Hints
) -> Faults:
    """Return the faults of one row. Without fields, check only what holds for every input. `reasons`: faults of
    addresses.
    """
    if not isinstance(values, dict):
        return [("inputs", "must be an object of input ids and values")]
    unfit = [(name, fault) for name, value in values.items() if (fault := _unfit(value))]
    if fields is None:
        return unfit
    given = {name: value for name, value in values.items() if value is not None}
    faults = [(fault.field, fault.message) for fault in validate(fields, given, reasons.get, hints)]
    found = [(field, NO_URL_BUT_A_NAME if message == NO_URL else message) for field, message in faults]
    keys = {field: uploads.get(str(given.get(field.id))) for field in fields if field.kind in MEDIA_KINDS}
    found += [(field.id, fault) for field, key in keys.items() if key and (fault := input_fault(field.kind, key))]
    named = {field for field, _ in found}
    return found + [one for one in unfit if one[0] not in named]


def _unfit(value: Any) -> str | None:
    """Return why the value is invalid for every input: its type, or characters that cannot be stored. Else None."""
    if value is None:
        return "must not be null"
    if isinstance(value, str):
        return character_fault(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return None if is_number else "must be a string or a number"


async def _media_fault(state: AppState, url: str, uploads: Uploads, resolve: Resolver) -> str | None:
    """Return the fault of the address of a picture or video. The account's own uploads need no network."""
    if url in uploads:
        return None if uploads[url] else NO_UPLOAD
    allowed = state.settings.automation_allow_private_assets
    return await url_fault(url, allow_private=allowed, resolve=resolve, setting="AUTOMATION_ALLOW_PRIVATE_ASSETS")


async def callback_faults(state: AppState, account_id: str, url: Any) -> Faults:
    """Return the faults of the address of a webhook."""
    if url is None:
        return []
    allowed = state.settings.automation_allow_private_callbacks
    setting, resolve = "AUTOMATION_ALLOW_PRIVATE_CALLBACKS", state.lookups.of(account_id)
    fault = await url_fault(url, allow_private=allowed, resolve=resolve, setting=setting)
    return [("callbackUrl", fault)] if fault else []
