"""The paired experiment: calibration, rounds, order, overhead, limits; in virtual time."""

from __future__ import annotations

import traceback
from collections import Counter
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.backends.counters import NoCounters
from ankerl_py.config import Config
from ankerl_py.core import pairing as pairing_module
from ankerl_py.core.alternatives import (
    alternative_configs,
    cost_kind,
    named_ops,
    precision_of,
)
from ankerl_py.core.epochs import STANDSTILL
from ankerl_py.core.pairing import Alternative, Pairing, Precision
from ankerl_py.core.pairing_schedule import IterationSearch, common_iterations, num_rounds
from ankerl_py.core.schedule import OVERFLOW, target_epoch_ns
from ankerl_py.core.untimed import Untimed
from ankerl_py.errors import ClockError, ConfigError, ConfigTypeError, OpError
from ankerl_py.renderers.comparison import CompareResult
from ankerl_py.results.comparison import Comparison
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import NO_OVERHEAD, Overhead
from ankerl_py.rng import Rng
from ankerl_py.testing import FakeCounters
from support import check_case, config_from_set, load_cases

RESOLUTION_NS = 20.0


class VirtualLoop:
    """A loop whose time is a model's, as in the vectors (README 6 and 9)."""

    kind = "virtual"
    started = 0
    in_setup = False

    def __init__(self, cost_ps, overhead_ns=0, tick_ns=1, log=None):
        self.calls = []
        self._cost_ps = [int(cost) for cost in cost_ps]
        self._overhead_ns, self._tick_ns = int(overhead_ns), int(tick_ns)
        self._log = [] if log is None else log

    def run(self, iterations, signal_interval):
        cost_ps = self._cost_ps[len(self.calls) % len(self._cost_ps)]
        elapsed_ns = iterations * cost_ps // 1000 + self._overhead_ns
        elapsed_ns = min(elapsed_ns // self._tick_ns * self._tick_ns, 4 * 10**17)
        self.calls.append((iterations, elapsed_ns))
        self._log.append(self)
        return elapsed_ns

    def prepare_traceback(self):
        pass


def pairing(loops, config=None, meters=None, counters=None, **options):
    config = config or Config()
    alternatives = [
        Alternative(config.replace(name=f"op {i}"), loop, loop.kind) for i, loop in enumerate(loops)
    ]
    counters = counters or NoCounters("tests have none")
    return Pairing(alternatives, RESOLUTION_NS, counters, meters or {}, Rng(1), **options)


# ---------------------------------------------------------------- recorded cases


def replay(case):
    """Do a recorded comparison; its calibration ends with the first round."""
    config = config_from_set(case["in"]["set"])
    ops = case["in"]["ops"]
    loops = [VirtualLoop(**op["model"]) for op in ops]
    alternatives = [
        Alternative(config.replace(name=op["name"]), loop, "virtual")
        for op, loop in zip(ops, loops, strict=True)
    ]
    experiment = Pairing(alternatives, RESOLUTION_NS, NoCounters(""), {}, Rng(1))
    compared = CompareResult.of(experiment.measure())
    iterations = {raw.iterations for result in compared.results for raw in result.raw}
    calls = [list(loop.calls) for loop in loops]
    if case["in"]["kind"] == "calibrate":
        calls = [made[: len(made) - compared.rounds] for made in calls]
    return config, compared, iterations, calls


def compared_as_recorded(compared):
    """A comparison with the fields of the vectors; figures that differ in the last bit agree."""
    entries = compared.entries

    def close(value):
        return value if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)

    return {
        "size": len(entries),
        "rounds": compared.rounds,
        "comparisons": compared.num_comparisons,
        "fastest": entries.index(compared.fastest),
        "entries": [
            {
                "name": entry.name,
                "median_elapsed": pytest.approx(entry.result.median("elapsed"), rel=1e-12),
                "relative": close(entry.ratio.value),
                "relative_low": close(entry.ratio.low),
                "relative_high": close(entry.ratio.high),
                "tied_rounds": entry.ratio.tied_rounds,
                "is_significant": False if i == 0 else entry.is_significant,
            }
            for i, entry in enumerate(entries)
        ],
        "text": compared.text,
    }


