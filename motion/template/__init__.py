"""Templates: find the inputs of a document, check values for them, and write values into it (document.md 5).

The rules for imports are those of the service's interface: every layer that shows a source becomes an input.
"""

from motion.template.discovery import IMPORTED_MAX, Discovery, discover, slug
from motion.template.inputs import (
    LABEL_SHOWN_MAX,
    MEDIA_KINDS,
    NO_URL,
    Fault,
    InputField,
    Kind,
    Target,
    apply,
    authored_fields,
    hints_of,
    validate,
)
from motion.template.sources import (
    NO_SOURCE,
    Unrenderable,
    media_sources,
    sequence_frames,
    source_fault,
    unrenderable_layers,
)

__all__ = [
    "IMPORTED_MAX", "LABEL_SHOWN_MAX", "MEDIA_KINDS", "NO_SOURCE", "NO_URL", "Discovery", "Fault", "InputField", "Kind", "Target", "Unrenderable",
    "apply", "authored_fields", "discover", "hints_of", "media_sources", "sequence_frames", "slug", "source_fault",
    "unrenderable_layers", "validate",
]  # fmt: skip
