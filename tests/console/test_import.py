"""The console shows a project before it is stored."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from console.library import pending
from farm_core.storage.choice import storage_of
from motion.errors import PropertyRefused
from scheduler.ports import StillAssignment
from tests.api.world import document, layer, template_body, text_template
from tests.console.people import Person
from tests.documents import bundle
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import DummyWork

pytestmark = [pytest.mark.filterwarnings("default")]

SUBSTITUTED = "The font family 'Gotham' is not installed; 'Inter' stands in for it."


@pytest.fixture
def member(member: Person, worker: DummyWork) -> Person:
    """Return an account of a farm with a worker. Without one, each page of an import waits for its frame in vain."""
    return member


def uploaded(member: Person, project: Path, path: str = "/templates/import") -> str:
    """Upload the project. Return the page with the findings."""
    files = {"file": (project.name, project.read_bytes())}
    answer = member.client.post(f"/console{path}", data={"csrf": member.csrf()}, files=files)
    assert answer.status_code == 303, answer.text
    return member.text(answer.headers["location"].removeprefix("/console"))


def test_a_frame_and_the_fonts_that_will_be_replaced_are_shown_before_the_import(
    member: Person, worker: DummyWork, project: Path
) -> None:
    worker.warnings = (SUBSTITUTED, "The effect “Frost” is not drawn.")
    text = uploaded(member, project)
    assert "Gotham" in text.split("Fonts")[1] and "Frost" in text.split("Drawn differently")[1].split("Fonts")[0]
    (address,) = re.findall(r'src="/console(/templates/import/imp_\w+/picture\.jpg)"', text)
    assert Image.open(io.BytesIO(member.get(address).content)).size == (640, 360)
    assert member.api.get("/templates").json()["total"] == 0


def test_pictures_of_uploads_are_the_accounts_own_and_go_with_the_import(
    member: Person, operator: Person, project: Path
) -> None:
    text = uploaded(member, project)
    (upload,) = set(re.findall(r"imp_\w+", text))
    address = f"/templates/import/{upload}"
    assert operator.get(f"{address}/picture.jpg").status_code == 404
    assert member.post(address, name="Greeting").status_code == 303
    assert member.get(f"{address}/picture.jpg").status_code == 404


def test_a_checked_project_is_not_examined_again_for_its_page(member: Person, project: Path) -> None:
    files = {"file": (project.name, project.read_bytes())}
    page = member.client.post("/console/templates/import", data={"csrf": member.csrf()}, files=files).headers[
        "location"
    ]
    (upload,) = set(re.findall(r"imp_\w+", page))
    storage = storage_of(member.api.world.settings)
    storage.put_bytes(pending.project_key(member.api.account_id, upload), b"nobody could read this project")
    text = member.text(page.removeprefix("/console"))
    assert all(label in text for label in ("Headline", "greeting.motion"))
    assert member.get(f"{page.removeprefix('/console')}&composition=other").status_code == 400, (
        "it is not what was checked"
    )


def test_a_form_that_is_sent_twice_at_once_imports_one_template(member: Person, project: Path) -> None:
    (upload,) = set(re.findall(r"imp_\w+", uploaded(member, project)))
    csrf = member.csrf()

    def confirm(_: int) -> int:
        return member.client.post(f"/console/templates/import/{upload}", data={"csrf": csrf}).status_code

    with ThreadPoolExecutor(4) as together:
        assert sorted(together.map(confirm, range(4))) == [303, 404, 404, 404]
    assert member.api.get("/templates").json()["total"] == 1


REFUSED_COMMIT = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no commit'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON templates DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
"""


def test_an_import_that_is_not_committed_can_be_confirmed_again(member: Person, project: Path) -> None:
    """The files of the upload were deleted before the commit."""
    (upload,) = set(re.findall(r"imp_\w+", uploaded(member, project)))
    database = member.api.world.database
    database.execute(REFUSED_COMMIT)
    try:
        assert member.post(f"/templates/import/{upload}", name="Greeting").status_code >= 500
    finally:
        database.execute("DROP FUNCTION refuse CASCADE")
    assert member.post(f"/templates/import/{upload}", name="Greeting").status_code == 303
    assert member.api.get("/templates").json()["total"] == 1


