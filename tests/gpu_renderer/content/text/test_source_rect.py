"""Bounds of the painted pixels of a text."""

from __future__ import annotations

import pytest

from gpu_renderer.content.contents import Contents
from tests.gpu_renderer.drawing import Pictures
from tests.gpu_renderer.fonts import reference_fonts, text


def contents() -> Contents:
    return Contents(reference_fonts(), Pictures())


def test_the_font_box_is_the_measured_box_without_its_padding() -> None:
    found = contents().source_rect(text("HELLO"), extents=True)
    assert found is not None
    assert (found.left, found.top, found.width, found.height) == (-78, -29, 156, 58)


def test_painted_pixels_are_inside_the_font_box_and_as_high_as_the_capitals() -> None:
    found = contents().source_rect(text("HELLO"), extents=False)
    assert found is not None
    assert found.height == pytest.approx(36, abs=2)
    assert found.width == pytest.approx(150, abs=4)
    assert -29 < found.top < found.top + found.height < 29


def test_a_blank_text_has_no_ink() -> None:
    assert contents().source_rect(text("  "), extents=False) is None