@pytest.mark.parametrize("case", load_cases("compare", "calibrate", "full"))
def test_comparisons_are_those_of_nanobench(case):
    """The same numbers of iterations, calls and rounds, the same figures and text."""
    if case["id"] == "cmp-098-full-two-epochs-0":
        with pytest.raises(ConfigError):
            replay(case)
        return
    config, compared, iterations, calls = replay(case)
    out = case["out"]
    actual = {
        "target_ns": str(target_epoch_ns(config, RESOLUTION_NS)),
        "iterations": [str(n) for n in iterations],
        "calls": [
            {"n": [str(n) for n, _ in made], "elapsed_ns": [str(ns) for _, ns in made]}
            for made in calls
        ],
    }
    expected = {key: out[key] for key in actual} | {"iterations": [out["iterations"]]}
    if "compare" in out:
        actual["compare"] = compared_as_recorded(compared)
        expected["compare"] = out["compare"]
    check_case("compare", case, actual, expected)


def test_overflow_is_noticed():
    """An op that takes no time fails as in a run; the others go on, and say that they are alone."""
    compared = CompareResult.of(pairing([VirtualLoop([0]), VirtualLoop([10_000])]).measure())
    assert [entry.result.failure for entry in compared] == [OVERFLOW, None]
    assert [len(entry.result) for entry in compared] == [0, 11]
    assert compared.baseline is compared.fastest is compared.entries[1]
    assert "`op 1` is alone: there is nothing to compare it with\n" in compared.summary
    assert ":boom: `op 0` (iterations overflow." in compared.text
    nothing = CompareResult.of(pairing([VirtualLoop([0])] * 2).measure())
    assert (nothing.baseline, nothing.fastest, nothing.rounds) == (None, None, 0)
    assert nothing.summary == "nothing could be measured\n"
    three = [VirtualLoop([5_000]), VirtualLoop([0]), VirtualLoop([10_000])]
    compared = CompareResult.of(pairing(three).measure())
    assert [entry.relative for entry in compared] == [1.0, None, pytest.approx(0.5)]
    assert compared.summary.startswith("`op 0` is fastest of 2, 2.00x ahead of `op 2`\n")


# ---------------------------------------------------------------- iterations and rounds


@given(
    st.integers(0, 10**9),
    st.integers(1, 10**6),
    st.lists(st.integers(0, 10**10), min_size=1, max_size=20),
)
def test_search_ends_with_an_epoch_long_enough_twice(target_ns, minimum, costs):
    """It never goes below the minimum, and each step is by a factor of 1.5 to 10."""
    search = IterationSearch(target_ns, minimum)
    taken = []
    step = 0
    while search.iterations:
        elapsed_ns = search.iterations * costs[step % len(costs)] // 1000
        taken.append((search.iterations, elapsed_ns))
        search.add(elapsed_ns)
        step += 1
        if step > 200:  # costs may become smaller and smaller
            break
    numbers = [n for n, _ in taken]
    assert numbers[0] == minimum
    assert all(b == a or 1.5 * a <= b <= 10.001 * a + 2 for a, b in pairwise(numbers))
    if search.found:
        (first, first_ns), (second, second_ns) = taken[-2:]
        assert first == second == search.found
        assert min(first_ns, second_ns) == search.shortest_ns >= target_ns
    if search.failure:
        assert (search.failure, search.found) == (OVERFLOW, 0)
        assert numbers[-1] * 10 > 2**63


def test_search_is_not_fooled_by_one_slow_epoch():
    """An interrupted epoch is long enough; the next one with as many iterations is not."""
    search = IterationSearch(1_000_000, 1)
    search.add(5_000_000)
    assert search.iterations == 1
    search.add(100)
    assert search.iterations == 11


def searched(found, shortest_ns):
    search = IterationSearch(1, 1)
    search.settle(found, shortest_ns)
    return search


