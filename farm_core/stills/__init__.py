"""Stills: single frames and contact sheets, drawn on request by a render worker."""

from farm_core.stills.options import StillOptions
from farm_core.stills.service import Still, StillDependencies, request_still
from farm_core.stills.subject import StillSubject, of_job, of_template

__all__ = ["Still", "StillDependencies", "StillOptions", "StillSubject", "of_job", "of_template", "request_still"]
