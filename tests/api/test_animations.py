"""`/v1/animations`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.world import World

pytestmark = pytest.mark.service
RECORD = {"id", "name", "version", "animationData", "createdAt", "updatedAt"}
BOUNCE = {"name": "Bounce", "animationData": {"tracks": [{"prop": "y", "keyframes": []}]}}


def test_a_preset_is_published_and_read_back(world: World) -> None:
    ada = world.account()
    answer = ada.post("/animations", json=BOUNCE)
    made = answer.json()
    assert answer.status_code == 201
    assert set(made) == RECORD
    assert (made["name"], made["version"], made["animationData"]) == ("Bounce", 1, BOUNCE["animationData"])
    assert ada.get(f"/animations/{made['id']}").json() == made
    row = ada.get("/animations").json()["items"][0]
    assert set(row) == RECORD - {"animationData"}


def test_publishing_a_name_again_replaces_it_and_raises_the_version(own_world: World) -> None:
    ada = own_world.account()
    first = ada.post("/animations", json=BOUNCE).json()
    own_world.clock.advance(5)
    second = ada.post("/animations", json={**BOUNCE, "animationData": {"x": 1}}).json()
    assert (second["id"], second["version"], second["animationData"]) == (first["id"], 2, {"x": 1})
    assert second["createdAt"] == first["createdAt"] < second["updatedAt"]
    assert ada.get("/animations").json()["total"] == 1


def test_versions_are_exact_under_concurrency(world: World) -> None:
    ada = world.account()
    with ThreadPoolExecutor(8) as pool:
        versions = [
            answer.json()["version"] for answer in pool.map(lambda _: ada.post("/animations", json=BOUNCE), range(8))
        ]
    assert sorted(versions) == list(range(1, 9))


def test_of_concurrent_deletions_one_finds_the_preset(world: World) -> None:
    ada = world.account()
    presets = [ada.post("/animations", json={**BOUNCE, "name": str(n)}).json()["id"] for n in range(10)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda preset: ada.delete(f"/animations/{preset}"), sorted(presets * 8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 10 + [404] * 70


def test_presets_belong_to_their_account(world: World) -> None:
    ada, bob = world.account(), world.account()
    preset = ada.post("/animations", json=BOUNCE).json()["id"]
    assert bob.post("/animations", json=BOUNCE).json()["version"] == 1
    assert bob.get(f"/animations/{preset}").status_code == 404
    assert bob.delete(f"/animations/{preset}").status_code == 404
    assert ada.delete(f"/animations/{preset}").json() == {"deleted": True}
    assert ada.delete(f"/animations/{preset}").status_code == 404


def test_a_malformed_preset_is_refused(world: World) -> None:
    ada = world.account()
    for body in (
        {},
        {"name": ""},
        {"name": " ", "animationData": {}},
        {"name": "a", "animationData": []},
        {"name": "a"},
    ):
        assert ada.post("/animations", json=body).status_code == 400