@pytest.mark.parametrize(
    ("searches", "settings", "expected"),
    [
        # The slowest decides: 1 ms of it are enough of the others for the clock.
        ([(100_000, 1_000_000), (20_000, 1_000_000)], {}, 20_000),
        # The fastest needs 20 us for the clock: 1000 times its resolution.
        ([(1_000_000, 1_000_000), (1, 1_000_000)], {}, 100),
        ([(1_000_000, 1_000_000), (1, 1_000_000)], {"max_epoch_time_ns": 10**10}, 10_000),
        ([(1_000_000, 1_000_000), (1, 1_000_000)], {"max_epoch_time_ns": 20 * 10**9}, 20_000),
        ([(3, 1), (1, 1_000_000)], {"clock_resolution_multiple": 1}, 60),
        ([(1_000_000, 0), (7, 1_000_000)], {}, 700),
        ([(1_000_000, 1), (7, 1_000_000)], {"max_epoch_time_ns": 1_000_000}, 7),
        ([(5, 1), (7, 1)], {"min_epoch_time_ns": 0, "max_epoch_time_ns": 0}, 5),
    ],
)
def test_common_number_of_iterations(searches, settings, expected):
    """Enough for the slowest, more if the fastest needs it, but within the maximum time."""
    config = Config().replace(**settings)
    found = [searched(*each) for each in searches]
    assert common_iterations(found, config, RESOLUTION_NS) == expected


@pytest.mark.parametrize(
    ("epochs", "alternatives", "rounds"),
    [
        (1, 2, 6),
        (11, 2, 12),
        (12, 2, 12),
        (13, 2, 14),
        (1, 3, 9),
        (1, 4, 8),
        (1, 10, 10),
        (21, 10, 30),
    ],
)
def test_number_of_rounds(epochs, alternatives, rounds):
    """As many as epochs, whole blocks, and enough for an interval."""
    assert num_rounds(Config(epochs=epochs), alternatives) == rounds


# ---------------------------------------------------------------- order


def played(size, blocks, seed=1):
    """The order in which alternatives had their epochs, round by round."""
    log = []
    loops = [VirtualLoop([1000], log=log) for _ in range(size)]
    config = Config(epochs=size * blocks, epoch_iterations=7)
    alternatives = [Alternative(config.replace(name=str(i)), x, 0) for i, x in enumerate(loops)]
    Pairing(alternatives, RESOLUTION_NS, NoCounters(""), {}, Rng(seed)).measure()
    places = [loops.index(loop) for loop in log]
    return [places[i : i + size] for i in range(0, len(places), size)]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_blocks_are_latin_squares(size):
    """In each block of rounds, each alternative is once at each place, with one epoch a round."""
    rounds = played(size, 10)
    for start in range(0, len(rounds), size):
        block = rounds[start : start + size]
        assert all(sorted(row) == list(range(size)) for row in block)
        assert all(sorted(column) == list(range(size)) for column in zip(*block, strict=True))


def test_blocks_begin_anew():
    """The order is drawn for each block, so all orders come up, and depends on the generator."""
    firsts = Counter(tuple(row) for row in played(3, 200)[::3])
    assert len(firsts) == 6
    assert min(firsts.values()) > 15
    assert played(3, 5, seed=1) == played(3, 5, seed=1) != played(3, 5, seed=2)


# ---------------------------------------------------------------- overhead and counters


class VirtualMeter:
    """A meter that says what it is told, and remembers when it was asked to measure."""

    def __init__(self, overhead, log):
        self._overhead = overhead
        self._log = log

    def sample(self, iterations):
        self._log.append(iterations)

    def overhead(self):
        return self._overhead


