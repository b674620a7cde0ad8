"""Faults of a document. Messages are for its author: no paths, no internals."""

from __future__ import annotations


class DocumentError(Exception):
    """The document cannot be used; `message` says what is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BundleUnreadable(DocumentError):
    """The bytes are neither a `.motion` bundle nor a single-file project."""


class VersionUnsupported(DocumentError):
    """The document's version is newer than this renderer, or never existed."""


class CompositionUnknown(DocumentError):
    """The document does not have the requested composition."""


class PropertyRefused(DocumentError):
    """A property has a value that no frame can be drawn from."""
