"""A template is rendered once for each row of a table."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from console.batch.table import read_table
from farm_core.progress.changes import JobChange
from motion.template import InputField, Target
from tests.api.world import document, field, layer, picture
from tests.console.changes import publish_until
from tests.console.people import COOKIE, Person, link_token

pytestmark = [pytest.mark.filterwarnings("default")]

FIELDS = [
    InputField(id_, label, "text", False, None, Target(id_, "Text", "content"))
    for id_, label in (("guest", "Name of the guest"), ("role", "Role"), ("size", "Lbl"), ("tint", "Lbl"))
]


def template(person: Person) -> str:
    """Create a template with an optional text, colour and number; return its id."""
    fields = [
        field("guest", "text", "n1", "Text", "content"), field("tint", "color", "n1", "Style", "fill"),
        field("size", "number", "n1", "Transform", "rotation"),
    ]  # fmt: skip
    inputs = [{"id": one["id"], "label": one["label"], "kind": one["kind"]} for one in fields]
    return person.api.template(
        name="Greeting", document=document(layer("n1", "Title", "text"), fields=fields), inputs=inputs
    )


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_columns_are_named_by_ids_or_labels_and_parted_as_spreadsheets_do(sign: str) -> None:
    lines = [["name of the guest", " role", "ID"], ["Ada", "", "7"], ["", "", ""], [f'"Bo{sign}\nB."', "Chef", ""]]
    table = read_table("\ufeff" + "\r\n".join(sign.join(cells) for cells in lines) + "\r\n", FIELDS)
    assert [(row.line, dict(row.cells)) for row in table.rows] == [
        (2, {"guest": "Ada"}),
        (5, {"guest": f"Bo{sign}\nB.", "role": "Chef"}),
    ]
    assert table.inputs == ["guest", "role"]
    assert table.remarks == ["The column “ID” is left out: no single input has this id or label."]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (" \n", "The table is empty."),
        ("guest", "no rows below"),
        ("gast\nAda", "names no input of this template. Its inputs are: guest, role, size, tint."),
        ("Lbl\n1", "names no input"),
        ("guest,GUEST\na,b", "Several columns are for the input 'guest'."),
        ('guest\n"Ada', "A quotation mark is not closed, after line 2."),
        ('guest\n"' + "A" * 200_000 + '"', "A cell has more than 131,072 characters, after line 2."),
        ("guest\nA\x00", "The table "),
        ("guest" + ",x" * 1000 + "\nA", "The first line has 1,001 names; a table has at most 1,000 columns."),
        ("guest\n" + "A\n" * 1001, "The table has 1,001 rows; at most 1,000"),
        ("guest\n" + "A" * 1_000_001, "more than 1,000,000 characters"),
    ],
)
def test_a_table_that_cannot_be_rendered_says_why(text: str, fault: str) -> None:
    assert fault in (read_table(text, FIELDS).fault or "")


def test_blanks_beyond_the_columns_and_a_template_without_inputs() -> None:
    assert len(read_table("guest\nAda, ,\n", FIELDS).rows) == 1
    assert "has no inputs" in (read_table("guest\nAda", []).fault or "")


def test_a_row_with_too_many_cells_is_named_and_the_others_are_rendered(designer: Person) -> None:
    page = f"/templates/{template(designer)}/batch"
    table = "guest,tint\nAda,red\nBob, the chef,blue\nCy,green,,"
    checked = designer.post(page, table=table).text
    assert (
        "Line 3: 1 cell more than the first line has names. If a cell contains a comma, put it between quotation marks."
        in " ".join(re.sub("<[^>]*>", "", html.unescape(checked)).split())
    )
    assert "Render 2 videos" in checked
    rendered = designer.post(f"{page}/render", table=table)
    assert rendered.status_code == 303
    shown = designer.text(rendered.headers["location"].removeprefix("/console"))
    assert "Ada" in shown and "Cy" in shown and "Bob" not in shown
    assert "1 row left out because of its faults" in shown
    assert "Line 3: <bdi>1 cell more than the first line has names." in shown
    refused = designer.post(f"{page}/render", table="guest\nBob, the chef")
    assert refused.status_code == 200 and "1 row cannot be rendered." in refused.text


def test_a_fault_that_many_rows_share_is_shown_once_with_their_lines(designer: Person) -> None:
    rows = ["guest,tint", *("Ada,none" if line in (3, 5, 6, 7, 9) else "Ada,red" for line in range(2, 10))]
    table, batch_template = "\n".join(rows), template(designer)
    checked = designer.post(f"/templates/{batch_template}/batch", table=table).text
    shown = " ".join(re.sub("<[^>]*>", "", html.unescape(checked)).split())
    assert "5 rows cannot be rendered. The others can.Lines 3, 5–7, 9: Tint must be a colour" in shown
    assert checked.count("must be a colour") == 1
    rendered = designer.post(f"/templates/{batch_template}/batch/render", table=table)
    result = designer.text(rendered.headers["location"].removeprefix("/console"))
    assert "Lines 3, 5–7, 9: <bdi>Tint must be a colour" in result
    refused = [
        one for one in items(designer, rendered.headers["location"].rpartition("=")[2]) if one["status"] == "refused"
    ]
    assert [one["metadata"]["line"] for one in refused] == [3, 5, 6, 7, 9]


def test_a_few_of_many_unknown_columns_are_named() -> None:
    names = ["guest", *(f"{'guest' * 2_000}{number}" for number in range(30))]
    table = read_table(",".join(names) + "\nAda", FIELDS)
    assert table.inputs == ["guest"]
    assert len(table.remarks) == 21
    assert table.remarks[-1] == "10 more columns are left out."


def test_a_dropped_file_is_checked_and_its_fit_rows_are_rendered(
    designer: Person, window: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "guests.csv").write_text("Guest,tint,siez\nAda,#f00,1\nBo,,\nCy,none of them,\n")
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{template(designer)}")
    page.click("text=Render a table")
    page.set_input_files("[data-table-file]", tmp_path / "guests.csv")
    expect(page.get_by_role("alert")).to_contain_text(
        "1 row cannot be rendered. The others can.Line 4: Tint must be a colour"
    )
    expect(page.locator(".notice.warn")).to_contain_text("Did you mean “size”?")
    expect(page.locator(".batch tbody tr")).to_have_count(2)
    expect(page.get_by_role("img", name="Frame of line 2")).to_have_js_property("complete", True)
    assert page.get_by_role("img", name="Frame of line 2").evaluate("(image) => image.naturalWidth") > 0
    page.get_by_role("button", name="Render 2 videos").click()
    expect(page.locator("#results")).to_contain_text("2 renders match")
    expect(page.locator("#results tbody")).to_contain_text("Ada")
    page.fill("#text", "Bo")
    expect(page.locator("#results")).to_contain_text("1 render matches")


def test_a_file_in_another_encoding_is_told_what_to_save(
    designer: Person, window: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "guests.csv").write_bytes("guest\nJosé\n".encode("latin-1"))
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{template(designer)}/batch")
    page.set_input_files("[data-table-file]", tmp_path / "guests.csv")
    fault = page.locator("#table-fault")
    expect(fault).to_have_text("Not read: guests.csv. It is no text in UTF-8. Save the table as CSV UTF-8.")
    (tmp_path / "guests.csv").write_bytes(b"")
    page.set_input_files("[data-table-file]", tmp_path / "guests.csv")
    expect(fault).to_have_text("Not read: guests.csv. The file is empty.")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_tables_in_the_encodings_of_spreadsheets_are_read(
    designer: Person, window: Callable[..., Any], tmp_path: Path, encoding: str
) -> None:
    (tmp_path / "guests.txt").write_bytes("\ufeffguest\tsize\r\nJosé\t1\r\n".encode(encoding.removesuffix("-sig")))
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{template(designer)}/batch")
    page.set_input_files("[data-table-file]", tmp_path / "guests.txt")
    expect(page.locator(".batch tbody")).to_contain_text("José")
    expect(page.locator(".list-foot")).to_contain_text("1 render of 3 s costs")


def test_the_table_to_fill_in_has_the_templates_own_values_and_can_be_sent_as_it_is(designer: Person) -> None:
    address = f"/templates/{template(designer)}/batch"
    answer = designer.get(f"{address}/table.csv")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''Greeting.csv"
    assert answer.text.splitlines()[0] == "\ufeffguest,tint,size"
    assert "Render 1 video" in designer.post(address, table=answer.text).text


def test_a_form_that_is_sent_twice_renders_its_table_once(designer: Person) -> None:
    address = f"/templates/{template(designer)}/batch/render"
    first, second = (designer.post(address, table="guest\nAda", once="0f" * 16) for _ in range(2))
    assert first.status_code == 303
    assert first.headers["location"] == second.headers["location"]


def test_size_and_refusals_are_those_of_a_single_render(member: Person) -> None:
    address, form = f"/templates/{template(member)}/batch/render", {"table": "guest\nAda\nBo", "output.size": "640x360"}
    batch = member.post(address, **form).headers["location"].partition("batch=")[2]
    (first, _) = member.api.get(f"/batches/{batch}").json()["items"]
    assert "640×360" in member.text(f"/renders/{first['jobId']}")
    member.api.world.limit(member.api.account_id, monthlyRenderMinutes=0)
    refused = member.post(address, **form)
    assert refused.status_code == 403
    assert "Nothing was rendered." in refused.text
    assert "Render 2 videos" in refused.text
    assert '<option value="640x360" selected>' in refused.text


def rendered(person: Person, table: str) -> str:
    """Render a table; return the id of its batch."""
    answer = person.post(f"/templates/{template(person)}/batch/render", table=table)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].partition("batch=")[2]


def items(person: Person, batch: str) -> list[dict[str, Any]]:
    return list(person.api.get(f"/batches/{batch}").json()["items"])


def test_all_that_match_in_a_table_are_renders_of_the_table(member: Person) -> None:
    alone = member.api.job()
    batch = rendered(member, "guest\nAda\nBo")
    confirmed = member.text(f"/renders/actions/cancel?batch={batch}")
    assert "Cancel 2 renders?" in confirmed
    assert batch in confirmed
    assert member.post(f"/renders/actions/cancel?batch={batch}", scope="matching").status_code == 303
    assert [one["status"] for one in items(member, batch)] == ["cancelled"] * 2
    assert member.api.get(f"/renders/{alone}").json()["status"] == "queued"


def test_all_that_match_a_text_of_an_input_are_cancelled(member: Person) -> None:
    batch = rendered(member, "guest\nAda\nBo")
    assert "Cancel 1 render?" in member.text("/renders/actions/cancel?text=ada")
    assert member.get("/renders/actions/cancel?status=nonsense").status_code == 400
    member.post("/renders/actions/cancel?text=ada", scope="matching")
    assert [one["status"] for one in items(member, batch)] == ["cancelled", "queued"]


def complete(person: Person, job: str, video: bytes) -> None:
    """Complete a render with this file."""
    world, key = person.api.world, f"results/{job}.mp4"
    path = world.settings.data_folder / "storage" / "objects" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(video)
    world.move(job, "completed", video_key=key)


def test_renders_of_a_table_are_listed_in_its_order_on_all_pages(member: Person) -> None:
    batch = rendered(member, "guest\n" + "".join(f"Guest {number}\n" for number in range(60)))
    first = member.text(f"/renders?batch={batch}")
    assert re.findall(r"Table, line (\d+)", first) == [str(line) for line in range(2, 52)]
    assert "0 of 60 videos are finished" in first
    following = re.search(r'rel="next" href="/console([^"]+)"', first)
    assert following is not None
    second = member.text(html.unescape(following[1]))
    assert re.findall(r"Table, line (\d+)", second) == [str(line) for line in range(52, 62)]
    assert "Next lines" not in second


def test_a_table_shows_its_progress_and_is_downloaded_by_line(
    designer: Person, window: Callable[..., Any], tmp_path: Path
) -> None:
    batch = rendered(designer, 'guest\nAda\n"Bo: 1/2"\nCy')
    jobs = [one["jobId"] for one in items(designer, batch)]
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders?batch={batch}")
    progress = page.locator("#table")
    expect(progress).to_contain_text("0 of 3 videos are finished")
    expect(progress.get_by_role("link", name="3 queued")).to_be_visible()
    page.goto(f"{designer.origin}/console/renders/{jobs[1]}")
    page.get_by_role("link", name="All its renders").click()
    complete(designer, jobs[0], b"first")
    complete(designer, jobs[1], b"second")
    change: JobChange = {"job_id": jobs[1], "account_id": designer.api.account_id, "status": "completed"}
    publish_until(page, designer.api.world, change, lambda: "2 of 3" in progress.inner_text())
    with page.expect_download() as saved:
        progress.get_by_role("link", name="Download 2 videos").click()
    assert saved.value.suggested_filename == "Greeting.zip"
    saved.value.save_as(tmp_path / "table.zip")
    with zipfile.ZipFile(tmp_path / "table.zip") as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert f"Line 4 ({jobs[2]}): queued" in found.pop("Not in this zip.txt")
    assert found == {"2 Ada.mp4": "first", "3 Bo- 1-2.mp4": "second"}


def test_retried_renders_stay_in_their_table(designer: Person, window: Callable[..., Any]) -> None:
    batch = rendered(designer, "guest\nAda\nBo")
    jobs = [one["jobId"] for one in items(designer, batch)]
    complete(designer, jobs[0], b"first")
    designer.api.world.move(jobs[1], "failed", error="The server could not be reached.")
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders?batch={batch}&status=failed")
    page.click("text=Retry all that match")
    page.click("main button.main")
    expect(page.locator("#table")).to_contain_text("1 of 2 videos is finished")
    expect(page.locator("#results tbody tr")).to_have_count(2)
    again = items(designer, batch)[1]["jobId"]
    assert again != jobs[1]
    assert f'href="/console/renders/{jobs[1]}"' in designer.text(f"/renders/{again}")
    assert f'href="/console/renders/{again}"' in designer.text(f"/renders/{jobs[1]}")
    with zipfile.ZipFile(io.BytesIO(designer.get(f"/renders/tables/{batch}/videos.zip").content)) as archive:
        assert f"Line 3 ({again}, which retries {jobs[1]}): queued" in archive.read("Not in this zip.txt").decode()
    complete(designer, again, b"second")
    page.reload()
    expect(page.locator("#table")).to_contain_text("All 2 videos are finished")


def test_cells_name_uploaded_files(designer: Person, window: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "guests.csv").write_text("headline,photo\nAda,Zo\u00eb.PNG\nBo,missing.png\n", encoding="utf-8")
    (tmp_path / "zoe\u0308.png").write_bytes(picture())
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{designer.api.template()}/batch")
    page.set_input_files("[data-table-file]", tmp_path / "guests.csv")
    expect(page.get_by_role("alert")).to_contain_text(
        "2 rows cannot be rendered.Line 2: Photo “Zo\u00eb.PNG” is not uploaded"
    )
    page.set_input_files("[data-media-files]", tmp_path / "zoe\u0308.png")
    expect(page.locator(".batch tbody tr")).to_have_text(re.compile("Ada.*Zo\u00eb.PNG", re.DOTALL))
    expect(page.get_by_role("alert")).to_contain_text(
        "1 row cannot be rendered. The others can.Line 3: Photo “missing.png”"
    )
    page.get_by_role("button", name="Render 1 video").click()
    page.locator("#results tbody a.clip").click()
    expect(page.locator("main")).to_contain_text("zoe\u0308.png")


@pytest.mark.parametrize(("uploaded", "cell"), [("İzmir.png", "İzmir.png"), ("ΟΔΟΣ 1.png", "ΟΔΟΣ 1.PNG")])
def test_cells_name_files_whose_capitals_python_and_postgres_lower_in_two_ways(
    member: Person, uploaded: str, cell: str
) -> None:
    assert member.api.upload(picture(), uploaded).status_code == 201
    checked = member.post(f"/templates/{member.api.template()}/batch", table=f"headline,photo\nAda,{cell}").text
    assert "Render 1 video" in checked


def test_a_table_survives_a_session_that_ends(designer: Person, window: Callable[..., Any]) -> None:
    page, address = window(designer), f"{designer.origin}/console/templates/{template(designer)}/batch"
    page.goto(address)
    page.fill("#table", "guest\nAda")
    page.context.clear_cookies(name=COOKIE)
    page.click("text=Check the rows")
    page.wait_for_url("**/sign-in?next=*")
    page.goto(f"{designer.origin}/console/enter?token={link_token(designer.api.world, designer.api.account_id)}")
    page.click("text=Sign in as")
    page.wait_for_url(address)
    expect(page.locator("#table")).to_have_value("guest\nAda")
    page.click("text=Check the rows")
    page.click("text=Render 1 video")
    page.click("text=Render another table")
    expect(page.locator("#table")).to_have_value("")


def test_a_refused_upload_says_why_and_keeps_the_table(
    designer: Person, window: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "broken.png").write_bytes(b"no picture")
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{designer.api.template()}/batch")
    page.fill("#table", "headline,photo\nAda,broken.png")
    page.set_input_files("[data-media-files]", tmp_path / "broken.png")
    expect(page.get_by_role("list", name="Uploads").locator(".fault")).to_contain_text("broken.png: ")
    expect(page.locator("#table")).to_have_value("headline,photo\nAda,broken.png")


def test_files_of_other_accounts_are_not_found_by_name(member: Person, operator: Person) -> None:
    operator.api.upload(picture(), "secret.png")
    address = f"/templates/{member.api.template()}/batch"
    assert "“secret.png” is not uploaded" in member.post(address, table="headline,photo\nAda,secret.png").text


def test_the_table_of_another_account_does_not_exist(member: Person, operator: Person) -> None:
    batch = rendered(operator, "guest\nAda")
    for path in (f"/renders/tables/{batch}", f"/renders/tables/{batch}/videos.zip"):
        assert member.get(path).status_code == 404
    assert "No render matches" in member.text(f"/renders?batch={batch}")
    assert operator.get(f"/renders/tables/{batch}/videos.zip").status_code == 400


def test_a_table_of_long_cells_fits_a_phone(designer: Person, window: Callable[..., Any]) -> None:
    page = window(designer, phone=True)
    page.goto(f"{designer.origin}/console/templates/{template(designer)}/batch")
    page.fill("#table", f"guest,tint\n{'Unbroken' * 40},{'x' * 300}\n{'Unbroken' * 40},red\n")
    page.click("text=Check the rows")
    expect(page.get_by_role("button", name="Render 1 video")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_tables_of_other_accounts_templates_do_not_exist(designer: Person, shared_operator: Person) -> None:
    address = f"/templates/{template(designer)}/batch"
    assert shared_operator.get(address).status_code == 404
    assert shared_operator.get(f"{address}/table.csv").status_code == 404
    assert shared_operator.post(f"{address}/render", table="guest\nAda").status_code == 404
