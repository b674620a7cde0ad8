"""Comments that cite the format cite existing pages and sections."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = {path.name: path for path in (ROOT / "docs" / "format").glob("*.md")}
FOLDERS = ("motion", "gpu_renderer", "shaders", "native", "tests")
CITATION = re.compile(rf"\b({'|'.join(map(re.escape, PAGES))}),? (\d+(?:\.\d+)*)(?: (?:and|to) (\d+(?:\.\d+)*))?")
HEADING = re.compile(r"^#+ (\d+(?:\.\d+)*)\b", re.M)


def sections(page: str) -> set[str]:
    return set(HEADING.findall(PAGES[page].read_text()))


def citations() -> list[tuple[str, str, str]]:
    """Return source file, page and section of every citation."""
    found = []
    for path in (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))):
        if path.suffix in {".py", ".c", ".h", ".glsl", ".frag", ".vert"}:
            for page, first, last in CITATION.findall(path.read_text()):
                found += [(str(path.relative_to(ROOT)), page, section) for section in (first, last) if section]
    return found


def test_code_cites_the_format() -> None:
    assert len(citations()) > 300


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_cited_section_of_a_page_exists(page: str) -> None:
    known = sections(page)
    assert [(source, section) for source, cited, section in citations() if cited == page and section not in known] == []
