"""The committed examples are those that their programs write."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from console.library.imports import EXAMPLE
from examples import build, build_effects
from examples.documents import Record, bundle

EXAMPLES = Path(build.__file__).parent
DOCUMENTS = {**build.documents(), "effects": build_effects.showcase()}


@pytest.mark.parametrize(("name", "document"), DOCUMENTS.items(), ids=DOCUMENTS)
def test_an_example_is_the_document_that_its_program_writes(name: str, document: Record) -> None:
    assert bundle(document) == (EXAMPLES / f"{name}.motion").read_bytes(), (
        "python -m examples.build or build_effects writes it"
    )


def test_every_example_has_a_program() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.motion")} == DOCUMENTS.keys()


def test_the_example_of_the_console_needs_no_files() -> None:
    with zipfile.ZipFile(EXAMPLE) as archive:
        assert b"://" not in archive.read("scene.json")