def test_overhead_is_shared_by_kind():
    """Alternatives of one kind have the same overhead; it is measured after each whole round."""
    log = []
    loops = [VirtualLoop([cost], log=log) for cost in (30_000, 40_000, 50_000)]
    loops[2].kind = "other"
    overheads = {
        kind: Overhead(0, cost, 0.1, kind) for kind, cost in (("virtual", 10), ("other", 5))
    }
    meters = {kind: VirtualMeter(overhead, log) for kind, overhead in overheads.items()}
    results = pairing(loops, Config(epoch_iterations=9), meters).measure()
    assert [result.overhead for result in results] == [
        overheads["virtual"],
        overheads["virtual"],
        overheads["other"],
    ]
    kinds = [type(entry).__name__ for entry in log]
    assert kinds == (["VirtualLoop"] * 3 + ["int"] * 2) * 12
    assert {entry for entry in log if isinstance(entry, int)} == {9}
    compared = CompareResult.of(results)
    assert compared["op 1"].relative == pytest.approx(20 / 30)
    assert compared["op 1"].raw_ratio.value == pytest.approx(30 / 40)


def test_without_meters_nothing_is_subtracted():
    """Whoever switches the correction off gets raw times."""
    results = pairing([VirtualLoop([1000]), VirtualLoop([2000])]).measure()
    assert [result.overhead for result in results] == [NO_OVERHEAD, NO_OVERHEAD]


class CountingLoop(VirtualLoop):
    """A loop with so many instructions in each iteration."""

    def __init__(self, counters, instructions):
        super().__init__([20_000])
        self._counters, self._instructions = counters, instructions

    def run(self, iterations, signal_interval):
        self._counters.count("instructions", self._instructions * iterations)
        return super().run(iterations, signal_interval)


def test_counters_are_compared_round_by_round():
    """Times may be equal while instructions are not."""
    counters = FakeCounters("instructions")
    loops = [CountingLoop(counters, n) for n in (30, 20)]
    compared = CompareResult.of(pairing(loops, counters=counters).measure())
    assert compared["op 1"].relative == 1.0
    fewer = compared.ratios("instructions")[1]
    assert (fewer.value, fewer.low, fewer.high) == pytest.approx((1.5, 1.5, 1.5))
    assert fewer.is_significant
    assert compared.ratios("branchmisses")[1].value is None
    assert "ins/op" in compared.text


# ---------------------------------------------------------------- stopping


class Wall:
    """A clock of the wall that goes on by some time with each look."""

    def __init__(self, step_ns):
        self.now_ns, self._step_ns = 0, step_ns

    def __call__(self):
        self.now_ns += self._step_ns
        return self.now_ns


NOISY = [[20_000, 21_000, 19_000, 23_000, 18_500], [20_500, 19_800, 22_000]]


def test_adaptive_comparison_goes_on_until_it_is_exact_enough():
    """It stops with the first look at which the widest interval is narrow enough."""
    loops = [VirtualLoop(cost) for cost in NOISY]
    results = pairing(loops, wall_ns=Wall(1)).measure(Precision(10.0, 10**9))
    compared = CompareResult.of(results, anytime=True, until=10.0)
    assert 12 < compared.rounds < 500
    assert compared.rounds % 2 == 0
    assert compared.widest_percent < 10.0
    shorter = int((compared.rounds - 1) / 1.05) - 1
    cut = [
        type(result).from_measurements(result.config, result.raw[:shorter]) for result in results
    ]
    assert CompareResult.of(cut, anytime=True).widest_percent >= 10.0
    assert "10% wanted, reached: widest interval" in compared.summary


def test_intervals_are_looked_at_now_and_then(monkeypatch):
    """Each look takes time in proportion to the rounds, so there are 5 % more before the next."""
    looks = []

    class Counting(Comparison):
        @classmethod
        def of(cls, results, *, anytime):
            looks.append(len(results[0]))
            return Comparison.of(results, anytime=anytime)

    monkeypatch.setattr(pairing_module, "Comparison", Counting)
    pairing([VirtualLoop(c) for c in NOISY], wall_ns=Wall(100_000)).measure(
        Precision(1e-9, 100_000_000)
    )
    assert looks[-1] > 200
    assert len(looks) < 60
    assert all(b <= 1.05 * a + 2 for a, b in pairwise(looks))


