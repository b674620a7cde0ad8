"""Hostile accounts on a farm of several schedulers: the real schedulers, a real Postgres, simulated time."""

from __future__ import annotations

import pytest

from benchmarks.isolation import attacks
from benchmarks.runner.quantile import quantile
from benchmarks.service.stores import own_postgres
from benchmarks.simulation.attacked import Attack, AttackedFarm, Waits, attacked
from benchmarks.simulation.frames import Drawing

SLOW = Attack("slow frames", 1, Drawing(25.0), jobs=6)
MANY = Attack("slow frames", 20, Drawing(25.0), jobs=4, is_proven=True)


def waits_of(scenario: AttackedFarm) -> Waits:
    with own_postgres(durable=False) as (server, folder):
        return attacked(scenario, server, folder)


@pytest.mark.service
@pytest.mark.thorough
def test_twenty_hostile_accounts_delay_title_cards_for_seconds() -> None:
    """Without isolation, title cards wait for 48 s at p99, and those of new accounts for 87 s."""
    waits = waits_of(AttackedFarm(8, 2, MANY, seconds=30))
    assert quantile(waits.proven, 0.5) < 2
    assert quantile(waits.proven, 1.0) < 8
    assert quantile(waits.new, 1.0) < 60


@pytest.mark.service
@pytest.mark.thorough
def test_a_new_scheduler_knows_the_accounts_that_are_slow() -> None:
    """Otherwise each slow account costs another restart of a worker."""
    waits = waits_of(AttackedFarm(8, 1, SLOW, seconds=60, restart_scheduler_at=30))
    late = waits.proven[len(waits.proven) // 2 + 8 :]
    assert quantile(late, 1.0) < 8


@pytest.mark.service
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", range(len(attacks(64))))
def test_honest_accounts_are_served_during_each_attack(number: int) -> None:
    waits = waits_of(AttackedFarm(64, 4, attacks(64)[number], seconds=60))
    assert quantile(waits.proven, 0.5) < 4
    assert quantile(waits.proven, 1.0) < 30
