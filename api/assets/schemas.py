"""Shape of an upload's answer."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.shapes import Moment, Shape


class UploadRecord(Shape):
    """An upload."""

    url: str = Field(description="Can be passed as the value of an image or media input.")
    bytes: int
    mime: str = Field(description="Determined from the bytes.")
    expires_at: Moment


UPLOAD_FORM: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}
                },
            }
        }
    },
}
