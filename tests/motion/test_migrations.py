"""Documents of old versions are migrated to the current one."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from motion.bundle import read_document
from motion.errors import VersionUnsupported
from motion.migrations import migrate
from tests.motion.corpus import CORPUS, needs_corpus

PAIRS = CORPUS / "legacy" / "migration_pairs.json"


def held(version: Any, **fx: Any) -> dict[str, Any]:
    nodes = [{"id": "a"}, {"id": "n", "components": [{"type": "fx", "props": fx}]}]
    return {"version": version, "scene": {"nodes": nodes}, "animation": {"tracks": {}, "expressions": {}}}


def fx_of(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["scene"]["nodes"][1]["components"][0]["props"]
    return found


def pairs() -> list[dict[str, Any]]:
    return json.loads(PAIRS.read_text())["pairs"] if PAIRS.exists() else []


@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: f"from {pair['from']}")
def test_the_editors_own_pairs_agree(pair: dict[str, Any]) -> None:
    if pair["error"]:
        with pytest.raises(VersionUnsupported):
            migrate(pair["input"])
    else:
        assert migrate(pair["input"]) == pair["output"]


@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", sorted(CORPUS.glob("legacy/*/migrated.json")), ids=lambda path: path.parent.name)
def test_legacy_documents_become_what_the_editor_makes_of_them(path: Path) -> None:
    assert read_document((path.parent / "document.json").read_bytes()) == json.loads(path.read_text())


@pytest.mark.parametrize("version", ["0.9.0", "1.1.5", "", "beta", "1.7.0", "2"])
def test_versions_that_never_existed_are_refused(version: str) -> None:
    with pytest.raises(VersionUnsupported):
        migrate(held(version))


@pytest.mark.parametrize("version", ["9" * 1_000_000, "0." * 1_000_000, ["1.1.0"] * 1_000_000], ids=range(3))
def test_a_refused_version_is_named_by_its_beginning(version: Any) -> None:
    with pytest.raises(VersionUnsupported, match=r"renderer|again in the editor") as refusal:
        migrate(held(version))
    assert len(refusal.value.message) < 300


def test_a_short_spelling_of_the_current_version_is_left_unchanged() -> None:
    assert migrate(held("1.6"))["version"] == "1.6"


def test_no_version_counts_as_the_first() -> None:
    only: Any = {"id": "comp_1", "width": 10}
    assert migrate({**held(None), "comp": only})["comps"] == {"comp_1": only}


def test_migrating_leaves_the_document_given_alone() -> None:
    before = held("1.0.0", matte="luma-inv", trim={"end": 50})
    kept = copy.deepcopy(before)
    migrate(before)
    assert before == kept


def test_migrating_twice_changes_nothing() -> None:
    once = migrate(held("1.1.0", matte="luma", pathOp={"type": "zigzag"}, trim={"end": 50}, repeater={}))
    assert migrate({**once, "version": "1.1.0"}) == once


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("alpha-inv", {"mode": "alpha", "inverted": True}),
        ({"mode": "luma-inv", "sourceId": "a"}, {"mode": "luma", "inverted": True, "sourceId": "a"}),
        ({"mode": "luma", "inverted": True}, {"mode": "luma", "inverted": True}),
        ({"mode": "alpha", "sourceId": "a"}, {"mode": "alpha", "inverted": False, "sourceId": "a"}),
        ("none", None),
        (7, None),
    ],
)
def test_mattes_of_every_generation_get_one_form(stored: Any, expected: Any) -> None:
    assert fx_of(migrate(held("1.1.0", matte=stored))).get("matte") == expected


def test_a_matte_word_that_outlived_migration_takes_the_record_before_as_its_source() -> None:
    assert fx_of(migrate(held("1.6.0", matte="luma")))["matte"] == {"mode": "luma", "inverted": False, "sourceId": "a"}


def test_a_disabled_expression_stays_disabled_and_a_blank_one_goes() -> None:
    document = held("1.1.0")
    document["animation"]["expressions"] = {"n": {"x": {"src": "1", "enabled": False}, "y": " ", "z": "2"}}
    found: Any = migrate(document)["animation"]
    assert found["expressions"]["n"] == {"x": {"src": "1", "enabled": False}, "z": {"src": "2", "enabled": True}}
