from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from farm_core.jobs.plan import TaskKind
from scheduler.placement import TAIL_TASKS_MAX, AccountLoad, FreeWorker, PlaceableJob, PlaceableTask, place_tasks

GPU, CPU = "gl:gpu", "gl:cpu"


def job(
    name: str,
    account: str = "a",
    segments: int = 3,
    *,
    leased_frames: int = 0,
    waited_seconds: float = 0,
    renderer: str | None = None,
    avoid: str | None = None,
    assembly: bool = False,
) -> PlaceableJob:
    kind = TaskKind.assemble if assembly else TaskKind.render
    heads = tuple(PlaceableTask(f"{name}.{index}", kind, 30, avoid) for index in range(1 if assembly else segments))
    place = -1e12 if assembly else segments - waited_seconds
    return PlaceableJob(name, account, place, renderer, leased_frames, heads)


def workers(count: int, renderer: str = CPU, room: int = 1) -> list[FreeWorker]:
    return [FreeWorker(f"{renderer}-{index}", renderer, room) for index in range(count)]


def busy(count: int, room: int = 1, load: int = 1) -> list[FreeWorker]:
    return [FreeWorker(f"{CPU}-{index}", CPU, room, load) for index in range(count)]


def chosen(
    jobs: list[PlaceableJob], free: list[FreeWorker], accounts: Mapping[str, AccountLoad] | None = None
) -> list[str]:
    return [placement.task_id for placement in place_tasks(jobs, free, accounts)]


def test_accounts_take_turns_whatever_the_length_of_their_jobs() -> None:
    assert chosen([job("long", "a", 100), job("other", "b", 100)], workers(4)) == [
        "long.0",
        "other.0",
        "long.1",
        "other.1",
    ]


def test_an_account_with_much_in_flight_waits_for_the_others() -> None:
    assert chosen([job("busy", "a", leased_frames=60), job("new", "b")], workers(2)) == ["new.0", "new.1"]


def test_of_equal_accounts_the_one_with_the_most_urgent_job_goes_first() -> None:
    jobs = [job("long", "a", 9), job("short", "b", 2), job("longer", "b", 10)]
    assert chosen(jobs, workers(1)) == ["short.0", "long.0"]


def test_a_short_job_overtakes_a_long_one() -> None:
    assert chosen([job("long", segments=100), job("short", segments=1)], workers(2)) == ["short.0", "long.0"]


def test_a_long_job_that_has_waited_is_not_starved_by_short_ones() -> None:
    old = job("long", segments=100, waited_seconds=101)
    assert chosen([old, job("short", segments=1)], workers(1)) == ["long.0"]


def test_the_assembly_of_a_job_that_is_nearly_done_comes_first() -> None:
    assert chosen([job("short", segments=1), job("done", segments=100, assembly=True)], workers(1)) == ["done.0"]


def test_a_task_goes_elsewhere_than_to_the_worker_that_failed_it() -> None:
    made = place_tasks([job("poison", segments=1, avoid=f"{CPU}-0")], workers(2))
    assert [placement.worker_id for placement in made] == [f"{CPU}-1"]


def test_the_only_worker_gets_even_a_task_it_has_failed() -> None:
    assert chosen([job("poison", segments=1, avoid=f"{CPU}-0")], workers(1)) == ["poison.0"]


def test_segments_of_one_job_never_mix_renderers() -> None:
    made = place_tasks([job("new", segments=4)], [*workers(2, CPU), *workers(2, GPU)])
    assert len({placement.renderer for placement in made}) == 1
    assert [placement.is_first for placement in made] == [True, True]
    assert [one.is_first for one in place_tasks([job("begun", renderer=CPU)], workers(1))] == [False]


def test_a_job_begun_on_one_renderer_waits_for_it() -> None:
    assert chosen([job("begun", renderer=GPU)], workers(3, CPU)) == []


def test_a_worker_gets_no_more_than_it_has_room_for_and_idle_ones_are_filled_first() -> None:
    made = place_tasks([job("one", segments=9)], workers(2, room=2))
    assert [placement.worker_id for placement in made] == [f"{CPU}-0", f"{CPU}-1", f"{CPU}-0", f"{CPU}-1"]


