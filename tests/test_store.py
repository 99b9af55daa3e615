"""The append-only store of results."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.config import Config
from ankerl_py.results.result import Result
from ankerl_py.results.store import ResultStore


def make(title: str = "t", unit: str = "op", name: str = "x", failed: bool = False) -> Result:
    config = Config(title=title, unit=unit, name=name)
    return Result.from_measurements(config, [], failure="overflow" if failed else None)


RESULTS = st.lists(
    st.builds(
        make,
        title=st.sampled_from("ab"),
        unit=st.sampled_from(["op", "byte"]),
        name=st.text("xyz", min_size=1, max_size=3),
        failed=st.booleans(),
    )
)


def test_a_new_store_is_empty() -> None:
    """There is nothing in a new store, and nothing to compare with."""
    store = ResultStore()

    assert len(store) == 0
    assert store.all == ()
    assert list(store) == []
    assert store.for_title("t") == ()
    assert store.baseline("t", "op") is None
    assert repr(store) == "<ResultStore: 0 results>"


@given(RESULTS)
def test_order_and_views(results: list[Result]) -> None:
    """Results stay in order, all together as well as those of one title."""
    store = ResultStore()
    for result in results:
        store.append(result)

    assert store.all == tuple(store) == tuple(results)
    assert len(store) == len(results)
    for title in "abc":
        assert store.for_title(title) == tuple(r for r in results if r.title == title)


@given(RESULTS, st.integers(0, 5))
def test_baseline(results: list[Result], asked_every: int) -> None:
    """The baseline is the first result of the same title and unit that did not overflow.

    It does not matter how often it was asked for before.
    """
    store = ResultStore(results[:1])
    for i, result in enumerate(results[1:]):
        store.append(result)
        if asked_every and i % asked_every == 0:
            store.baseline("a", "op")

    for title in "abc":
        for unit in ("op", "byte"):
            expected = next(
                (r for r in results if (r.title, r.unit, r.overflowed) == (title, unit, False)),
                None,
            )
            assert store.baseline(title, unit) is expected


def test_baseline_stays() -> None:
    """Later results do not replace a baseline, and one that comes late is found."""
    store = ResultStore()
    store.append(make(failed=True))
    assert store.baseline("t", "op") is None

    first = make(name="first")
    store.append(first)
    assert store.baseline("t", "op") is first

    store.append(make(name="second"))
    assert store.baseline("t", "op") is first


class CountingResults(list[Result]):
    """Counts how many results are looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def __getitem__(self, index: object) -> Result:  # type: ignore[override]
        self.looks += 1
        return super().__getitem__(index)  # type: ignore[call-overload,no-any-return]


def test_baseline_looks_once_at_each_result() -> None:
    """However often the baseline is asked for, each result is looked at once."""
    store = ResultStore()
    store._results = results = CountingResults()

    for _ in range(100):
        store.append(make())
        store.baseline("t", "op")
        store.baseline("t", "none")

    assert results.looks == 100


def test_iteration_is_a_snapshot() -> None:
    """Results that are stored while iterating are not seen."""
    store = ResultStore([make(), make()])

    iterator = iter(store)
    store.append(make())

    assert len(list(iterator)) == 2
    assert len(list(store)) == 3


def test_threads() -> None:
    """Several threads may append and read: nothing is lost, each thread's order is kept."""
    store = ResultStore()
    baselines: list[Result | None] = []
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        for i in range(500):
            store.append(make(title=f"t{number}", name=str(i)))
            baselines.append(store.baseline(f"t{number}", "op"))
            store.for_title("t0")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(store) == 2000
    for number in range(4):
        names = [result.name for result in store.for_title(f"t{number}")]
        assert names == [str(i) for i in range(500)]
    assert {result.name for result in baselines if result is not None} == {"0"}
    assert None not in baselines


class Interruption(list[Result]):
    """A thread or a signal comes in at the worst time: when a result is being looked at."""

    def __init__(self, store: ResultStore) -> None:
        self.store = store
        self.armed = True

    def __getitem__(self, index: object) -> Result:  # type: ignore[override]
        if self.armed and index == 1:
            self.armed = False
            # Another thread is faster, and is done with all results by now.
            self.store.baseline("t", "op")
        return super().__getitem__(index)  # type: ignore[call-overload,no-any-return]


def test_a_faster_thread_makes_no_difference() -> None:
    """Whoever looks first at the results, none is skipped, and the first one is the baseline."""
    store = ResultStore()
    store._results = Interruption(store)
    for name in ("first", "second", "third"):
        store.append(make(name=name))
        store.append(make(name=name, unit=name))

    baseline = store.baseline("t", "op")

    assert baseline is store.all[0]
    assert [store.baseline("t", unit) for unit in ("first", "second", "third")] == [
        store.all[1],
        store.all[3],
        store.all[5],
    ]

    late = make(name="late", unit="late")
    store.append(late)
    assert store.baseline("t", "late") is late


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_are_stores_of_their_own(duplicate: object) -> None:
    """A copy starts with the same results and then goes its own way."""
    store = ResultStore([make(name="a")])
    twin = duplicate(store)  # type: ignore[operator]
    twin.append(make(name="b"))

    assert store.all == twin.all[:1]
    assert (len(store), len(twin)) == (1, 2)
    assert twin.baseline("t", "op") == store.all[0]


def test_pickle() -> None:
    """A store can be pickled with its results."""
    store = ResultStore([make(name="a"), make(name="b")])

    assert pickle.loads(pickle.dumps(store)).all == store.all
