"""Subject of a still: a template with inputs, or the frozen document of a render job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from farm_core.jobs.models import Job
from farm_core.templates.models import Template
from motion.timing import frame_count


@dataclass(frozen=True, slots=True)
class StillSubject:
    """A document in storage and the inputs to apply. A `frozen` document has its inputs and media already.

    `media` maps sources of a frozen document to storage keys. URLs under `origin`, the farm's public origin, are read
    from storage, never over the network.
    """

    account_id: str
    origin: str
    document_key: str
    width: float
    height: float
    fps: float
    frame_count: int
    duration_seconds: float
    composition_id: str | None = None
    frozen: bool = False
    media: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    template_inputs: Sequence[Mapping[str, Any]] = ()
    template_targets: Mapping[str, Any] = field(default_factory=dict)


def of_template(template: Template, inputs: Mapping[str, Any], origin: str) -> StillSubject:
    """Return the subject of a template with these inputs. The caller has checked them."""
    return StillSubject(
        account_id=template.account_id, origin=origin, document_key=template.document_key, width=template.width,
        height=template.height, fps=template.fps, frame_count=frame_count(template.duration_seconds, template.fps),
        duration_seconds=template.duration_seconds, composition_id=template.composition_id, inputs=inputs,
        template_inputs=template.inputs, template_targets=template.targets,
    )  # fmt: skip


def of_job(job: Job, template: Template) -> StillSubject | None:
    """Return the subject of a rendered job, or None if its document is not frozen yet."""
    if job.document_key is None:
        return None
    composition_id, duration_seconds = composition_of(job, template)
    return StillSubject(
        account_id=job.account_id, origin=job.origin, document_key=job.document_key, width=job.width, height=job.height,
        fps=job.fps, frame_count=job.frame_count, duration_seconds=duration_seconds,
        composition_id=composition_id, frozen=True, media=job.media or {},
    )  # fmt: skip


def composition_of(job: Job, template: Template) -> tuple[str | None, float]:
    """Return the id (None: the active one) and the seconds of a frozen job's composition. Those of the template count
    for jobs that a release before migration 0020 froze.
    """
    if job.composition_seconds is None:
        return template.composition_id, template.duration_seconds
    return job.composition_id, job.composition_seconds
