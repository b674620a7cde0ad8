"""Records of answers. `raw` is the whole answer, including fields that newer farms add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ENDED = frozenset({"completed", "failed", "cancelled"})
Record = Mapping[str, Any]


@dataclass(frozen=True)
class TemplateInput:
    """One thing that may vary per render. `kind` is text, color, number, image or media."""

    id: str
    label: str
    kind: str
    required: bool
    default: str | None = None


@dataclass(frozen=True)
class Template:
    """A template. `warnings` are those of its import."""

    id: str
    name: str
    width: float
    height: float
    fps: float
    duration_seconds: float
    inputs: Sequence[TemplateInput]
    warnings: Sequence[str] = ()
    raw: Record = field(default_factory=dict, repr=False)
    version: int = 1


@dataclass(frozen=True)
class TemplateVersion:
    """A former version of a template, which can be restored."""

    version: int
    width: float
    height: float
    fps: float
    duration_seconds: float
    inputs: Sequence[TemplateInput]
    replaced_at: str


@dataclass(frozen=True)
class Job:
    """A render. `video_url` is there once it is completed. `progress` is 0 to 100."""

    job_id: str
    status: str
    progress: float = 0.0
    video_url: str | None = None
    error: str | None = None
    warnings: Sequence[Record] = ()
    metadata: Record | None = None
    raw: Record = field(default_factory=dict, repr=False)

    @property
    def has_ended(self) -> bool:
        """True if the status is final."""
        return self.status in ENDED


@dataclass(frozen=True)
class Asset:
    """An upload, whose URL can be an input for 24 hours."""

    url: str
    bytes: int
    mime: str
    expires_at: str


@dataclass(frozen=True)
class ApiKey:
    """An API key of the account. Only the answer of its creation has the `secret`."""

    id: str
    name: str
    prefix: str
    scopes: Sequence[str]
    created_at: str
    last_used_at: str | None
    request_count: int
    expires_at: str | None
    revoked_at: str | None
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Preset:
    """An animation preset. Lists leave `animation_data` out."""

    id: str
    name: str
    version: int
    created_at: str
    updated_at: str
    animation_data: Record | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Validation:
    """Cost and faults of a render that is not created. `remaining_minutes` is None without a limit."""

    valid: bool
    errors: Sequence[Record]
    render_minutes: float
    expected_seconds: float | None
    warnings: Sequence[Record]
    remaining_minutes: float | None = None


@dataclass(frozen=True)
class BatchRow:
    """A row of a batch: its job, or why it was refused (status `refused`)."""

    index: int
    status: str
    job_id: str | None
    progress: float
    error: str | None
    errors: Sequence[Record]
    metadata: Record | None
    warnings: Sequence[Record] = ()


@dataclass(frozen=True)
class Batch:
    """A batch and one page of its rows."""

    batch_id: str
    status: str
    progress: float
    totals: Mapping[str, int]
    rows: Sequence[BatchRow]
    total: int


def template(raw: Record) -> Template:
    """A template from its answer."""
    return Template(
        raw["id"], raw["name"], raw["width"], raw["height"], raw["fps"], raw["durationSeconds"], _inputs(raw),
        tuple(raw.get("warnings", ())), raw, raw.get("version", 1),
    )  # fmt: skip


def template_version(raw: Record) -> TemplateVersion:
    """A former version of a template from its answer."""
    return TemplateVersion(
        raw["version"], raw["width"], raw["height"], raw["fps"], raw["durationSeconds"], _inputs(raw),
        raw["replacedAt"],
    )  # fmt: skip


def _inputs(raw: Record) -> Sequence[TemplateInput]:
    return [
        TemplateInput(one["id"], one["label"], one["kind"], one["required"], one.get("default"))
        for one in raw["inputs"]
    ]


def job(raw: Record) -> Job:
    """A job from its answer; the answer of a creation has only its id and status."""
    return Job(
        raw["jobId"], raw["status"], raw.get("progress", 0.0), raw.get("videoUrl"), raw.get("error"),
        tuple(raw.get("warnings", ())), raw.get("metadata"), raw,
    )  # fmt: skip


def asset(raw: Record) -> Asset:
    """An upload from its answer."""
    return Asset(raw["url"], raw["bytes"], raw["mime"], raw["expiresAt"])


def api_key(raw: Record) -> ApiKey:
    """A key from its answer."""
    return ApiKey(
        raw["id"], raw["name"], raw["prefix"], raw["scopes"], raw["createdAt"], raw["lastUsedAt"], raw["requestCount"],
        raw["expiresAt"], raw["revokedAt"], raw.get("secret"),
    )  # fmt: skip


def preset(raw: Record) -> Preset:
    """A preset from its answer."""
    return Preset(raw["id"], raw["name"], raw["version"], raw["createdAt"], raw["updatedAt"], raw.get("animationData"))


def validation(raw: Record) -> Validation:
    """A validation from its answer."""
    return Validation(
        raw["valid"], raw["errors"], raw["renderMinutes"], raw.get("expectedSeconds"), raw.get("warnings", ()),
        raw.get("remainingMinutes"),
    )  # fmt: skip


def batch(raw: Record) -> Batch:
    """A batch from its answer."""
    rows = [
        BatchRow(
            one["index"], one["status"], one.get("jobId"), one.get("progress", 0.0), one.get("error"),
            one.get("errors", ()), one.get("metadata"), one.get("warnings", ()),
        )
        for one in raw["items"]
    ]  # fmt: skip
    return Batch(raw["batchId"], raw["status"], raw["progress"], raw["totals"], rows, raw["total"])
