"""Data about the whole document for expressions, whether drawn or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from motion.formulas.expressions import CompositionFacts, LayerFacts, Marker
from motion.model.layer import Moving


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """Data by node id: its animation, name, size, Transform numbers and markers.

    Names and controls lead to the first node that has them.
    """

    composition: CompositionFacts
    composition_markers: tuple[Marker, ...]
    moving: Mapping[str, Mapping[str, Moving]]
    layers: Mapping[str, LayerFacts]
    numbers: Mapping[str, Mapping[str, float]]
    markers: Mapping[str, tuple[Marker, ...]]
    by_name: Mapping[str, str]
    control_owners: Mapping[str, str]
