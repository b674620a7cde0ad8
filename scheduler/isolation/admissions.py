"""Order in which tasks are placed while some accounts are confined, and the workers that each account can use. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from farm_core.jobs.tasks import Audience
from scheduler.isolation import rules
from scheduler.isolation.state import Evidence, View


class Admission(Enum):
    """Which workers accounts can use while some are confined."""

    all = "all workers"
    probe = "those that are not left to others, and the probe workers"
    confined = "those that are not left to others"


def admissions(evidence: Evidence, view: View, resting: Sequence[str]) -> list[tuple[Admission, Audience]]:
    """Return who can use which workers now. The first ones get their tasks placed first."""
    confined, trusted = rules.confinement(evidence, view), rules.trusted_accounts(evidence, view)
    named = sorted(confined.accounts)
    if trusted is None:
        others = Audience(resting, named, confined.unproven, are_confined=False)
        return [(Admission.all, others), (Admission.confined, others._replace(are_confined=True))]
    return [
        (Admission.all, Audience(resting, sorted(trusted), are_confined=True)),
        (Admission.probe, Audience([*resting, *named, *sorted(trusted)])),
        (Admission.confined, Audience(resting, named, are_confined=True)),
    ]


def left_out(evidence: Evidence, view: View, admission: Admission) -> frozenset[str]:
    """Return the workers that accounts of this admission cannot use."""
    if admission is Admission.all:
        return frozenset()
    protected = rules.protected_workers(evidence, view)
    return protected if admission is Admission.confined else protected - rules.probe_workers(evidence)