def test_a_form_with_faults_opened_again_is_the_playground(member: Person) -> None:
    template = member.api.template()
    assert member.post(f"/templates/{template}/render").status_code in (200, 400)
    answer = member.get(f"/templates/{template}/render")
    assert answer.headers["location"] == f"/console/templates/{template}/playground"


def test_a_person_chooses_the_inputs_of_a_template_and_their_labels(
    member: Person, window: Callable[..., Any], tmp_path: Path
) -> None:
    fonts = ", ".join(f"'Family {index}'" for index in range(20))
    layers = (
        layer("n1", "Lbl", "text", fontFamily=fonts),
        layer("n2", "Lbl", "text"),
        layer("n3", "Photo", "image", src=""),
    )
    (tmp_path / "greeting.motion").write_bytes(bundle(document(*layers)))
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    page.set_input_files("#file", tmp_path / "greeting.motion")
    expect(page.get_by_label("Photo can differ in each render")).to_be_disabled()  # every render needs one
    assert page.evaluate("document.documentElement.scrollWidth") == 1440
    page.get_by_label("Lbl can differ in each render").first.uncheck()
    page.get_by_label("Label of Lbl").last.fill("  Name of\tthe guest ")
    page.click("text=Import the template")
    expect(page.get_by_role("region", name="Inputs").locator("tbody tr")).to_have_count(2)
    (template,) = member.api.get("/templates").json()["items"]
    assert [one["label"] for one in template["inputs"]] == ["Name of the guest", "Photo"]


def test_inputs_of_a_project_without_media_are_chosen_too(member: Person, tmp_path: Path) -> None:
    project = tmp_path / "texts.motion"
    project.write_bytes(bundle(document(layer("n1", "Title", "text"), layer("n2", "Role", "text"))))
    (upload,) = set(re.findall(r"imp_\w+", uploaded(member, project)))
    form = {"name": "Texts", "choice": "yes", "input": "role", "label.role": "", "label.title": "Not chosen"}
    assert member.post(f"/templates/import/{upload}", **form).status_code == 303
    (template,) = member.api.get("/templates").json()["items"]
    assert [(one["id"], one["label"]) for one in template["inputs"]] == [("role", "Role")]


def test_a_label_that_cannot_be_stored_is_refused_by_name(member: Person, project: Path) -> None:
    (upload,) = set(re.findall(r"imp_\w+", uploaded(member, project)))
    answer = member.post(f"/templates/import/{upload}", choice="yes", input="headline", **{"label.headline": "a\x00b"})
    assert answer.status_code == 400
    assert "The label of &#39;headline&#39;" in answer.text


def test_a_template_gets_another_name(member: Person, operator: Person, window: Callable[..., Any]) -> None:
    template = member.api.template(name="Built-in Lower Third template with its d")
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{template}")
    button = page.get_by_text("Rename", exact=True)
    place = button.bounding_box()
    button.click()
    expect(page.get_by_label("Name of the template")).to_be_visible()
    assert button.bounding_box() == place
    page.get_by_label("Name of the template").fill(" Name\ttag ")
    page.get_by_role("button", name="Save the name").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Name tag")
    assert member.api.get(f"/templates/{template}").json()["name"] == "Name tag"
    for name, fault in ((" ", "A template needs a name."), ("a\x00b", "The name ")):
        answer = member.post(f"/templates/{template}/name", name=name)
        assert answer.status_code == 400
        assert fault in answer.text
    assert "rename template" in operator.text("/audit")


def test_a_name_given_meanwhile_is_not_overwritten(member: Person) -> None:
    template = member.api.template(name="Card")
    assert member.post(f"/templates/{template}/name", name="First", shown="Card").status_code == 303
    answer = member.post(f"/templates/{template}/name", name="Second", shown="Card")
    assert answer.status_code == 409
    assert "renamed to “First”" in answer.text
    assert member.api.get(f"/templates/{template}").json()["name"] == "First"


