"""Result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Grade = Literal["good", "poor", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact about a subject. `poor`: it works, but not as well as it could; `bad`: the farm could not work."""

    subject: str
    grade: Grade
    fact: str
    remedy: str = ""
