"""The matte of each layer in a paint list (compositing.md 6)."""

from __future__ import annotations

from collections.abc import Sequence

from motion.model.composition import Entry
from motion.model.content import ParticleContent
from motion.snapshot import Matte


def mattes(entries: Sequence[Entry]) -> dict[str, Matte]:
    """Return the mattes by layer id; a source that is not in the list is replaced by the next entry in paint order.

    A layer without a next entry is not matted: its blend counts again.
    """
    present = {entry.layer.id for entry in entries}
    found = {}
    for index, entry in enumerate(entries):
        wanted = entry.layer.matte
        if wanted is None or isinstance(entry.layer.content, ParticleContent):
            continue
        following = entries[index + 1].layer.id if index + 1 < len(entries) else None
        is_there = wanted.source_id in present and wanted.source_id != entry.layer.id
        source_id = wanted.source_id if is_there else following
        if source_id is not None:
            found[entry.layer.id] = Matte(wanted.mode, wanted.inverted, source_id)
    return found
