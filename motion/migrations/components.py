"""The nodes and components that migration steps visit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from motion.stored import Document, Record, record, records, scene_nodes, text


def nodes_with_fx(document: Document) -> Iterator[tuple[str, Record]]:
    """Yield each node's id with the properties of each of its `fx` components, including the old nested form."""
    pending = scene_nodes(document)[::-1]
    while pending:
        node = pending.pop()
        pending.extend(reversed(records(node, "children")))
        for component in records(node, "components"):
            properties = component.get("props")
            if component.get("type") == "fx" and isinstance(properties, dict):
                yield text(node, "id"), properties


def rename_tracks(document: Document, node_id: str, renamed: Callable[[str], str | None]) -> None:
    """File a node's scalar tracks under the paths that `renamed` returns. None leaves a track unchanged.

    The copy of the path inside a track is redundant and keeps its old spelling, as the editor leaves it.
    """
    tracks = record(record(document, "animation"), "tracks").get(node_id)
    if not isinstance(tracks, dict):
        return
    for path in list(tracks):
        if (target := renamed(path)) is None:
            continue
        tracks[target] = tracks.pop(path)
