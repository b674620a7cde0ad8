"""Records created for every layer of every frame behave like frozen dataclasses."""

from dataclasses import replace

from motion import snapshot_key
from motion.snapshot import LayerSnapshot, MissingSource, Snapshot, Transform2D

PLACE = Transform2D(3.0, 4.0, rotation=5.0)
LAYER = LayerSnapshot("a", "A", MissingSource("nothing"), PLACE)


def test_equal_values_are_equal_records_with_equal_hashes() -> None:
    same = LayerSnapshot("a", "A", MissingSource("nothing"), Transform2D(3.0, 4.0, rotation=5.0))
    assert same == LAYER
    assert len({same, LAYER}) == 1


def test_a_changed_copy_leaves_the_record_as_it_was() -> None:
    moved = replace(PLACE, x=7.0)
    assert replace(LAYER, transform=moved) != LAYER
    assert (PLACE.x, moved.x) == (3.0, 7.0)


def test_records_of_different_kinds_are_never_equal() -> None:
    place: object = PLACE
    assert place != LAYER


def test_equal_records_have_equal_snapshot_keys() -> None:
    one, other = (snapshot_key.key(Snapshot(10.0, 10.0, (layer,))) for layer in (LAYER, replace(LAYER)))
    assert one == other
