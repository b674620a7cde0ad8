"""1.5.0 to 1.6.0: an expression becomes an object instead of a string, so that it can be switched off."""

from __future__ import annotations

from motion.stored import Document, record


def enabled_expressions(document: Document) -> None:
    """Wrap expression strings and drop blank ones. Objects stay unchanged, including disabled expressions."""
    for of_node in record(record(document, "animation"), "expressions").values():
        if not isinstance(of_node, dict):
            continue
        for path, source in list(of_node.items()):
            if isinstance(source, str) and source.strip():
                of_node[path] = {"src": source, "enabled": True}
            elif isinstance(source, str):
                del of_node[path]
