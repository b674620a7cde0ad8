"""The playground's form without a browser's scripts."""

from __future__ import annotations

import pytest

from tests.console.people import Person

pytestmark = pytest.mark.service


def test_the_form_shows_what_the_document_shows_by_itself(member: Person) -> None:
    template = member.api.template()
    assert "Hello" in member.text(f"/templates/{template}/playground")


def test_a_document_that_cannot_be_read_leaves_the_form_empty(member: Person) -> None:
    template, world = member.api.template(), member.api.world
    ((key,),) = world.database.execute("SELECT document_key FROM templates WHERE id = %s", (template,)).fetchall()
    path = world.settings.data_folder / "storage" / "objects" / key
    for content in (b"[" * 100_000, b'{"scene": 7}', b""):
        path.write_bytes(content)
        assert "Hello" not in member.text(f"/templates/{template}/playground")
    path.unlink()
    assert "headline" in member.text(f"/templates/{template}/playground")
