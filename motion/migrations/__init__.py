"""From any released version to the current one, by pure and idempotent steps (document.md 3)."""

from __future__ import annotations

import re

from motion.errors import VersionUnsupported
from motion.migrations.compositions import table_of_compositions
from motion.migrations.expressions import enabled_expressions
from motion.migrations.mattes import linked_string_mattes, structured_mattes
from motion.migrations.path_operators import path_operator_chain, repeater_operator, trim_operator
from motion.stored import Document, as_record, copied

CURRENT = "1.6.0"
VERSION_CHARACTERS_MAX = 40
"""Longest version that is read. Messages repeat it."""
STEPS = (
    ("1.0.0", table_of_compositions),
    ("1.1.0", structured_mattes),
    ("1.2.0", path_operator_chain),
    ("1.3.0", trim_operator),
    ("1.4.0", repeater_operator),
    ("1.5.0", enabled_expressions),
)


def migrate(document: Document) -> Document:
    """Return a copy of the document at the current version. Raises VersionUnsupported for a version that is newer or
    never existed, and BundleUnreadable for a document that is nested too deep.
    """
    version = document.get("version")
    named = "1.0.0" if version is None else str(version)[:VERSION_CHARACTERS_MAX]
    migrated = as_record(copied(document))
    if _parts(named) != _parts(CURRENT):
        for step in STEPS[_first_step(named) :]:
            step[1](migrated)
        migrated["version"] = CURRENT
    linked_string_mattes(migrated)
    return migrated


def _first_step(version: str) -> int:
    if _parts(version) > _parts(CURRENT):
        raise VersionUnsupported(
            f"This project was saved by a newer editor (document {version}; this renderer reads up to {CURRENT}). "
            "Use a newer renderer, or save the project with an older editor."
        )
    for index, (origin, _) in enumerate(STEPS):
        if _parts(origin) == _parts(version):
            return index
    known = ", ".join((*(origin for origin, _ in STEPS), CURRENT))
    raise VersionUnsupported(
        f"The document version {version!r} does not exist; known are {known}. Save the project again in the editor."
    )


def _parts(version: str) -> tuple[int, int, int]:
    """Return the first three parts as numbers; a part without leading digits, or a missing one, is 0."""
    found = [re.match(r"\s*\d{1,9}", part) for part in version.split(".")[:3]]
    first, second, third = [int(match[0]) if match else 0 for match in (*found, None, None, None)][:3]
    return first, second, third
