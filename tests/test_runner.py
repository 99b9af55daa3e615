"""One run, on loops that only say to have taken time; and the garbage collector's switch."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest

from ankerl_py.config import Config
from ankerl_py.core import runner
from ankerl_py.core.calibration import LoopMeter
from ankerl_py.core.runner import Run, collector
from ankerl_py.core.schedule import OVERFLOW, Schedule
from ankerl_py.core.untimed import NOTHING_UNTIMED
from ankerl_py.errors import ClockError
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import NO_OVERHEAD, Overhead, RawMeasurement
from ankerl_py.testing import FakeCounters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ankerl_py.results.result import Result


class FakeLoop:
    """A loop of iterations that say to take so many ns each; the op may raise in one of them."""

    kind = "fake"
    in_setup = False

    def __init__(
        self,
        cost_ns: float | Callable[[int], int],
        *,
        raise_at: int = 0,
        error: BaseException | None = None,
    ) -> None:
        self.runs: list[tuple[int, int]] = []
        self.started = 99
        self.prepared = 0
        self._cost_ns = cost_ns
        self._raise_at = raise_at
        self._error = error or ValueError("op")
        self._done = 0

    def run(self, iterations: int, signal_interval: int) -> int:
        self.runs.append((iterations, signal_interval))
        self.started = iterations
        if self._done < self._raise_at <= self._done + iterations:
            self.started = self._raise_at - self._done
            raise self._error
        self._done += iterations
        if callable(self._cost_ns):
            return self._cost_ns(iterations)
        return int(self._cost_ns * iterations)

    @property
    def iterations(self) -> list[int]:
        return [iterations for iterations, _ in self.runs]

    def empty_twin(self) -> FakeLoop:
        return FakeLoop(0)

    def prepare_traceback(self) -> None:
        self.prepared += 1


def run_of(
    loop: FakeLoop,
    config: Config | None = None,
    *,
    meter: LoopMeter | None = None,
    counters: FakeCounters | None = None,
    endless: bool = False,
) -> Run:
    config = config or Config()
    schedule = Schedule(config, 20, endless)
    return Run(config, loop, schedule, counters or FakeCounters(), meter)


EXACT = Config(name="exact", epochs=3, epoch_iterations=10)


def test_result_holds_what_was_measured() -> None:
    """Every epoch that the schedule wants is in the result, raw, with the config of the run."""
    times = iter([100, 200, 300])
    loop = FakeLoop(lambda n: next(times))
    result = run_of(loop, EXACT, counters=FakeCounters("pagefaults")).measure()
    assert result.config is EXACT
    assert result.raw == tuple(
        RawMeasurement(ns, 10, {Measure.PAGEFAULTS: 0}) for ns in (100, 200, 300)
    )
    assert (result.overhead, result.failure) == (NO_OVERHEAD, None)


@pytest.mark.parametrize(
    ("cost_ns", "interval"),
    [
        (0, 1000),
        (0.001, 1000),
        (1, 1000),
        (2000, 1000),
        (2001, 999),
        (20_000, 100),
        (10**6, 2),
        (2 * 10**6, 1),
        (10**10, 1),
    ],
)
def test_signals_are_looked_at_about_every_2_ms(cost_ns: float, interval: int) -> None:
    """Nothing is known before the first epoch; after it, the interval follows from its pace."""
    loop = FakeLoop(cost_ns)
    run_of(loop, EXACT).measure()
    assert [each for _, each in loop.runs] == [1, interval, interval]


def test_counters_run_around_each_epoch() -> None:
    """They count what happens in the loop, from zero in each epoch."""
    counters = FakeCounters("instructions")
    number = iter([5, 6, 7])

    def elapsed_ns(_: int) -> int:
        counters.count("instructions", next(number))
        return 100

    result = run_of(FakeLoop(elapsed_ns), EXACT, counters=counters).measure()
    counters.count("instructions", 100)
    assert result.values("instructions") == (0.5, 0.6, 0.7)
    assert counters.epochs == 3


def test_counters_stop_if_op_raises() -> None:
    """They never go on counting after a run that failed."""
    counters = FakeCounters("instructions")
    with pytest.raises(ValueError, match="op"):
        run_of(FakeLoop(1, raise_at=15), EXACT, counters=counters).measure()
    assert counters.epochs == 2
    counters.count("instructions")
    assert counters.read()[Measure.INSTRUCTIONS] == 0


class BrokenCounters(FakeCounters):
    def begin(self) -> None:
        raise OSError("no counters")


def test_counters_that_do_not_start_are_not_stopped() -> None:
    """Their exception comes out, and says that no iteration was begun."""
    counters = BrokenCounters()
    with pytest.raises(OSError, match="no counters") as caught:
        run_of(FakeLoop(1), EXACT, counters=counters).measure()
    assert counters.epochs == 0
    assert notes(caught.value) == note("exact", 0, 10, "epoch 1 of 3")


class FakeMeter(LoopMeter):
    """An overhead meter that keeps in mind when it was to sample."""

    def __init__(self) -> None:
        super().__init__(FakeLoop(0), 0.0)
        self.samples: list[int] = []

    def sample(self, iterations: int) -> None:
        self.samples.append(iterations)

    def overhead(self) -> Overhead:
        return Overhead(per_iteration_ns=float(len(self.samples)), kind="fake")


@pytest.mark.parametrize("warmup", [0, 5, 10**7])
@pytest.mark.parametrize("exact", [0, 100])
def test_overhead_is_sampled_after_each_recorded_epoch(warmup: int, exact: int) -> None:
    """It is measured beside the epochs that it is subtracted from, with as many iterations."""
    meter = FakeMeter()
    config = Config(epochs=4, warmup=warmup, epoch_iterations=exact)
    result = run_of(FakeLoop(50), config, meter=meter).measure()
    assert meter.samples == [raw.iterations for raw in result.raw]
    assert result.overhead == Overhead(per_iteration_ns=4.0, kind="fake")


def test_run_that_overflows_has_no_epochs() -> None:
    """An op that takes no time at all ends the search; the result says why and holds nothing."""
    loop = FakeLoop(0)
    result = run_of(loop, meter=FakeMeter()).measure()
    assert (result.failure, len(result), result.overhead) == (OVERFLOW, 0, NO_OVERHEAD)
    assert loop.iterations == [10**k for k in range(20)]


STANDSTILL = "the clock stands still, or shows less than is measured"


class Waiting(FakeLoop):
    """A loop that says to have taken less time than one really waited for it."""

    def __init__(self, waited_ns: Callable[[int], int], shown_ns: Callable[[int], int]) -> None:
        super().__init__(shown_ns)
        self.now_ns = 0
        self._waited_ns = waited_ns

    def run(self, iterations: int, signal_interval: int) -> int:
        self.now_ns += self._waited_ns(iterations)
        return super().run(iterations, signal_interval)

    def measure(self, config: Config | None = None) -> Result:
        config = config or Config()
        return Run(
            config,
            self,
            Schedule(config, 20),
            FakeCounters(),
            FakeMeter(),
            wall_ns=lambda: self.now_ns,
        ).measure()


def test_standing_clock_is_given_up() -> None:
    """A search ends as soon as twice one waited for long while the clock showed nothing."""
    loop = Waiting(lambda n: 15 * n, lambda n: 0)
    result = loop.measure()
    assert (result.failure, len(result), result.overhead) == (STANDSTILL, 0, NO_OVERHEAD)
    assert loop.iterations == [10**k for k in range(9)] + [10**8]
    loop = Waiting(lambda n: 10**9, lambda n: 999)
    assert (loop.measure().failure, loop.iterations) == (STANDSTILL, [1, 1])


def test_short_epochs_are_no_standstill() -> None:
    """Clocks show nothing of what is shorter than their steps."""
    loop = Waiting(lambda n: 200_000_000, lambda n: 0)
    assert loop.measure().failure == OVERFLOW
    loop = Waiting(lambda n: 200_000_001, lambda n: 0)
    assert loop.measure().failure == STANDSTILL


def test_clock_that_shows_little_is_no_standing_clock() -> None:
    """Sleeping takes little time of the processor, and is measured by its clock all the same."""
    loop = Waiting(lambda n: n * 10**9, lambda n: n * 1000)
    result = loop.measure()
    assert (result.failure, len(result)) == (None, 11)


def test_waiting_once_is_no_standstill() -> None:
    """If the thread was not given the processor for a while, only that epoch is done again."""
    waits = iter([10**9])
    loop = Waiting(lambda n: next(waits, 100), lambda n: 100 * n)
    result = loop.measure()
    assert (result.failure, len(result)) == (None, 11)
    assert loop.iterations[:3] == [1, 1, 10]


def test_exact_iterations_need_no_clock_that_moves() -> None:
    """There is an end without it; the times are what the clock showed."""
    loop = Waiting(lambda n: 10**9, lambda n: 0)
    result = loop.measure(EXACT)
    assert (result.failure, result.values("elapsed")) == (None, (0.0, 0.0, 0.0))
    assert loop.iterations == [10, 10, 10]


def test_time_of_a_setup_is_not_waited_for() -> None:
    """However long it takes to prepare an epoch, that says nothing about the clock."""
    loop = FakeLoop(10)
    now_ns = 0

    def setup() -> None:
        nonlocal now_ns
        now_ns += 10**9

    untimed = NOTHING_UNTIMED.with_setup(setup, "epoch")
    run = Run(
        Config(), loop, Schedule(Config(), 20), FakeCounters(), None, untimed=untimed,
        wall_ns=lambda: now_ns,
    )  # fmt: skip
    assert run.measure().failure is None
    assert loop.iterations[:3] == [1, 10, 100]


def test_clock_must_not_run_backwards() -> None:
    """There is no time below zero; the error says by how much, and where."""
    times = iter([5, 0, -3])
    with pytest.raises(ClockError) as caught:
        run_of(FakeLoop(lambda n: next(times)), EXACT).measure()
    assert str(caught.value) == (
        "the clock of 'exact' ran backwards by 3 ns during an epoch of 10 iterations"
    )


def test_clock_must_not_jump_out_of_range() -> None:
    """What does not fit in 63 bits is no time, 292 years being the most."""
    assert run_of(FakeLoop(lambda n: 2**63 - 1), EXACT).measure().raw[0].elapsed_ns == 2**63 - 1
    with pytest.raises(ClockError) as caught:
        run_of(FakeLoop(lambda n: 2**63), EXACT).measure()
    assert str(caught.value) == (
        f"the clock of 'exact' ran forwards by {2**63} ns during an epoch of 10 iterations"
    )


def notes(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", []))


def note(name: str, iteration: int, iterations: int, phase: str) -> list[str]:
    """What is expected to be noted; nothing before Python 3.11."""
    if not hasattr(BaseException, "add_note"):
        return []
    where = f"iteration {iteration} of {iterations} in {phase}"
    return [f"benchmark {name!r} was in {where}; nothing of it is stored"]


SEARCH = "the search for the number of iterations"


@pytest.mark.parametrize(
    ("settings", "number", "where"),
    [
        ({"epoch_iterations": 10}, 1, (1, 10, "epoch 1 of 11")),
        ({"epoch_iterations": 10}, 10, (10, 10, "epoch 1 of 11")),
        ({"epoch_iterations": 10}, 11, (1, 10, "epoch 2 of 11")),
        ({"epoch_iterations": 10}, 110, (10, 10, "epoch 11 of 11")),
        ({"epoch_iterations": 10, "warmup": 5}, 5, (5, 5, "the warmup")),
        ({"epoch_iterations": 10, "warmup": 5}, 6, (1, 10, "epoch 1 of 11")),
        ({}, 1, (1, 1, SEARCH)),
        ({}, 11, (10, 10, SEARCH)),
        ({"warmup": 1}, 3, (2, 10, SEARCH)),
        ({"min_epoch_iterations": 10**5}, 10**5, (10**5, 10**5, SEARCH)),
        ({"epochs": 2, "min_epoch_iterations": 10**5}, 10**5 + 7, (7, 102_410, "epoch 2 of 2")),
    ],
)
def test_note_tells_where_op_raised(
    settings: dict[str, Any], number: int, where: tuple[int, int, str]
) -> None:
    """The exception that comes out is op's own, with the benchmark, the epoch and the iteration."""
    error = ValueError("op")
    loop = FakeLoop(10, raise_at=number, error=error)
    with pytest.raises(ValueError, match="op") as caught:
        run_of(loop, Config(name="it's", **settings)).measure()
    assert caught.value is error
    assert notes(error) == note("it's", *where)
    assert loop.prepared == 1


