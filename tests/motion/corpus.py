"""Shared corpus of documents and reference frames, on test machines that have it."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")


def corpus_documents() -> list[Path]:
    """Return every document of the corpus, including legacy ones, or nothing if there is no corpus."""
    return sorted(CORPUS.glob("*/*/document.json"))
