"""Names under which files are saved."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

_NOT_IN_NAMES: Final = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|]+')
_NAME_MAX: Final = 80
_ID_LETTERS: Final = 6


def video_name(template: str, job_id: str, video_key: str) -> str:
    """Return the name of a finished render: its template's, with the end of its id so that no two are the same."""
    return f"{plain_name(template) or 'Render'} {job_id[-_ID_LETTERS:]}.{video_key.rpartition('.')[2]}"


def plain_name(template: str) -> str:
    """Return the name of a template without the signs that file names cannot have."""
    return _NOT_IN_NAMES.sub("-", template).strip(" .-")[:_NAME_MAX].strip()


def disposition(name: str) -> str:
    """Return the header that has a browser save the answer under the name."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"