def test_note_is_missing_where_exceptions_take_none() -> None:
    """An exception that refuses a note comes out all the same."""

    class Stubborn(Exception):
        def add_note(self, note: str, /) -> None:
            raise TypeError("no notes")

    with pytest.raises(Stubborn):
        run_of(FakeLoop(1, raise_at=1, error=Stubborn()), EXACT).measure()


def test_endless_run_grows_its_pieces_slowly() -> None:
    """It never ends by itself. Its pieces get longer up to a time, by at most twofold."""
    loop = FakeLoop(1, raise_at=1000)
    with pytest.raises(ValueError, match="op") as caught:
        run_of(loop, Config(name="x"), endless=True).measure()
    assert loop.iterations[0] == 1
    assert all(1 <= b <= 2 * a for a, b in zip(loop.iterations, loop.iterations[1:], strict=False))
    done = sum(loop.iterations[:-1])
    assert notes(caught.value) == note("x", 1000 - done, loop.iterations[-1], "the endless run")


def test_endless_run_has_at_least_one_iteration_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow op is, it goes on."""
    monkeypatch.setattr(runner, "ENDLESS_TIME_NS", 0)
    loop = FakeLoop(10**9, raise_at=10)
    with pytest.raises(ValueError, match="op"):
        run_of(loop, endless=True).measure()
    assert loop.iterations == [1] * 10


def test_many_epochs_take_time_in_proportion() -> None:
    """A hundred times as many epochs is no ten thousand times as much work."""
    config = Config(epochs=20_000, epoch_iterations=1)
    assert len(run_of(FakeLoop(100), config).measure()) == 20_000


# ---------------------------------------------------------------- the garbage collector


@pytest.fixture(autouse=True)
def _collector_is_on_afterwards() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("wish", [True, False])
@pytest.mark.parametrize("changed", [None, True, False])
@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt, StopIteration])
def test_collector_is_as_before_afterwards(
    before: bool, wish: bool, changed: bool | None, error: type[BaseException] | None
) -> None:
    """Whatever was wished, and whatever op did to it, and whether it raised."""
    (gc.enable if before else gc.disable)()
    with suppress(*[error] if error else []), collector(enabled=wish):
        assert gc.isenabled() == wish
        if changed is not None:
            (gc.enable if changed else gc.disable)()
        if error:
            raise error
    assert gc.isenabled() == before


def test_nested_wishes() -> None:
    """The inner one holds while it lasts, then the outer one again."""
    with collector(enabled=True):
        with collector(enabled=False):
            assert not gc.isenabled()
            with collector(enabled=False):
                pass
            assert not gc.isenabled()
        assert gc.isenabled()
    gc.disable()
    with collector(enabled=True), collector(enabled=False):
        pass
    assert not gc.isenabled()


def test_overlapping_wishes() -> None:
    """The newest of those that last holds; what was before the first comes back after the last."""
    gc.disable()
    first, second, third = ExitStack(), ExitStack(), ExitStack()
    first.enter_context(collector(enabled=True))
    second.enter_context(collector(enabled=False))
    assert not gc.isenabled()
    first.close()
    assert not gc.isenabled()
    third.enter_context(collector(enabled=True))
    assert gc.isenabled()
    second.close()
    assert gc.isenabled()
    third.close()
    assert not gc.isenabled()


def test_wishes_of_threads_that_overlap() -> None:
    """Two threads that measure at the same time leave the collector as it was before both."""
    both, first_ended = threading.Barrier(2, timeout=20), threading.Event()
    states: list[bool] = []

    def first() -> None:
        with collector(enabled=False):
            both.wait()
        first_ended.set()

    def second() -> None:
        with collector(enabled=False):
            both.wait()
            assert first_ended.wait(20)
            states.append(gc.isenabled())

    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (states, gc.isenabled()) == ([False], True)


def child_status(work: Callable[[], bool]) -> int:
    """Fork, have the child do something within bounded time, and give 0 if it was true."""
    with warnings.catch_warnings():
        # Python 3.12 and later warn because other threads are there, which is the point.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # a deadlock ends the child
        status = 1
        with suppress(BaseException):
            status = 0 if work() else 2
        os._exit(status)
    _, status = os.waitpid(pid, 0)
    return status


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_child_process_does_not_wait_for_threads_of_its_parent() -> None:
    """A lock that another thread held during a fork, and its wish, mean nothing in the child."""
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        with collector(enabled=False), runner._COLLECTOR._lock:
            locked.set()
            release.wait(20)

    def child() -> bool:
        if not gc.isenabled():  # the wish of a thread that is not there
            return False
        with collector(enabled=False):
            inside = gc.isenabled()
        return not inside and gc.isenabled()

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(20)
    try:
        assert child_status(child) == 0
    finally:
        release.set()
        thread.join(20)
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_child_process_goes_on_with_the_wish_of_its_own_thread() -> None:
    """An op that forks is in the middle of a run, in the child as well."""

    def child() -> bool:
        with collector(enabled=True):
            inside = gc.isenabled()
        return inside and not gc.isenabled()

    with collector(enabled=False):
        assert child_status(child) == 0
        assert not gc.isenabled()
    assert gc.isenabled()


def test_interruption_while_switching(monkeypatch: pytest.MonkeyPatch) -> None:
    """If Ctrl-C comes before or after the switch was turned, all is as before."""
    begin = runner._COLLECTOR.begin

    def interrupt_before(wish: Any) -> None:
        raise KeyboardInterrupt

    def interrupt_after(wish: Any) -> None:
        begin(wish)
        raise KeyboardInterrupt

    for interrupt in (interrupt_before, interrupt_after):
        monkeypatch.setattr(runner._COLLECTOR, "begin", interrupt)
        with pytest.raises(KeyboardInterrupt), collector(enabled=False):
            pass
        assert gc.isenabled()


def test_signal_handler_may_measure_too() -> None:
    """A signal may come while the switch is being turned; the handler's run does not wait."""
    with runner._COLLECTOR._lock, collector(enabled=False):
        assert not gc.isenabled()
    assert gc.isenabled()
