"""Result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Grade = Literal["good", "poor", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact about a subject. `poor` means that it works, but not well. `bad` means that the farm cannot work."""

    subject: str
    grade: Grade
    fact: str
    remedy: str = ""
