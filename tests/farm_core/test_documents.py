"""The pages made from the code are up to date."""

from __future__ import annotations

import pytest

from farm_core import documents


@pytest.mark.parametrize("name", list(documents.PAGES))
def test_a_page_says_what_the_code_says(name: str) -> None:
    written = (documents.DOCS / name).read_text()
    assert written == documents.PAGES[name](), "run `python -m farm_core.documents`"
