"""The console shows a project before it is stored."""

from __future__ import annotations

import io
import re
from pathlib import Path

from PIL import Image

from tests.api.workers import drawing
from tests.console.people import Person

SUBSTITUTED = "The font family 'Gotham' is not installed; 'Inter' stands in for it."


def uploaded(member: Person, project: Path) -> str:
    files = {"file": (project.name, project.read_bytes())}
    answer = member.client.post("/console/templates/import", data={"csrf": member.csrf()}, files=files)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_frame_and_the_fonts_that_will_be_replaced_are_shown_before_the_import(
    member: Person, project: Path, tmp_path: Path
) -> None:
    with drawing(member.api.world, tmp_path) as worker:
        worker.warnings = (SUBSTITUTED, "The effect “Frost” is not drawn.")
        text = uploaded(member, project)
    assert "Gotham" in text.split("Fonts")[1] and "Frost" in text.split("Drawn differently")[1].split("Fonts")[0]
    (address,) = re.findall(r'src="/console(/templates/import/imp_\w+/picture\.jpg)"', text)
    assert Image.open(io.BytesIO(member.get(address).content)).size == (640, 360)
    assert member.api.get("/templates").json()["total"] == 0


def test_pictures_of_uploads_are_the_accounts_own_and_go_with_the_import(
    member: Person, operator: Person, project: Path, tmp_path: Path
) -> None:
    with drawing(member.api.world, tmp_path):
        text = uploaded(member, project)
    (upload,) = set(re.findall(r"imp_\w+", text))
    address = f"/templates/import/{upload}"
    assert operator.get(f"{address}/picture.jpg").status_code == 404
    assert member.post(address, name="Greeting").status_code == 303
    assert member.get(f"{address}/picture.jpg").status_code == 404


def test_a_form_with_faults_opened_again_is_the_playground(member: Person) -> None:
    template = member.api.template()
    assert member.post(f"/templates/{template}/render").status_code in (200, 400)
    answer = member.get(f"/templates/{template}/render")
    assert answer.headers["location"] == f"/console/templates/{template}/playground"