def test_templates_of_others_keep_their_names(designer: Person, shared_member: Person) -> None:
    template = designer.api.template(name="Mine")
    assert shared_member.post(f"/templates/{template}/name", name="Yours").status_code == 404
    assert designer.api.get(f"/templates/{template}").json()["name"] == "Mine"


def test_a_project_replaces_a_template_with_the_inputs_and_labels_of_before(
    member: Person, window: Callable[..., Any], tmp_path: Path
) -> None:
    layers = [layer("n1", "Title", "text"), layer("n2", "Role", "text"), layer("n3", "Photo", "image", src="")]
    project = tmp_path / "card.motion"
    project.write_bytes(bundle(document(*layers)))
    (upload,) = set(re.findall(r"imp_\w+", uploaded(member, project)))
    form = {"name": "Card", "choice": "yes", "input": "title", "label.title": "Name of the guest"}
    template = member.post(f"/templates/import/{upload}", **form).headers["location"].rpartition("/")[2]
    layers[2] = layer("n3", "Logo", "image", src="")
    project.write_bytes(bundle(document(*layers, layer("n4", "City", "text"))))

    page = window(member)
    page.goto(f"{member.origin}/console/templates/{template}")
    page.set_input_files("#replacement", project)
    expect(page.get_by_text("Input 'photo' is gone")).to_be_visible()
    expect(page.get_by_text("Input 'logo' is required now")).to_be_visible()
    boxes = {"Name of the guest": True, "Role": False, "Logo": True, "City": True}
    for label, ticked in boxes.items():
        expect(page.get_by_label(f"{label} can differ in each render")).to_be_checked(checked=ticked)
    page.click("text=Replace the template")
    expect(page.get_by_role("region", name="Inputs").locator("tbody tr")).to_have_count(3)
    (stored,) = member.api.get("/templates").json()["items"]
    assert (stored["id"], stored["name"]) == (template, "Card")
    assert [one["label"] for one in stored["inputs"]] == ["Name of the guest", "Logo", "City"]


def test_only_the_accounts_own_templates_are_replaced_and_only_with_the_session_s_token(
    member: Person, operator: Person, project: Path
) -> None:
    template = member.api.template()
    files = {"file": (project.name, project.read_bytes())}
    address = f"/console/templates/{template}/replace"
    assert operator.client.post(address, data={"csrf": operator.csrf()}, files=files).status_code == 404
    assert member.client.post(address, data={"csrf": "none"}, files=files).status_code == 403
    (upload,) = set(re.findall(r"imp_\w+", uploaded(member, project, f"/templates/{template}/replace")))
    assert member.client.post(f"{address}/{upload}", data={"name": "x"}).status_code == 403
    assert operator.post(f"/templates/{template}/replace/{upload}", name="x").status_code == 404
    assert operator.get(f"/templates/{template}/replace/{upload}").status_code == 404
    assert member.post(f"/templates/{template}/replace/{upload}", name="x").status_code == 303
    assert member.api.get(f"/templates/{template}").json()["name"] == "x"


