"""Comments that cite the format cite existing pages and sections, and guides name existing files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = {path.name: path for path in (ROOT / "docs" / "format").glob("*.md")}
FOLDERS = ("motion", "gpu_renderer", "shaders", "native", "tests")
PAGE = f"({'|'.join(map(re.escape, PAGES))})"
CITATION = re.compile(rf"\b{PAGE},?\s+(?:(?://|#|\*)\s+)?(\d+(?:\.\d+)*)(?: (?:and|to) (\d+(?:\.\d+)*))?")
"""A page and a section, also where a line of a comment ends between them."""
ROOMS = (
    "api", "benchmarks", "clients", "cluster", "console", "docs", "examples", "farm_core", "gpu_renderer", "motion", "native", "scheduler", "shaders", "tests",
)  # fmt: skip
NAMED_FILE = re.compile(r"[\w./-]+/[\w.-]+\.(?:py|md|toml|js|css|html|sql|glsl|frag|json|h|c|yaml)\b")
MADE = {".cache/test-durations.json", "shaders/effects/scanlines.frag"}
"""Named files that are made: by a run of the tests, and by who follows the example."""
HEADING = re.compile(r"^#+ (\d+(?:\.\d+)*)\b", re.M)


def sections(page: str) -> set[str]:
    return set(HEADING.findall(PAGES[page].read_text()))


def sources() -> list[Path]:
    suffixes = {".py", ".c", ".h", ".glsl", ".frag", ".vert", ".toml"}
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes]


def citations() -> list[tuple[str, str, str]]:
    """Return source file, page and section of every citation."""
    return [
        (str(path.relative_to(ROOT)), page, section)
        for path in sources()
        for page, *cited in CITATION.findall(path.read_text())
        for section in cited
        if section
    ]


def test_code_cites_the_format() -> None:
    assert len(citations()) > 300


def test_citations_name_the_page_alone() -> None:
    folder = re.compile(rf"\bformat/{PAGE}")
    assert [str(path.relative_to(ROOT)) for path in sources() if folder.search(path.read_text())] == []


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_cited_section_of_a_page_exists(page: str) -> None:
    known = sections(page)
    assert [(source, section) for source, cited, section in citations() if cited == page and section not in known] == []


@pytest.mark.parametrize("guide", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_a_guide_names_exists(guide: str) -> None:
    known = {str(path.relative_to(ROOT)) for folder in ROOMS for path in (ROOT / folder).rglob("*")}
    text = re.sub(r"```.*?```", "", (ROOT / guide).read_text(), flags=re.S)
    named = [one.removeprefix("./") for span in re.findall(r"`([^`]+)`", text) for one in NAMED_FILE.findall(span)]
    assert len(named) > 50
    assert [
        one for one in named if one not in MADE and not any(path == one or path.endswith(f"/{one}") for path in known)
    ] == []