def test_the_last_tasks_of_a_queue_wait_for_a_worker_that_is_idle() -> None:
    under_way = job("one", segments=2, leased_frames=60)
    assert chosen([under_way], busy(2)) == []
    assert chosen([under_way], [*busy(2), FreeWorker(f"{CPU}-2", CPU, 2)]) == ["one.0"]


def test_a_long_queue_gives_busy_workers_their_next_task_in_advance() -> None:
    assert chosen([job("one", segments=9, leased_frames=60)], busy(2)) == ["one.0", "one.1"]


def test_tasks_are_given_in_advance_until_as_many_wait_as_there_are_workers() -> None:
    assert chosen([job("one", segments=5, leased_frames=60)], workers(2, room=3)) == ["one.0", "one.1", "one.2"]


def test_no_more_than_the_last_tasks_of_a_long_queue_wait_for_an_idle_worker_however_many_workers_there_are() -> None:
    waiting = TAIL_TASKS_MAX + 8
    assert len(chosen([job("one", segments=waiting, leased_frames=60)], busy(waiting))) == 8


def test_each_step_of_priority_doubles_the_share_of_an_account() -> None:
    jobs = [job("urgent", "a", 100), job("usual", "b", 100)]
    made = chosen(jobs, workers(30), {"a": AccountLoad(priority=1)})
    assert sum(task.startswith("urgent") for task in made) == 20


def test_the_load_of_an_account_counts_in_place_of_that_of_its_jobs_shown() -> None:
    jobs = [job("part", "a", leased_frames=60), job("other", "b", leased_frames=90)]
    assert chosen(jobs, workers(1), {"a": AccountLoad(leased_frames=120)}) == ["other.0"]
    assert chosen(jobs, workers(1), {"a": AccountLoad(leased_frames=60)}) == ["part.0"]


def test_full_workers_take_one_task_of_each_account_that_has_nothing_running() -> None:
    jobs = [job("running", "a", leased_frames=60), job("new", "b"), job("newer", "c", 5)]
    assert chosen(jobs, busy(2, room=0, load=2)) == ["new.0", "newer.0"]
    assert chosen([job("running", "a", 9, leased_frames=60)], busy(2, room=0, load=2)) == []


class Trust(Enum):
    """Trusts of accounts."""

    more = 1
    less = 2


BOTH = frozenset({Trust.more, Trust.less})


def trusted(**loads: Trust) -> dict[str, AccountLoad]:
    return {account: AccountLoad(trust=trust) for account, trust in loads.items()}


def test_accounts_take_turns_on_the_workers_that_are_open_to_them() -> None:
    free = [FreeWorker(f"w{number}", CPU, 1, 0, BOTH if number > 1 else frozenset({Trust.more})) for number in range(4)]
    made = place_tasks([job("one", "a"), job("two", "b")], free, trusted(a=Trust.less, b=Trust.more))
    assert [(placed.task_id, placed.worker_id) for placed in made] == [
        ("one.0", "w2"),
        ("two.0", "w0"),  # not the last one that is open to the other account
        ("one.1", "w3"),
        ("two.1", "w1"),
    ]


def test_blocked_workers_get_tasks_last() -> None:
    free = [FreeWorker("w0", CPU, 2, 0, BOTH, is_blocked=True), FreeWorker("w1", CPU, 2, 1, BOTH)]
    made = place_tasks([job("one", "a", segments=9)], free, trusted(a=Trust.more))
    assert [placed.worker_id for placed in made] == ["w1", "w1", "w0", "w0"]


def test_a_failed_task_goes_to_another_worker_even_if_that_one_is_open_to_more_accounts() -> None:
    free = [FreeWorker("w0", CPU, 1, 0, frozenset({Trust.more})), FreeWorker("w1", CPU, 1, 0, BOTH)]
    (made,) = place_tasks([job("one", segments=1, avoid="w0")], free, trusted(a=Trust.more))
    assert made.worker_id == "w1"
