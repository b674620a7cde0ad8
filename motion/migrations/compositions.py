"""1.0.0 to 1.1.0: one composition becomes a table of them."""

from __future__ import annotations

from motion.stored import Document, record, text


def table_of_compositions(document: Document) -> None:
    """File a lone `comp` under its id in `comps`."""
    only = record(document, "comp")
    if only and not record(document, "comps"):
        document["comps"] = {text(only, "id", "comp_root"): dict(only)}
