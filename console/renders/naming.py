"""Names of downloaded files."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

_NOT_IN_NAMES: Final = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|]+')
_NAME_MAX: Final = 80
_ID_LETTERS: Final = 6


def video_name(template: str, job_id: str, video_key: str) -> str:
    """Return the file name of a finished render: the template's name and the end of the render's unique id."""
    return f"{plain_name(template) or 'Render'} {job_id[-_ID_LETTERS:]}.{video_key.rpartition('.')[2]}"


def numbered_name(line: int, digits: int, texts: str, video_key: str) -> str:
    """Return the file name of a table's render: its line, so that files sort as in the table, and its texts."""
    return f"{line:0{digits}} {plain_name(texts)}".strip() + f".{video_key.rpartition('.')[2]}"


def plain_name(template: str) -> str:
    """Return the name of a template without characters that are invalid in file names."""
    return _NOT_IN_NAMES.sub("-", template).strip(" .-")[:_NAME_MAX].strip()


def disposition(name: str) -> str:
    """Return the Content-Disposition header that saves the response under the name."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"
