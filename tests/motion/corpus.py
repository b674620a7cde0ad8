"""The shared corpus of documents and reference frames, where a test machine has it."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")


def corpus_documents() -> list[Path]:
    """Every document of the corpus, the legacy ones included; nothing where the corpus is absent."""
    return sorted(CORPUS.glob("*/*/document.json"))