class TimedLoop(VirtualLoop):
    """A loop that takes its time on the wall, too."""

    def __init__(self, cost_ps, wall, untimed_ns=0):
        super().__init__(cost_ps)
        self._wall, self._untimed_ns = wall, untimed_ns

    def run(self, iterations, signal_interval):
        elapsed_ns = super().run(iterations, signal_interval)
        self._wall.now_ns += elapsed_ns + iterations * self._untimed_ns
        return elapsed_ns


def test_adaptive_comparison_ends_in_time():
    """When the time is over it stops after the block, and says that it did not get there."""
    wall = Wall(0)
    loops = [TimedLoop(cost, wall) for cost in NOISY]
    results = pairing(loops, wall_ns=wall).measure(Precision(1e-9, 100_000_000))
    compared = CompareResult.of(results, anytime=True, until=1e-9)
    assert 100_000_000 <= wall.now_ns < 110_000_000
    assert 30 < compared.rounds < 50
    assert "1e-09% wanted, not reached in time: widest interval" in compared.summary
    few = pairing([VirtualLoop(c) for c in NOISY]).measure(Precision(1, 1))
    compared = CompareResult.of(few, anytime=True, until=1.0)
    assert compared.rounds == 12
    assert "1% wanted, not reached in time: an interval is missing" in compared.summary


def test_total_time_ends_a_comparison_without_looking():
    """`max_total_time` holds here, too: what is there after a block is what there is."""
    wall = Wall(0)
    config = Config(epochs=1000, epoch_iterations=1_000_000, max_total_time_ns=100_000_000)
    loops = [TimedLoop(cost, wall) for cost in NOISY]
    results = pairing(loops, config, wall_ns=wall).measure()
    assert {len(result) for result in results} == {4}
    assert all(result.stopped_early for result in results)
    assert "There was time for 4 of 1000 epochs" in CompareResult.of(results).text


def test_total_time_makes_epochs_shorter():
    """A number of iterations that is not fixed becomes so small that all rounds have time."""
    wall = Wall(0)
    loops = [TimedLoop(cost, wall) for cost in ([20_000], [10_000])]
    config = Config(epochs=12, max_total_time_ns=2_000_000)
    results = pairing(loops, config, wall_ns=wall).measure()
    # 12 rounds and 8 epochs of calibration, of 2 alternatives, in 2 ms.
    assert {raw.iterations for result in results for raw in result.raw} == {2500}
    assert {len(result) for result in results} == {12}
    assert wall.now_ns < 2_000_000
    assert all(result.stopped_early for result in results)
    assert "12 epochs of only ~2,500 iters" in CompareResult.of(results).text


def test_the_slowest_to_prepare_decides_if_time_is_limited():
    """The fastest op wants 200 iterations for the clock; there is time for 27 of the other one."""
    wall = Wall(0)
    loops = [TimedLoop([40_000_000], wall, 50_000), TimedLoop([100_000], wall)]
    config = Config(epochs=12, max_total_time_ns=100_000_000)
    results = pairing(loops, config, wall_ns=wall).measure()
    assert [each.calls[-1][0] for each in loops] == [27, 27]
    assert wall.now_ns < 100_000_000
    assert all(result.stopped_early for result in results)


def test_untimed_parts_have_a_budget():
    """A slow setup before each call makes epochs short rather than the comparison endless."""
    clock = Wall(0)

    class SlowSetup(VirtualLoop):
        def run(self, iterations, signal_interval):
            clock.now_ns += iterations * 10_000_000
            return super().run(iterations, signal_interval)

    loops = [SlowSetup([10_000]), SlowSetup([12_000])]
    untimed = Untimed(setup=lambda: None, setup_scope="iteration")
    results = pairing(loops, wall_ns=clock, untimed=untimed).measure()
    assert 0.5e9 < clock.now_ns < 2.5e9
    assert {raw.iterations for result in results for raw in result.raw} == {4}
    assert {len(result) for result in results} == {12}
    assert all(result.stopped_early for result in results)


