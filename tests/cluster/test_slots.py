from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any

import pytest

from cluster import messages
from cluster.slots import Growth, kept_slots, slots_of
from farm_core.settings import Settings


def node(number: int, cpus: float = 4, gpus: float = 0, *, alive: bool = True) -> dict[str, Any]:
    resources = {"CPU": cpus} | ({"GPU": gpus} if gpus else {})
    return {"NodeID": f"{number:056x}", "NodeName": f"n{number}", "Alive": alive, "Resources": resources}


def test_a_machine_without_gpu_has_a_worker_for_each_core() -> None:
    slots = list(slots_of([node(1)], Settings()))
    assert [(slot.cpus, slot.gpus) for slot in slots] == [(1, 0)] * 4


def test_a_machine_with_gpus_has_a_worker_for_each_of_them_whatever_its_cores() -> None:
    slots = list(slots_of([node(1, cpus=64, gpus=2)], Settings()))
    assert [(slot.cpus, slot.gpus) for slot in slots] == [(0, 1)] * 2


def test_several_workers_may_share_a_gpu() -> None:
    slots = list(slots_of([node(1, gpus=1)], Settings(workers_per_gpu=4)))
    assert [slot.gpus for slot in slots] == [0.25] * 4


def test_a_machine_may_be_told_how_many_workers_it_has_on_cores_or_on_gpus() -> None:
    assert len(list(slots_of([node(1)], Settings(workers=2)))) == 2
    assert [slot.gpus for slot in slots_of([node(1, gpus=2)], Settings(workers=3))] == [0.5] * 3
    assert list(slots_of([node(1, cpus=0)], Settings(workers=2))) == []


@pytest.mark.parametrize(("cores", "workers", "threads"), [(4, 4, 0), (4, 2, 2), (4, 1, 4), (4, 3, 0), (2, 8, 0)])
def test_all_workers_together_rasterise_on_the_machines_cores_and_no_more(
    cores: int, workers: int, threads: int
) -> None:
    slots = list(slots_of([node(1, cpus=cores)], Settings(workers=workers)))
    assert [slot.raster_threads for slot in slots] == [threads] * workers


@pytest.mark.parametrize(("cpus", "gpus", "starts"), [(2, 0, 2), (0.5, 0, 1), (16, 2, 16), (0, 2, 2)])
def test_as_many_workers_of_a_node_start_at_once_as_it_has_cores(cpus: float, gpus: float, starts: int) -> None:
    slots = list(slots_of([node(1, cpus=cpus, gpus=gpus)], Settings(workers=64)))
    assert {slot.starts_max for slot in slots} == {starts}


def test_the_threads_of_a_worker_may_be_set() -> None:
    assert [slot.raster_threads for slot in slots_of([node(1)], Settings(workers=1, raster_threads=3))] == [3]


def test_dead_machines_have_no_workers_and_names_are_the_same_for_every_scheduler() -> None:
    nodes = [node(1, cpus=1), node(2, alive=False)]
    assert [slot.name for slot in slots_of(nodes, Settings())] == [slot.name for slot in slots_of(nodes, Settings())]
    assert len(list(slots_of(nodes, Settings()))) == 1


def test_a_fleet_grows_at_once_and_shrinks_after_a_while() -> None:
    growth = Growth(Settings(workers_max=100, workers_keep_seconds=300), workers=0, now=0)
    targets = []
    for now, open_tasks in ((0, 40), (299, 0), (301, 0), (302, 10_000)):
        growth.demand(open_tasks, now)
        targets.append(growth.target_workers)
    assert targets == [10, 10, 0, 100]


def test_a_fleet_keeps_as_many_workers_as_the_operator_wants() -> None:
    growth = Growth(Settings(workers_max=8, workers_min=2), workers=0, now=0)
    assert growth.target_workers == 2
    growth.demand(1, now=1)
    assert growth.target_workers == 2


def test_a_scheduler_that_has_just_started_lets_no_worker_go_at_once() -> None:
    growth = Growth(Settings(workers_max=8, workers_keep_seconds=300), workers=5, now=0)
    growth.demand(0, now=299)
    assert growth.target_workers == 5
    growth.demand(0, now=301)
    assert growth.target_workers == 0


def test_slots_with_a_worker_are_kept_when_there_are_too_many() -> None:
    slots = list(slots_of([node(number, cpus=1) for number in (1, 2, 3)], Settings()))
    names = [slot.name for slot in slots]
    assert [slot.name for slot in kept_slots(slots, 2, {names[2]})] == [names[2], names[0]]


@dataclass
class Part:
    """A message in another one."""

    name: str


def test_schedulers_share_no_workers_that_know_other_messages() -> None:
    """Values of a message of another release would arrive in wrong fields."""
    (name, *_) = (slot.name for slot in slots_of([node(1)], Settings()))
    assert messages.VERSION in name.split("-")
    longer = make_dataclass("Part", [("name", str), ("length", int)])
    versions = {
        messages.version_of(make_dataclass("Whole", members))
        for members in (
            [("part", Part)],
            [("part", Part | None)],
            [("parts", Sequence[Part])],
            [("parts", Sequence[longer])],  # type: ignore[valid-type]
        )
    }
    assert len(versions) == 4