def test_a_wrong_replacement_is_taken_back(member: Person, operator: Person, window: Callable[..., Any]) -> None:
    template = text_template(member.api)
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{template}")
    expect(page.get_by_role("heading", name="Former versions")).to_have_count(0)
    assert member.api.ask("PUT", f"/templates/{template}", json=template_body()).status_code == 200
    page.reload()
    inputs = page.get_by_role("region", name="Inputs").locator("tbody tr")
    expect(inputs).to_have_count(4)
    page.get_by_text("Restore", exact=True).click()
    expect(page.get_by_text("Input 'photo' is gone: requests with it are refused.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 1440
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("3, made")).to_be_visible()
    expect(inputs).to_have_count(1)
    page.get_by_text("Delete", exact=True).last.click()
    page.get_by_role("button", name="Delete version 1").click()
    expect(page.get_by_role("img", name="Poster of version 2")).to_be_visible()
    expect(page.get_by_role("img", name="Poster of version 1")).to_have_count(0)
    for action in ("restore", "delete"):
        assert operator.post(f"/templates/{template}/versions/2/{action}").status_code == 404
    text = operator.text(f"/templates/{template}")
    assert "Former versions" in text and "Restore version" not in text
    assert "restore template" in operator.text("/audit") and "delete template version" in operator.text("/audit")


def test_a_project_with_faults_does_not_replace_a_template(member: Person) -> None:
    template = member.api.template()
    files = {"file": ("broken.motion", b"no project")}
    address = f"/console/templates/{template}/replace"
    answer = member.client.post(address, data={"csrf": member.csrf()}, files=files)
    assert answer.status_code == 400
    assert "This project cannot replace the template. " in answer.text


def with_teaser(*nodes: dict[str, Any]) -> dict[str, Any]:
    """Return a document of a main composition with a text, and a smaller composition with the layers."""
    stored = document(layer("n1", "Headline", "text"))
    root = {**stored["scene"]["nodes"][0], "id": "comp_teaser", "children": [node["id"] for node in nodes]}
    stored["scene"]["nodes"] += [root, *({**node, "parent": "comp_teaser"} for node in nodes)]
    stored["scene"]["rootIds"].append("comp_teaser")
    stored["comps"]["comp_teaser"] = {
        **stored["comps"]["comp_root"],
        "id": "comp_teaser",
        "name": "Teaser",
        "width": 320,
    }
    return stored


def replaced(member: Person, template: str, document: dict[str, Any], project: Path) -> str:
    """Replace the template in the console. Return the page that was shown before."""
    project.write_bytes(bundle(document))
    shown = uploaded(member, project, f"/templates/{template}/replace")
    (upload,) = set(re.findall(r"imp_\w+", shown))
    (composition,) = re.findall(r'name="composition" value="(\w*)"', shown)
    answer = member.post(f"/templates/{template}/replace/{upload}", name="Teaser", composition=composition)
    assert answer.status_code == 303, answer.text
    return shown


def test_a_replaced_template_keeps_its_composition_or_says_that_it_renders_another(
    member: Person, project: Path
) -> None:
    photo, title = layer("t1", "Photo", "image", src=""), layer("t2", "Title", "text")
    files = {"file": ("project.motion", bundle(with_teaser(photo)))}
    made = member.api.ask("POST", "/templates/import", files=files, data={"compId": "comp_teaser"}).json()
    lost = "has no composition &#39;comp_teaser&#39;"
    for layers, inputs in (([photo, title], ["photo", "title"]), ([title], ["title"])):
        assert lost not in replaced(member, made["id"], with_teaser(*layers), project)
        template = member.api.get(f"/templates/{made['id']}").json()
        assert (template["width"], [one["id"] for one in template["inputs"]]) == (320, inputs)
    shown = replaced(member, made["id"], document(photo, title), project)
    assert lost in shown and "The new version renders &#39;Card&#39;" in shown
    assert member.api.get(f"/templates/{made['id']}").json()["width"] == 640


def test_an_import_says_why_it_shows_no_frame(
    member: Person, worker: DummyWork, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.library.findings.WAIT_SECONDS", HANG_SECONDS)

    def refuse(_: StillAssignment) -> None:
        raise PropertyRefused("The media of input 'photo' could not be fetched.")

    worker.before_still = refuse
    text = uploaded(member, project)
    assert "could not be fetched" in text
    assert "Everything in this project can be rendered" not in text


def test_a_file_in_the_bundle_is_no_difference_to_the_editor_but_an_input_that_each_render_needs(
    member: Person, worker: DummyWork, tmp_path: Path
) -> None:
    worker.warnings = ("There is nothing at assets/photo.png: its layer is not drawn.",)
    project = tmp_path / "photo.motion"
    project.write_bytes(bundle(document(layer("n1", "Photo", "image", src="assets/photo.png"))))
    text = uploaded(member, project)
    assert "A source must be given with every render." in text
    assert "There is nothing at" not in text and "Drawn differently from the editor" not in text


def test_another_composition_of_a_project_is_chosen(member: Person, window: Callable[..., Any], tmp_path: Path) -> None:
    project = tmp_path / "two.motion"
    project.write_bytes(bundle(with_teaser(layer("t1", "Title", "text"))))
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    page.set_input_files("#file", project)
    chooser = page.get_by_label("Composition")
    expect(chooser.locator("option")).to_have_text(["Card (active)", "Teaser"])
    expect(page.locator("#name")).to_have_value("Card")
    chooser.select_option("Teaser")
    expect(page.locator(".head")).to_contain_text("two.motion · 320×360")
    expect(chooser).to_have_value("comp_teaser")
    page.get_by_role("button", name="Import the template").click()
    page.wait_for_url("**/templates/tpl_*")
    (template,) = member.api.get("/templates").json()["items"]
    assert (template["name"], template["width"]) == ("Teaser", 320)
    assert [one["id"] for one in template["inputs"]] == ["title"]
    page.set_input_files("#replacement", project)
    expect(chooser).to_have_value("comp_teaser")
    chooser.select_option("Card (active)")
    expect(page.get_by_text("Input 'title' is gone")).to_be_visible()
    page.get_by_role("button", name="Replace the template").click()
    page.wait_for_url("**/templates/tpl_*")
    assert member.api.get(f"/templates/{template['id']}").json()["width"] == 640


def test_an_entered_name_stays_when_another_composition_is_chosen(
    member: Person, window: Callable[..., Any], tmp_path: Path
) -> None:
    project = tmp_path / "two.motion"
    project.write_bytes(bundle(with_teaser(layer("t1", "Title", "text"))))
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    page.set_input_files("#file", project)
    page.fill("#name", "My own name")
    for composition, width in (("Teaser", 320), ("Card (active)", 640)):
        page.get_by_label("Composition").select_option(composition)
        expect(page.locator(".head")).to_contain_text(f"· {width}×360")
        expect(page.locator("#name")).to_have_value("My own name")
    page.get_by_role("button", name="Import the template").click()
    page.wait_for_url("**/templates/tpl_*")
    assert member.api.get("/templates").json()["items"][0]["name"] == "My own name"


def test_a_choice_that_was_not_sent_is_put_back(member: Person, window: Callable[..., Any], tmp_path: Path) -> None:
    project = tmp_path / "two.motion"
    project.write_bytes(bundle(with_teaser(layer("t1", "Title", "text"))))
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    page.context.set_offline(True)
    page.set_input_files("#file", project)
    expect(page.get_by_role("alert")).to_have_text("two.motion: You are offline. Check the connection.")
    expect(page.locator("#file")).to_have_value("")  # a browser ignores the choice of the same file again
    page.context.set_offline(False)
    page.set_input_files("#file", project)
    chooser = page.get_by_label("Composition")
    expect(chooser).to_have_value("")
    page.context.set_offline(True)
    chooser.select_option("Teaser")
    expect(page.locator("#notices")).to_contain_text("You are offline. Choose again")
    expect(chooser).to_have_value("")  # the one that would be imported
    page.context.set_offline(False)
    page.go_back()
    expect(page).to_have_url(f"{member.origin}/console/templates")
    expect(page.locator("#file")).to_have_value("")


def test_a_project_shows_the_same_frame_before_its_import_and_as_a_template(
    member: Person, worker: DummyWork, project: Path
) -> None:
    drawn: list[tuple[int, ...]] = []
    worker.before_still = lambda still: drawn.append(still.frames)
    (upload,) = set(re.findall(r"imp_\w+", uploaded(member, project)))
    template = member.post(f"/templates/import/{upload}", name="Greeting").headers["location"].rpartition("/")[2]
    for picture in ("poster.jpg", "preview.jpg"):
        assert member.get(f"/templates/{template}/{picture}").status_code == 200
    assert len(drawn) == 3 and len(set(drawn)) == 1
