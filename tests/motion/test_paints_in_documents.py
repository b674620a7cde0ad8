"""Outlines, fills and strokes as documents store them (layers.md 4, 6, 7 and 9.5)."""

from __future__ import annotations

from typing import Any

import pytest

from motion.snapshot import ImageSource, MissingSource, ShapeSource, SvgSource
from tests.documents import Json, document, keys, node
from tests.motion.frames import built, layer, source


def stops(*pairs: tuple[float, str]) -> list[Json]:
    return [{"offset": offset, "color": color} for offset, color in pairs]


def corners(doc: Json) -> list[tuple[float, float]]:
    found = source(doc, "a", ShapeSource)
    assert found.primitive == "path"
    return [(point.x, point.y) for run in found.runs for point in run.points]


@pytest.mark.parametrize(
    "stored",
    [
        {"geometry": {"points": []}},
        {"geometry": {"subpaths": []}},
        {"fx": {"booleanOp": "union", "booleanSources": ["gone", "too"]}},
    ],
)
def test_a_path_without_geometry_is_a_rectangle_whatever_its_shape_type(stored: dict[str, Any]) -> None:
    doc = document(node("a", shapeType="ellipse", width=40, height=20, **stored))
    assert corners(doc) == [(-20, -10), (20, -10), (20, 10), (-20, 10)]


def test_operators_on_a_path_without_geometry_start_from_the_rectangle() -> None:
    trim = {"id": "t", "type": "trim", "end": 25}
    doc = document(node("a", width=40, height=40, geometry={"points": []}, fx={"pathOps": [trim]}))
    assert corners(doc) == [(-20, -20), (20, -20)]


def test_a_waveform_without_its_sound_draws_nothing() -> None:
    doc = document(node("a", fx={"audioWaveform": {"sourceLayerId": "b"}}))
    assert source(doc, "a", MissingSource) is not None
    assert built(doc).warnings


@pytest.mark.parametrize("width", [{}, {"width": "4"}, {"width": None}, {"width": 0}])
def test_a_stroke_without_a_number_as_its_width_is_ignored(width: Json) -> None:
    doc = document(node("a", fx={"stroke": {"color": "#ff0000", **width}}))
    assert source(doc, "a", ShapeSource).strokes == ()


def test_a_gradient_recolours_a_picture_between_its_first_and_last_stored_stop() -> None:
    fill = {"type": "linear", "angle": 30, "stops": stops((1, "#ff0000"), (0, "#00ff00"), (0.5, "#0000ff"))}
    found = layer(document(node("a", "image", src="a.png", fx={"fill": fill})), "a")
    assert found is not None
    assert [entry.type for entry in found.effects] == ["gradient-ramp"]
    stored = dict(found.effects[0].stored)
    assert stored == {"colorA": "#ff0000", "colorB": "#0000ff", "angle": 30, "blend": 100}


@pytest.mark.parametrize(("policy", "shown"), [({"sanitizePolicy": 2}, "<svg/>"), ({}, "<svg id='source'/>")])
def test_an_svg_sanitised_by_another_policy_is_read_from_its_source(policy: Json, shown: str) -> None:
    stored = {"sanitizedMarkup": "<svg/>", "sourceMarkup": "<svg id='source'/>", **policy}
    assert source(document(node("a", "svg", svg=stored)), "a", SvgSource).markup == shown


@pytest.mark.parametrize("kind", ["text", "image"])
def test_the_outline_of_a_text_or_picture_follows_its_tracks(kind: str) -> None:
    own: Json = {"text": {"content": "A"}} if kind == "text" else {"src": "a.png"}
    tracks = {"a": {"strokeWidth": keys((0, 2), (1, 6)), "stroke_r": keys((0, 1)), "stroke_b": keys((0, 0.5))}}
    held = layer(document(node("a", kind, **own, fx={"stroke": {"width": 4}}), tracks=tracks), "a", 0.5)
    assert held is not None
    (outlined,) = held.effects
    assert outlined.type == "stroke"
    assert dict(outlined.animated) == {"width": 4.0, "color_r": 1.0, "color_b": 0.5}


def test_a_recoloured_picture_follows_the_tracks_of_its_fill_where_its_red_channel_moves() -> None:
    def animated(**channels: list[Json]) -> dict[str, float]:
        picture = node("a", "image", src="a.png", style={"fill": "#102030"})
        held = layer(document(picture, tracks={"a": channels}), "a")
        assert held is not None
        return dict(held.effects[0].animated)

    assert animated(fill_r=keys((0, 1)), fill_g=keys((0, 0.5))) == {"color_r": 1.0, "color_g": 0.5}
    assert animated(fill_g=keys((0, 0.5))) == {}


def test_a_fill_string_fills_the_shapes_of_an_svg_picture_and_a_fill_object_does_not() -> None:
    painted = {"fill": {"type": "solid", "color": "#fff"}}
    plain = document(
        node("a", "svg", style={"fill": "#123456"}, svg={"sanitizedMarkup": "<svg/>", "sanitizePolicy": 2})
    )
    assert source(plain, "a", SvgSource).svg_fill == "#123456"
    assert source(document(node("a", "image", src="a.svg", style={"fill": "red"})), "a", ImageSource).svg_fill == "red"
    assert source(document(node("a", "image", src="a.svg", fx=painted)), "a", ImageSource).svg_fill is None


def test_moving_widths_of_strokes_stay_in_their_range() -> None:
    fx = {"stroke": {"width": 4, "color": "#fff", "taper": {"enabled": True, "startWidth": 50}}}
    tracks = {"a": {"strokeTaperStartWidth": keys((0, 5)), "strokeTaperEndWidth": keys((0, -5))}}
    (stroke,) = source(document(node("a", fx=fx), tracks=tracks), "a", ShapeSource).strokes
    assert stroke.taper is not None
    assert (stroke.taper.start_width, stroke.taper.end_width) == (1.0, 0.0)
    for width in (0, -3):
        vanished = document(node("a", fx=fx), tracks={"a": {"strokeWidth": keys((0, width))}})
        assert source(vanished, "a", ShapeSource).strokes == ()
