"""Multipart uploads, streamed to a temporary file and bounded while they arrive."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from starlette.requests import ClientDisconnect, Request

from api.app_state import app_state_of
from api.header_values import parameters
from farm_core.errors import BadRequest, PayloadTooLarge, Unavailable, UploadTooLarge
from farm_core.sizes import in_words
from farm_core.storage.disk_space import has_reserve
from farm_core.strict_json import refuse_control_characters
from farm_core.telemetry.logs import logger

_log = logger("api.uploads")

FILE_FIELD: Final = "file"
_NO_ROOM: Final = (
    "The farm's disk has no room for such a large file now. Try again later; if it stays, tell the operator."
)
_FIELD_BYTES_MAX: Final = 64 * 1024
_BOUNDARY_LENGTH_MAX: Final = 70
"""RFC 2046, 5.1.1."""
_PARTS_MAX: Final = 64
_COUNT_ON_BYTES_MAX: Final = 512 * 1024 * 1024
"""Bytes above the limit that are still counted, so that the error can name the size of the file."""
_REST_BYTES_MAX: Final = 10 * 1024 * 1024
"""Bytes of a body beside its file: fields, headers and boundaries."""
_CHECKED_BYTES: Final = 8 * 1024 * 1024
"""Bytes of a file between two checks of the disk's free space."""


@dataclass(slots=True)
class Upload:
    """The file of a multipart body, and its text fields."""

    path: Path
    bytes: int
    declared_type: str | None
    filename: str | None
    fields: dict[str, str] = field(default_factory=dict)


@asynccontextmanager
async def received(request: Request, account_id: str, limit_bytes: int | None) -> AsyncIterator[Upload]:
    """Yield the account's upload of the field `file`. Its temporary file exists for the length of the block.

    Raises BadRequest, RateLimited, or UploadTooLarge with the file's true size (bytes above the limit are counted, not kept).
    """
    async with app_state_of(request).uploads.slot(account_id), _stored(request, limit_bytes) as upload:
        yield upload


@asynccontextmanager
async def _stored(request: Request, limit_bytes: int | None) -> AsyncIterator[Upload]:
    with tempfile.NamedTemporaryFile(prefix="farm-upload-") as file:
        body = _Body(file, limit_bytes)  # type: ignore[arg-type]
        await _feed(request, body)
        file.flush()
        yield body.upload(Path(file.name))


async def _feed(request: Request, body: _Body) -> None:
    parser = MultipartParser(_boundary(request), body.callbacks())
    size, next_check = 0, _CHECKED_BYTES
    try:
        async for chunk in request.stream():
            parser.write(chunk)
            size += len(chunk)
            if body.limit_bytes is not None and body.file_bytes > body.limit_bytes + _COUNT_ON_BYTES_MAX:
                raise UploadTooLarge(body.limit_bytes, body.file_bytes)
            if size - body.file_bytes > _REST_BYTES_MAX:
                raise PayloadTooLarge(f"The form holds more than {in_words(_REST_BYTES_MAX)} beside its file.")
            if body.file_bytes >= next_check and not body.is_too_large:
                next_check += _CHECKED_BYTES
                if not has_reserve():
                    _log.error(
                        "an upload was cut off: the disk of temporary files is nearly full", bytes=body.file_bytes
                    )
                    raise Unavailable(_NO_ROOM)
        parser.finalize()
    except MultipartParseError:
        raise BadRequest("The multipart body is malformed.") from None
    except ClientDisconnect:
        raise BadRequest("The upload was cut off.") from None


def _boundary(request: Request) -> bytes:
    media_type, given = parameters(request.headers.get("content-type", ""))
    boundary = given.get("boundary")
    if media_type != "multipart/form-data" or not boundary:
        raise BadRequest("The request body must be multipart/form-data.")
    if len(boundary) > _BOUNDARY_LENGTH_MAX:
        raise BadRequest(f"The boundary of the multipart body is longer than {_BOUNDARY_LENGTH_MAX} characters.")
    return boundary.encode("latin-1", "replace")


class _Body:
    """Receiver of the parser's events: the file goes to disk, other fields are kept as text."""

    def __init__(self, file: BinaryIO, limit_bytes: int | None) -> None:
        self.limit_bytes = limit_bytes
        self.file_bytes = 0
        self._file = file
        self._parts = 0
        self._fields: dict[str, bytearray] = {}
        self._seen_file = False
        self._declared_type: str | None = None
        self._filename: str | None = None
        self._name: str | None = None
        self._is_file = False
        self._header = bytearray()
        self._value = bytearray()
        self._headers: dict[str, str] = {}
        self._ended = False

    def callbacks(self) -> Any:
        """Return the handlers of the parser's events. The parser limits the headers of a part."""
        return {
            "on_part_begin": self._part_begin,
            "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_end": self._end,
        }

    @property
    def is_too_large(self) -> bool:
        """Return True if the file exceeds its limit. Further bytes are not written."""
        return self.limit_bytes is not None and self.file_bytes > self.limit_bytes

    def upload(self, path: Path) -> Upload:
        """Return the complete upload."""
        if not self._ended:
            raise BadRequest("The multipart body is malformed or was cut off.")
        if not self._seen_file:
            raise BadRequest(f"The form has no file in a field named {FILE_FIELD!r}.")
        if self.is_too_large:
            raise UploadTooLarge(cast(int, self.limit_bytes), self.file_bytes)
        try:
            fields = {name: value.decode() for name, value in self._fields.items()}
        except UnicodeDecodeError:
            raise BadRequest("The form's fields must be UTF-8.") from None
        refuse_control_characters(fields)
        return Upload(path, self.file_bytes, self._declared_type, self._filename, fields)

    def _part_begin(self) -> None:
        self._parts += 1
        if self._parts > _PARTS_MAX:
            raise BadRequest(f"The form has more than {_PARTS_MAX} parts.")
        self._headers = {}

    def _header_end(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value.decode("utf-8", "replace")
        self._header.clear()
        self._value.clear()

    def _headers_finished(self) -> None:
        _, given = parameters(self._headers.get("content-disposition", ""))
        self._name = given.get("name")
        self._is_file = self._name == FILE_FIELD
        if self._is_file:
            if self._seen_file:
                raise BadRequest(f"The form has more than one field named {FILE_FIELD!r}.")
            self._seen_file = True
            self._declared_type = self._headers.get("content-type")
            self._filename = given.get("filename")
        elif self._name is not None:
            self._fields[self._name] = bytearray()  # the last value of a repeated field counts

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        chunk = data[start:end]
        if self._is_file:
            self.file_bytes += len(chunk)
            if not self.is_too_large:
                self._file.write(chunk)
        elif self._name is not None:
            kept = self._fields[self._name]
            kept += chunk
            if len(kept) > _FIELD_BYTES_MAX:
                raise BadRequest(f"The form's field {self._name!r} holds more than {in_words(_FIELD_BYTES_MAX)}.")

    def _end(self) -> None:
        self._ended = True
