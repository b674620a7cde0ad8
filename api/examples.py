"""Example answers for the OpenAPI document. Tests check them against the schemas."""

from __future__ import annotations

from typing import Any, Final

_TEMPLATE_ID: Final = "tpl_0mwp2m4bexso1mmxmmmb6n"
_JOB_ID: Final = "job_0mwp2m4cs61gspbsib7xj1"
_BATCH_ID: Final = "batch_0mwp2m4d0a8c1v2x3k4j5h"
_CREATED: Final = "2026-11-20T14:24:50.218Z"
_WARNING: Final = {
    "code": "font_substituted", "message": "The font family 'Gotham' is not installed; 'Inter' stands in for it.",
}  # fmt: skip
_INPUTS: Final = [
    {"id": "headline", "label": "Headline", "kind": "text", "required": False},
    {"id": "logo", "label": "Logo", "kind": "image", "required": True},
]
_TEMPLATE: Final = {
    "id": _TEMPLATE_ID, "name": "Product promo", "description": None, "width": 1080, "height": 1920, "fps": 30,
    "durationSeconds": 5, "inputs": _INPUTS, "createdAt": _CREATED, "updatedAt": _CREATED,
}  # fmt: skip
_KEY: Final = {
    "id": "key_0mwp2m4a9x1c7v5b3n2m8k", "name": "CI", "prefix": "pm_live_a1b2", "scopes": ["renders:read", "renders:write"],
    "createdAt": _CREATED, "lastUsedAt": None, "requestCount": 0, "expiresAt": None, "revokedAt": None,
}  # fmt: skip
_PRESET: Final = {
    "id": "pre_0mwp2m49zq8w7e6r5t4y3u", "name": "Bounce", "version": 1, "createdAt": _CREATED, "updatedAt": _CREATED,
}  # fmt: skip
_VIDEO_URL: Final = (
    f"https://farm.example/files/results/0a77.mp4?expires=1796544300&signature=e9c1&filename={_JOB_ID}.mp4"
)
_JOB: Final = {
    "jobId": _JOB_ID, "status": "completed", "progress": 100, "videoUrl": _VIDEO_URL, "error": None, "createdAt": _CREATED,
}  # fmt: skip
_ITEM: Final = {
    "index": 0, "status": "processing", "jobId": _JOB_ID, "progress": 42.5, "videoUrl": None, "error": None,
    "metadata": {"line": 1},
}  # fmt: skip

EXAMPLES: Final[dict[str, Any]] = {
    "BatchCancelled": {"batchId": _BATCH_ID, "cancelled": 2},
    "BatchRecord": {
        "batchId": _BATCH_ID, "templateId": _TEMPLATE_ID, "status": "running", "progress": 42.5,
        "totals": {"queued": 0, "processing": 1, "completed": 0, "failed": 0, "cancelled": 0, "refused": 0},
        "createdAt": _CREATED, "items": [_ITEM], "total": 1, "limit": 100, "offset": 0,
    },
    "Deleted": {"deleted": True},
    "Health": {"status": "ok"},
    "ImportedTemplate": {**_TEMPLATE, "requiredInputs": ["logo"], "warnings": []},
    "JobRecord": _JOB,
    "JobState": {"jobId": _JOB_ID, "status": "queued"},
    "KeySummary": _KEY,
    "NewKey": {**_KEY, "secret": "pm_live_a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0"},
    "PresetRecord": {**_PRESET, "animationData": {"tracks": []}},
    "PresetRow": _PRESET,
    "Readiness": {"ready": True, "checks": {"postgres": True, "redis": True, "storage": True, "workers": True}},
    "Revoked": {"revoked": True},
    "TemplateRecord": _TEMPLATE,
    "UploadRecord": {
        "url": "https://farm.example/files/assets/acc_1/ast_1.png?expires=1796025900&signature=87f2", "bytes": 18432, "mime": "image/png",
        "expiresAt": "2026-11-21T14:24:50.218Z",
    },
    "UsageRecord": {
        "period": "2026-11", "renderJobs": 12, "renderDurationMs": 61250, "renderedMinutes": 1.5, "reservedRenderMinutes": 0,
        "apiRequests": 340, "assetProcessingBytes": 18432, "activeApiKeys": 1,
        "limits": {
            "apiEnabled": True, "monthlyRenderMinutes": None, "monthlyApiRequests": None, "maxActiveApiKeys": None,
            "maxUploadBytes": None,
        },
    },
    "VersionRecord": {
        "version": 2, "width": 1080, "height": 1920, "fps": 30, "durationSeconds": 5, "inputs": _INPUTS,
        "replacedAt": _CREATED,
    },
    "Validation": {
        "valid": True, "errors": [], "renderMinutes": 0.0833, "remainingMinutes": None, "expectedSeconds": 2.4,
        "warnings": [_WARNING],
    },
}  # fmt: skip
"""Examples by schema name."""


PAGES: Final = {
    "JobPage": "JobRecord", "KeyPage": "KeySummary", "PresetPage": "PresetRow", "TemplatePage": "TemplateRecord",
    "VersionPage": "VersionRecord",
}  # fmt: skip
"""Pages of lists, and what they list."""

FINISHED: Final = {
    "jobId": _JOB_ID, "status": "completed", "videoUrl": _VIDEO_URL, "error": None, "renderDurationMs": 4210,
}  # fmt: skip
"""Body of a webhook."""


_IDS: Final = {
    "keys": _KEY["id"], "templates": _TEMPLATE_ID, "renders": _JOB_ID, "batches": _BATCH_ID, "animations": _PRESET["id"],
}  # fmt: skip


def path_of(route: str) -> str:
    """Return an example path of a route such as `/api/v1/renders/{id}`."""
    kind = route.removeprefix("/api/v1/").partition("/")[0]
    return route.replace("{id}", str(_IDS.get(kind))).replace("{version}", "1")


def example_of(schema: str) -> Any:
    """Return an example of the schema. A page of a list has one item."""
    if schema in EXAMPLES:
        return EXAMPLES[schema]
    item = PAGES.get(schema)
    return None if item is None else {"items": [EXAMPLES[item]], "total": 1, "limit": 50, "offset": 0}
