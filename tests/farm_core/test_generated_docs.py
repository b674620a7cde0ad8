"""Pages generated from the code are up to date."""

from __future__ import annotations

import re

import pytest

from farm_core import generated_docs
from farm_core.settings import ROOT


@pytest.mark.parametrize("name", list(generated_docs.PAGES))
def test_a_page_says_what_the_code_says(name: str) -> None:
    written = (generated_docs.DOCS / name).read_text()
    assert written == generated_docs.PAGES[name](), "run `python -m farm_core.generated_docs`"


def test_every_promise_of_the_interface_names_a_test_that_exists() -> None:
    named = re.findall(r"`(\S+\.py)::(\w+)`", (generated_docs.DOCS / "interface.md").read_text())
    assert len(named) > 80
    missing = [name for path, name in named if f"def {name}(" not in (ROOT / "tests" / path).read_text()]
    assert missing == []
