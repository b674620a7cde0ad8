"""`/v1/renders/{jobId}/download` and `videoUrl`: downloads of a finished video."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from farm_core.secret import farm_secret
from farm_core.storage.links import Links
from tests.api.world import Someone, World, picture

pytestmark = pytest.mark.service
DAY = 24 * 3600


def finished(own_world: World, caller: Someone) -> str:
    job = caller.job()
    key = f"renders/{job}.mp4"
    path = own_world.settings.data_folder / "storage" / "objects" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(range(256)) * 10)
    own_world.move(job, "completed", video_key=key, progress=100)
    return job


def test_a_completed_job_has_a_video_and_redirects_to_it(own_world: World) -> None:
    ada = own_world.account()
    job = finished(own_world, ada)
    record = ada.get(f"/renders/{job}").json()
    assert (record["status"], record["progress"], record["error"]) == ("completed", 100, None)
    answer = ada.get(f"/renders/{job}/download")
    assert answer.status_code == 302
    for link in (record["videoUrl"], answer.headers["Location"]):
        assert link.startswith(own_world.origin + "/files/")
        served = own_world.client.get(link)
        assert (served.status_code, served.headers["Content-Type"]) == (200, "video/mp4")
        assert served.content == bytes(range(256)) * 10


@pytest.mark.parametrize(("age_days", "left_days"), [(0, 7), (22, 7), (29, 1)])
def test_links_work_for_7_days_and_never_longer_than_the_result_is_kept(
    own_world: World, age_days: int, left_days: int
) -> None:
    own_world.clock.advance(1000)
    ada = own_world.account()
    job, now = finished(own_world, ada), own_world.clock.now()
    ended_at = now - timedelta(days=age_days)
    own_world.database.execute("UPDATE jobs SET finished_at = %s WHERE id = %s", (ended_at, job))
    shown, listed = ada.get(f"/renders/{job}").json(), ada.get("/renders").json()["items"][0]
    download = ada.get(f"/renders/{job}/download").headers["Location"]
    links = {shown["videoUrl"], listed["videoUrl"], download}
    (expires_at,) = {int(parse_qs(urlsplit(link).query)["expires"][0]) for link in links}
    lifetime = expires_at - now.timestamp()
    assert left_days * DAY - 300 <= lifetime <= left_days * DAY


def test_a_download_can_be_asked_about_without_fetching_it(own_world: World) -> None:
    ada = own_world.account()
    job = finished(own_world, ada)
    answer = ada.ask("HEAD", f"/renders/{job}/download")
    assert (answer.status_code, answer.content) == (302, b"")
    head = own_world.client.head(answer.headers["Location"])
    assert (head.status_code, head.headers["Content-Length"]) == (200, "2560")
    assert ada.ask("HEAD", f"/renders/{ada.job()}/download").status_code == 409


def test_a_client_that_carries_its_key_along_the_redirect_gets_the_file(own_world: World) -> None:
    ada = own_world.account()
    job = finished(own_world, ada)
    key = ada.new_key()
    assert key.get(f"/renders/{job}/download", follow_redirects=True).status_code == 200


def test_a_file_opens_by_its_own_link_or_for_its_own_account_only(own_world: World) -> None:
    ada, bob = own_world.account(), own_world.account()
    video = ada.get(f"/renders/{finished(own_world, ada)}").json()["videoUrl"]
    upload = ada.upload(picture()).json()["url"]
    for link, other in ((video, upload), (upload, video)):
        address = link.partition("?")[0]
        asked = [own_world.client.get(address, headers=headers) for headers in (ada.headers, bob.headers, {})]
        assert [answer.status_code for answer in asked] == [200, 404, 401]
        assert own_world.client.get(f"{address}?{urlsplit(other).query}").status_code == 403


def test_a_link_names_the_file_for_every_browser_and_its_name_ends_no_header(own_world: World) -> None:
    job = finished(own_world, own_world.account())
    links = Links(farm_secret(own_world.settings), own_world.clock)
    link = links.url(own_world.origin, f"renders/{job}.mp4", links.in_seconds(60), 'Zoë "1"\r\nX: y.mp4')
    assert own_world.client.get(link).headers["Content-Disposition"] == (
        "inline; filename=\"Zo_ _1___X: y.mp4\"; filename*=UTF-8''Zo%C3%AB%20%221%22%0D%0AX%3A%20y.mp4"
    )


@pytest.mark.parametrize(
    ("status", "columns", "message"),
    [
        ("queued", {}, "not completed"),
        ("processing", {}, "not completed"),
        ("failed", {"error": "The media could not be fetched."}, "The media could not be fetched."),
        ("cancelled", {}, "cancelled"),
    ],
)
def test_a_download_before_completion_says_the_status(
    world: World, status: str, columns: dict[str, Any], message: str
) -> None:
    ada = world.account()
    job = ada.job()
    if status != "queued":
        world.move(job, status, **columns)
    answer = ada.get(f"/renders/{job}/download")
    assert (answer.status_code, answer.json()["status"]) == (409, status)
    assert message in answer.json()["message"]


def test_the_origin_of_links_can_be_set(start: Any) -> None:
    world: World = start(public_origin="https://farm.example/")
    ada = world.account()
    job = finished(world, ada)
    assert ada.get(f"/renders/{job}").json()["videoUrl"].startswith("https://farm.example/files/")
    assert ada.get(f"/renders/{job}/download").headers["Location"].startswith("https://farm.example/files/")