def test_clock_that_stands_still_is_noticed():
    """Two epochs that take long and show nothing end the search; one may have had to wait."""
    clock = Wall(10**9)
    results = pairing([VirtualLoop([0]), VirtualLoop([10_000])], wall_ns=clock).measure()
    assert [result.failure for result in results] == [STANDSTILL, STANDSTILL]

    class Waiting(VirtualLoop):
        def run(self, iterations, signal_interval):
            clock.now_ns += 10**9 * (len(self.calls) == 2)
            return super().run(iterations, signal_interval)

    clock = Wall(0)
    results = pairing([Waiting([10_000]), Waiting([10_000])], wall_ns=clock).measure()
    assert [result.failure for result in results] == [None, None]


# ---------------------------------------------------------------- setup and exceptions


def test_setup_comes_before_each_epoch():
    """It is done before each epoch of each alternative, in the calibration, too."""
    log = []
    loops = [VirtualLoop([1000], log=log) for _ in range(2)]
    untimed = Untimed(setup=lambda: log.append("setup"))
    pairing(loops, Config(warmup=3), untimed=untimed).measure()
    assert log[::2] == ["setup"] * (len(log) // 2)
    assert {type(each) for each in log[1::2]} == {VirtualLoop}
    assert loops[0].calls[0][0] == loops[1].calls[0][0] == 3


class FailingLoop(VirtualLoop):
    """A loop whose op raises after a number of epochs."""

    def __init__(self, after):
        super().__init__([10_000])
        self._after = after
        self.shown = False

    def run(self, iterations, signal_interval):
        if len(self.calls) == self._after:
            self.started = 5
            raise ValueError("no")
        return super().run(iterations, signal_interval)

    def prepare_traceback(self):
        self.shown = True


@pytest.mark.parametrize(
    ("after", "where"),
    [(0, "3 in the warmup"), (1, "1 in the calibration"), (9, "100001 in round 2")],
)
def test_exceptions_say_where_it_was(after, where):
    """What an op raises reaches the caller, with a note where Python has notes."""
    loop = FailingLoop(after)
    with pytest.raises(ValueError, match="no") as caught:
        pairing([VirtualLoop([10_000]), loop], Config(warmup=3)).measure()
    assert loop.shown
    if hasattr(caught.value, "add_note"):
        expected = f"alternative 'op 1' was in iteration 5 of {where}; nothing of the comparison"
        assert expected in "".join(traceback.format_exception(caught.value))


def test_exceptions_of_a_setup_say_so():
    """It is not the op that raised."""
    untimed = Untimed(setup=lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        pairing([VirtualLoop([1])] * 2, untimed=untimed).measure()
    if hasattr(caught.value, "add_note"):
        assert "was in setup, not in the op itself, before iteration 1 of 1 in" in "".join(
            traceback.format_exception(caught.value)
        )


def test_counters_end_when_an_op_raises():
    """They do not go on counting what is none of theirs."""
    counters = FakeCounters("instructions")
    with pytest.raises(ValueError, match="no"):
        pairing([FailingLoop(0)] * 2, counters=counters).measure()
    assert counters.epochs == 1
    counters.count("instructions", 5)
    assert counters.read()[Measure.INSTRUCTIONS] == 0


@pytest.mark.parametrize(("cost", "what"), [(-1000, "backwards by 1"), (2**80, "forwards by ")])
def test_clock_that_cannot_be_is_an_error(cost, what, monkeypatch):
    """Times run forwards, and not for longer than 292 years."""
    loop = VirtualLoop([cost])
    monkeypatch.setattr(loop, "run", lambda n, interval: n * cost // 1000)
    with pytest.raises(ClockError, match=f"the clock of 'op 0' ran {what}"):
        pairing([loop, loop]).measure()


# ---------------------------------------------------------------- what is compared


def test_names_and_ops_in_turn_or_as_a_mapping():
    """Both ways mean the same."""
    assert list(named_ops(["a", len, "b", "x"]).items()) == [("a", len), ("b", "x")]
    assert named_ops([{"a": len, "b": "x"}]) == named_ops(["a", len, "b", "x"])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], OpError, "it takes two alternatives or more, not 0"),
        (["a", len], OpError, "it takes two alternatives or more, not 1"),
        ([{"a": len}], OpError, "it takes two alternatives or more, not 1"),
        ([len], OpError, "1 arguments are no pairs - give names and ops in turn"),
        (["a", len, "b"], OpError, "3 arguments are no pairs"),
        ([len, print], ConfigTypeError, "<built-in function len> stands where a name should"),
        ([{1: len, "b": len}], ConfigTypeError, "1 stands where a name should"),
        (["a", len, "a", len], ConfigError, "two alternatives with the name 'a'"),
    ],
)
def test_what_cannot_be_compared_is_refused(given, error, message):
    """The message says how it is done."""
    with pytest.raises(error, match=message):
        named_ops(given)


