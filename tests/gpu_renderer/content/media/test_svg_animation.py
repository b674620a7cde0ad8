"""Animations declared in SVG documents, on their own timeline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from gpu_renderer.content.svg.animation import played

SPAN = 'from="10" to="20" dur="2s"'


def value(attributes: str, seconds: float, name: str = "x", kind: str = "animate", base: str = 'x="3"') -> str | None:
    markup = f'<svg xmlns="http://www.w3.org/2000/svg"><rect {base}><{kind} attributeName="{name}" {attributes}/></rect></svg>'
    found: str | None = etree.fromstring(played(markup, seconds))[0].get(name)
    return found


def number(attributes: str, seconds: float, base: str = 'x="3"') -> float:
    return float(value(attributes, seconds, base=base) or "nan")


@pytest.mark.parametrize(
    ("attributes", "seconds", "expected"),
    [
        (SPAN, 0.0, 10),
        (SPAN, 0.5, 12.5),
        (SPAN, 2.0, 3),
        (f'{SPAN} fill="freeze"', 9.0, 20),
        (f'{SPAN} begin="1s"', 0.5, 3),
        (f'{SPAN} begin="1s"', 2.0, 15),
        (f'{SPAN} begin="click"', 9.0, 3),
        (f'{SPAN} begin="-500ms"', 0.0, 12.5),
        (f'{SPAN} begin="-0.5s" repeatCount="indefinite"', 2.0, 12.5),
        (f'{SPAN} begin="0;click; 3s"', 3.5, 12.5),
        (f'{SPAN} begin="0;3s"', 2.5, 3),
        (f'{SPAN} repeatCount="indefinite"', 5.0, 15),
        (f'{SPAN} repeatCount="1.5" fill="freeze"', 9.0, 15),
        (f'{SPAN} repeatDur="3s"', 2.5, 12.5),
        (f'{SPAN} additive="sum"', 1.0, 18),
        ('to="7" dur="2s"', 1.0, 5),
        ('by="4" dur="500ms"', 0.25, 5),
        ('values="0;10;30" dur="00:04"', 3.0, 20),
        ('values="0;10;30" keyTimes="0;0.75;1" dur="4"', 3.5, 20),
        ('values="0;10;30" calcMode="discrete" dur="3s"', 1.5, 10),
        ('values="0;10" calcMode="spline" keySplines="0.5 0 0.5 1" dur="1s"', 0.5, 5),
        ('values="0;10" dur="0.01min"', 0.3, 5),
    ],
)
def test_a_number_moves_as_declared(attributes: str, seconds: float, expected: float) -> None:
    assert number(attributes, seconds) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "base", "expected"),
    [
        ("opacity", "", 0.75),
        ("opacity", 'opacity="0.4"', 0.45),
        ("opacity", 'opacity="0.4" style="opacity: 0.2"', 0.35),
        ("cx", "", 0.25),
    ],
)
def test_an_animation_without_a_start_begins_at_the_value_that_the_element_has(
    name: str, base: str, expected: float
) -> None:
    assert float(value('to="0.5" dur="2s"', 1.0, name, base=base) or "nan") == pytest.approx(expected)


def test_colours_are_mixed_by_channel_and_words_change_half_way() -> None:
    assert value('from="#000" to="#fff" dur="2s"', 1.0, "fill") == "rgba(127.500,127.500,127.500,1.00000)"
    words = 'from="none" to="inline" dur="2s"'
    assert [value(words, seconds, "display") for seconds in (0.9, 1.1)] == ["none", "inline"]


def test_a_transform_replaces_the_elements_own_or_is_added_to_it() -> None:
    turn = 'type="rotate" from="0 5 5" to="90 5 5" dur="1s"'
    base = 'transform="scale(2)"'
    turned = "rotate(45.000000 5.000000 5.000000)"
    assert value(turn, 0.5, "transform", "animateTransform", base) == turned
    assert value(f'{turn} additive="sum"', 0.5, "transform", "animateTransform", base) == f"scale(2) {turned}"


def test_set_holds_while_it_lasts() -> None:
    assert [value('to="8" begin="1s" dur="1s"', at, kind="set") for at in (0.5, 1.5, 2.5)] == ["3", "8", "3"]


def test_a_document_without_animation_is_left_alone() -> None:
    markup = '<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>'
    assert played(markup, 3.0) is markup


WORDS = st.sampled_from(
    ["", "0", "-1", "1e999", "9" * 400, "0.5;0.5;1", "1;0;1", "0;1", "a b", "nan", "00:01", "1 2;3"]
)
NAMES = (
    "begin",
    "dur",
    "values",
    "keyTimes",
    "keySplines",
    "repeatCount",
    "repeatDur",
    "from",
    "to",
    "by",
    "fill",
    "calcMode",
)


@given(
    st.dictionaries(st.sampled_from(NAMES), WORDS), st.sampled_from(["x", "1x", "xlink:href", "a b"]), st.floats(0, 9)
)
def test_whatever_animation_states_it_fails_no_document(stated: dict[str, str], name: str, seconds: float) -> None:
    value(" ".join(f'{key}="{word}"' for key, word in stated.items()), seconds, name)


@pytest.mark.parametrize("attributes", ['dur="0"', 'dur="x" values=";"', 'values="1;2" keyTimes="1;0" dur="1s"'])
def test_animation_that_makes_no_sense_moves_nothing(attributes: str) -> None:
    assert value(attributes, 0.5) in {"3", "2"}
