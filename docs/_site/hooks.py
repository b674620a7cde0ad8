"""MkDocs hooks: pages from outside `docs/`, an index of folders without one, and links where the text names a page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "benchmarks/README.md": "benchmarks.md",
    "clients/python/README.md": "clients/python.md",
    "clients/typescript/README.md": "clients/typescript.md",
    "gpu_renderer/effects/README.md": "effects-code.md",
}
"""Files of the project outside `docs/`, and their pages."""
INDEXES: Final = {"decisions": "Decisions"}
"""Folders of `docs/` whose index is made here, with its title."""
_TARGET = re.compile(r"(?<=\]\()([^)#\s]+\.(?:md|webp|png))")
_NAMED = re.compile(r"(?<!\[)`([\w./-]+(?:\.md|/\d{4}|/))`(?!\])")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of `docs/`."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for folder, title in INDEXES.items():
        files.append(File.generated(config, f"{folder}/index.md", content=_index(folder, title)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at pages of the site, and make links of the pages that the text names by their path."""
    here = page.file.src_uri
    source = next((path for path, uri in PAGES.items() if uri == here), f"docs/{here}")

    def moved(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        return _relative(_page(target, files), here) or match[1]

    def linked(match: re.Match[str]) -> str:
        link = _relative(_page(match[1], files), here)
        return f"[{match[0]}]({link})" if link else match[0]

    return _outside_code(_NAMED, linked, _TARGET.sub(moved, markdown))


def _index(folder: str, title: str) -> str:
    lines = [f"# {title}", ""]
    for path in sorted((ROOT / "docs" / folder).glob("*.md")):
        heading = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"- [{heading}]({path.name})")
    return "\n".join(lines) + "\n"


def _page(path: str, files: Files) -> str | None:
    """Return the page of a path of the project: a file, a folder with an index, or a decision by its number."""
    inside = path.removeprefix("docs/")
    candidates = [PAGES.get(path), PAGES.get(path + "README.md")]
    if path.startswith("docs/"):
        candidates += [inside, inside + "README.md", inside + "index.md"]
        candidates += [file.src_uri for file in files if file.src_uri.startswith(inside + "-")]
    return next((page for page in candidates if page and files.get_file_from_path(page)), None)


def _relative(page: str | None, here: str) -> str | None:
    return posixpath.relpath(page, posixpath.dirname(here)) if page and page != here else None


def _outside_code(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """Substitute in the text, but not in its fenced blocks."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else pattern.sub(replace, part) for part in parts)