def test_unit_and_batch_of_each_alternative():
    """One for all, or a mapping that leaves out those that keep their settings."""
    config = Config(unit="op", batch=2)
    made = alternative_configs(config, ["a", "b"], "byte", {"b": 8})
    assert [(c.name, c.unit, c.batch) for c in made] == [("a", "byte", 2.0), ("b", "byte", 8.0)]
    made = alternative_configs(config, ["a", "b"], {"a": "row"}, 5)
    assert [(c.name, c.unit, c.batch) for c in made] == [("a", "row", 5.0), ("b", "op", 5.0)]
    assert alternative_configs(config, ["a"]) == [config.replace(name="a")]


@pytest.mark.parametrize(
    ("unit", "batch", "error", "message"),
    [
        ({"c": "x"}, None, ConfigError, "unit: 'c' is no alternative - they are 'a', 'b'"),
        (None, {"a": 0}, ConfigError, "batch: 0"),
        (None, "many", ConfigTypeError, "batch: 'many'"),
        ("", None, ConfigError, "unit: ''"),
    ],
)
def test_units_and_batches_are_checked(unit, batch, error, message):
    """As by the setters."""
    with pytest.raises(error, match=message):
        alternative_configs(Config(), ["a", "b"], unit, batch)


def test_precision():
    """A number of percent, and a duration as everywhere."""
    assert precision_of(None, 10.0) is None
    assert precision_of(1, "2s") == Precision(1.0, 2_000_000_000)
    for until, error in ((0, ConfigError), (float("nan"), ConfigError), (-1.0, ConfigError)):
        with pytest.raises(error, match=r"until: .* is no width in percent"):
            precision_of(until, 1.0)
    for until in (True, "1%", [1]):
        with pytest.raises(ConfigTypeError, match=r"until: .* is no number of percent"):
            precision_of(until, 1.0)
    with pytest.raises(ConfigError, match="time_budget"):
        precision_of(1.0, -1)


def test_kinds_that_cost_the_same():
    """Ops whose empty twins are the same share one overhead; others do not."""
    free = 1

    class Op:
        def method(self):
            pass

        def __call__(self, extra=0):
            pass

    same = [
        (lambda: 1, lambda: 2),
        (lambda x=1: x, lambda y=2: y),
        (lambda: free, lambda: (free, 1)),
        (Op().method, Op().method),
        (Op(), Op()),
        (len, print),
        ("x", "y"),
        (partial(len, "x"), partial(len, "abc")),
    ]
    loop = VirtualLoop([1])
    kinds = [{cost_kind(op, loop) for op in pair} for pair in same]
    assert [len(kind) for kind in kinds] == [1] * len(same)
    different = [
        lambda: 1,
        lambda x=1: x,
        lambda x=1, y=2: x,
        lambda *x: x,
        lambda *, x=1: x,
        lambda: free,
        partial(lambda: 1),
        partial(lambda x: x, 1),
    ]
    assert len({cost_kind(op, loop) for op in different}) == len(different)
    other = VirtualLoop([1])
    other.kind = "other"
    assert cost_kind("x", loop) != cost_kind("x", other)
