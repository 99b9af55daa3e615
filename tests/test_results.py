"""Measures, raw and corrected measurements, and results."""

from __future__ import annotations

import copy
import math
import pickle
import struct
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.config import Config
from ankerl_py.errors import UnknownContextError
from ankerl_py.results.measure import COUNTER_MEASURES, Measure
from ankerl_py.results.measurement import (
    NO_OVERHEAD,
    CorrectedMeasurement,
    EpochColumns,
    Overhead,
    RawMeasurement,
)
from ankerl_py.results.result import Result
from strategies import overheads, raw_measurements
from support import check_case, load_cases, number

COUNTER_NAMES = (
    "pagefaults, cpucycles, contextswitches, instructions, branchinstructions, branchmisses"
)
EPOCHS = st.lists(raw_measurements(), max_size=12)
STATISTICS = (
    "median",
    "average",
    "median_absolute_percent_error",
    "sum",
    "minimum",
    "maximum",
)
INSTRUCTIONS, BRANCHES, MISSES = (
    Measure.INSTRUCTIONS,
    Measure.BRANCHINSTRUCTIONS,
    Measure.BRANCHMISSES,
)


def raw_from_case(epoch: dict[str, Any]) -> RawMeasurement:
    counters = {Measure(key): int(value) for key, value in epoch.get("counters", {}).items()}
    return RawMeasurement(int(epoch["elapsed_ns"]), int(epoch["iterations"]), counters)


def make(*times: tuple[int, int], overhead: Overhead = NO_OVERHEAD, **settings: Any) -> Result:
    """A result of epochs given as (elapsed ns, iterations)."""
    return Result.from_measurements(
        Config(**settings), [RawMeasurement(ns, n) for ns, n in times], overhead
    )


# measures


@pytest.mark.parametrize("case", load_cases("statistics", "measureFromString"))
def test_measure_names_are_nanobenchs(case: dict[str, Any]) -> None:
    """Measures are found by exactly nanobench's names."""
    measure = Measure.parse(case["in"]["text"])

    actual = "unknown" if measure is None else str(measure)

    check_case("statistics", case, actual, case["out"]["measure"])


def test_measure_parse_takes_anything() -> None:
    """A measure is found by itself or its name; nothing else is one, whatever it is."""
    assert [Measure.parse(measure) for measure in Measure] == list(Measure)
    assert [Measure.parse(measure.value) for measure in Measure] == list(Measure)
    others: list[object] = [None, 1, [1], {}, b"elapsed"]
    assert [Measure.parse(other) for other in others] == [None] * 5


def test_measure_reads_as_its_name() -> None:
    """A measure prints as its name on every Python version, and its repr says what it is."""
    assert str(Measure.ELAPSED) == f"{Measure.ELAPSED}" == "elapsed"
    assert repr(Measure.ELAPSED) == "Measure.ELAPSED"


def test_counters_are_all_other_measures() -> None:
    """Everything but time and iterations comes from a counter."""
    assert {*COUNTER_MEASURES, Measure.ELAPSED, Measure.ITERATIONS} == set(Measure)
    assert len(COUNTER_MEASURES) == 6


# measurements


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((-1, 1), ValueError, "elapsed_ns: -1 is not from 0 to 9223372036854775807"),
        ((2**63, 1), ValueError, f"elapsed_ns: {2**63} is not from 0 to 9223372036854775807"),
        ((1, 0), ValueError, "iterations: 0 is not from 1 to 18446744073709551615"),
        ((1, 2**64), ValueError, f"iterations: {2**64} is not from 1 to 18446744073709551615"),
        ((1.0, 1), TypeError, "elapsed_ns: 1.0 is not a whole number (int)"),
        ((1, "1"), TypeError, "iterations: '1' is not a whole number (int)"),
        (
            (1, 1, {INSTRUCTIONS: -1}),
            ValueError,
            "instructions: -1 is not from 0 to 18446744073709551615",
        ),
        (
            (1, 1, {INSTRUCTIONS: 2**64}),
            ValueError,
            f"instructions: {2**64} is not from 0 to 18446744073709551615",
        ),
        (
            (1, 1, {Measure.ELAPSED: 1}),
            ValueError,
            f"counters: Measure.ELAPSED is not a counter - counters are {COUNTER_NAMES}",
        ),
        (
            (1, 1, {"ghosts": 1}),
            ValueError,
            f"counters: 'ghosts' is not a counter - counters are {COUNTER_NAMES}",
        ),
    ],
)
def test_raw_measurements_are_checked(
    arguments: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    """What no clock or counter can say is refused, with name, value and what is allowed."""
    with pytest.raises(error) as caught:
        RawMeasurement(*arguments)

    assert str(caught.value) == message


def test_raw_measurement_accepts_the_extremes() -> None:
    """Times have 63 bits, counts 64, and names of counters may be text."""
    raw = RawMeasurement(2**63 - 1, 2**64 - 1, {"branchmisses": 2**64 - 1})  # type: ignore[dict-item]

    assert raw.counters == {MISSES: 2**64 - 1}
    assert [type(key) for key in raw.counters] == [Measure]
    assert RawMeasurement(0, 1).counters == {}


def test_raw_measurement_does_not_change() -> None:
    """A measurement shares nothing with its maker that could change it."""
    counters = {INSTRUCTIONS: 5}
    raw = RawMeasurement(10, 1, counters)
    counters[INSTRUCTIONS] = 6

    assert raw.counters == {INSTRUCTIONS: 5}
    with pytest.raises(TypeError):
        raw.counters[INSTRUCTIONS] = 7  # type: ignore[index]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        raw.elapsed_ns = 11  # type: ignore[misc]


@given(raw_measurements())
def test_raw_measurement_is_a_value(raw: RawMeasurement) -> None:
    """Measurements are equal by value, and survive pickle and copy."""
    for same in (pickle.loads(pickle.dumps(raw)), copy.copy(raw), copy.deepcopy(raw)):
        assert same == raw
        assert hash(same) == hash(raw)
    assert raw != attrs.evolve(raw, elapsed_ns=raw.elapsed_ns ^ 1)


@given(raw_measurements(max_elapsed_ns=2**53), overheads())
def test_correction_can_be_undone(raw: RawMeasurement, overhead: Overhead) -> None:
    """What was subtracted and what is left are the raw time again, exactly; neither is negative."""
    corrected = overhead.correct(raw)

    assert corrected.elapsed_ns + corrected.subtracted_ns == raw.elapsed_ns
    assert corrected.elapsed_ns >= 0.0
    assert corrected.subtracted_ns >= 0.0
    assert corrected.iterations == raw.iterations


@given(raw_measurements(max_elapsed_ns=2**53), overheads())
def test_correction_subtracts_the_overhead(raw: RawMeasurement, overhead: Overhead) -> None:
    """The fixed cost once and the cost per iteration are subtracted, as far as there is time."""
    cost_ns = overhead.fixed_ns + overhead.per_iteration_ns * raw.iterations

    assert overhead.correct(raw).subtracted_ns == pytest.approx(
        min(cost_ns, raw.elapsed_ns), rel=1e-12, abs=math.ulp(float(raw.elapsed_ns))
    )


def test_correction_saturates() -> None:
    """A time shorter than the overhead becomes 0, and no more than it is subtracted."""
    overhead = Overhead(fixed_ns=20.0, per_iteration_ns=1.5)

    assert overhead.correct(RawMeasurement(100, 10)) == CorrectedMeasurement(65.0, 10, 35.0)
    assert overhead.correct(RawMeasurement(30, 10)) == CorrectedMeasurement(0.0, 10, 30.0)
    assert overhead.correct(RawMeasurement(0, 10)) == CorrectedMeasurement(0.0, 10, 0.0)
    assert overhead.correct(RawMeasurement(2**63 - 1, 2**64 - 1)).elapsed_ns == 0.0


@given(raw_measurements())
def test_no_overhead_changes_nothing(raw: RawMeasurement) -> None:
    """Without overhead the corrected time is the raw one."""
    expected = CorrectedMeasurement(float(raw.elapsed_ns), raw.iterations, 0.0)

    assert NO_OVERHEAD.correct(raw) == expected


@pytest.mark.parametrize("field", ["fixed_ns", "per_iteration_ns", "uncertainty_ns"])
@pytest.mark.parametrize("value", [-0.1, math.inf, math.nan])
def test_overheads_are_checked(field: str, value: float) -> None:
    """A cost that is negative, infinite or NaN is refused and named."""
    with pytest.raises(ValueError, match=rf"{field}: {value} is not a finite number >= 0"):
        Overhead(**{field: value})  # type: ignore[arg-type]


def test_overhead_is_nothing_by_default() -> None:
    """The default costs are zero, of the kind "none"."""
    assert Overhead() == NO_OVERHEAD == Overhead(0.0, 0.0, 0.0, "none")


# compact storage


@given(EPOCHS)
def test_columns_give_back_what_was_stored(raws: list[RawMeasurement]) -> None:
    """The compact form loses nothing: not a count, not which counters were missing where."""
    columns = EpochColumns.pack(iter(raws))

    assert columns.unpack() == tuple(raws)
    assert len(columns) == len(raws)
    assert columns == EpochColumns.pack(raws)


def test_columns_are_compact_and_portable() -> None:
    """Columns are little-endian words of 64 bits on any machine, and layouts are shared."""
    raws = [RawMeasurement(1, 2, {INSTRUCTIONS: 3}), RawMeasurement(4, 5, {INSTRUCTIONS: 6})]
    one, other = EpochColumns.pack(raws), EpochColumns.pack(raws)

    assert one._words == struct.pack("<6Q", 1, 4, 2, 5, 3, 6)
    assert one._counters is other._counters
    assert one._missing is other._missing


# results


@pytest.mark.parametrize("case", load_cases("statistics", "result"))
def test_results_are_nanobenchs(case: dict[str, Any]) -> None:
    """All statistics of all measures agree with nanobench, bit for bit."""
    out = case["out"]
    result = Result.from_measurements(Config(), map(raw_from_case, case["in"]["epochs"]))

    actual = {
        "size": len(result),
        "empty": result.empty,
        "measures": {
            name: {
                "has": result.has(name),
                "values": list(result.values(name)),
                **{statistic: getattr(result, statistic)(name) for statistic in STATISTICS},
            }
            for name in out["measures"]
        },
        "sum_product": [result.sum_product(p["a"], p["b"]) for p in out["sumProduct"]],
    }

    expected = {
        "size": out["size"],
        "empty": out["empty"],
        "measures": {
            name: {
                "has": measure["has"],
                "values": [number(value) for value in measure["values"]],
                "median_absolute_percent_error": number(measure["medianAbsolutePercentError"]),
                **{s: number(measure[s]) for s in STATISTICS if "percent" not in s},
            }
            for name, measure in out["measures"].items()
        },
        "sum_product": [number(product["value"]) for product in out["sumProduct"]],
    }
    check_case("statistics", case, actual, expected)


@given(EPOCHS, overheads())
def test_result_keeps_the_raw_measurements(raws: list[RawMeasurement], overhead: Overhead) -> None:
    """A result gives back exactly what was measured, and the same corrected."""
    result = Result.from_measurements(Config(), raws, overhead)

    assert result.raw == tuple(raws)
    assert result.corrected == tuple(overhead.correct(raw) for raw in raws)
    assert len(result) == len(raws)
    assert result.empty == (not raws)


@given(EPOCHS, overheads(), st.sampled_from(Measure))
def test_measure_or_its_name_will_do(
    raws: list[RawMeasurement], overhead: Overhead, measure: Measure
) -> None:
    """Every accessor answers the same to a measure and to its name."""
    result = Result.from_measurements(Config(), raws, overhead)

    for accessor in (*STATISTICS, "values", "raw_values", "has"):
        assert getattr(result, accessor)(measure) == getattr(result, accessor)(measure.value)
    assert result.sum_product(measure, measure) == result.sum_product(measure.value, measure.value)


@given(EPOCHS, st.sampled_from(Measure))
def test_statistics_are_within_the_values(raws: list[RawMeasurement], measure: Measure) -> None:
    """No value is negative, and median and extremes are in order."""
    result = Result.from_measurements(Config(), raws)

    assert all(value >= 0.0 for value in result.values(measure))
    assert result.minimum(measure) <= result.median(measure) <= result.maximum(measure)
    assert result.has(measure) == (len(result.values(measure)) > 0)


@given(EPOCHS, st.sampled_from(Measure))
def test_get_is_per_epoch(raws: list[RawMeasurement], measure: Measure) -> None:
    """The single values, of the epochs that have one, are those of `values`."""
    result = Result.from_measurements(Config(), raws)
    needed = {measure, BRANCHES} if measure is MISSES else {measure}
    needed &= set(COUNTER_MEASURES)

    actual = [result.get(i, measure) for i, raw in enumerate(raws) if needed <= raw.counters.keys()]

    assert tuple(actual) == result.values(measure)


def test_times_are_seconds_per_iteration() -> None:
    """Times are per iteration, in seconds; corrected by default, raw on request."""
    result = make((1000, 10), (3000, 20), overhead=Overhead(100.0, 5.0, kind="function"))

    assert result.values("elapsed") == (850 / 1e9 / 10, 2800 / 1e9 / 20)
    assert result.raw_values("elapsed") == (1000 / 1e9 / 10, 3000 / 1e9 / 20)
    assert result.get(1, "elapsed") == 2800 / 1e9 / 20
    assert result.raw_values("iterations") == result.values("iterations") == (10.0, 20.0)
    assert result.total_seconds == 4e-6


def test_branches_of_the_loop_are_taken_out() -> None:
    """Branch counters are corrected for the loop, but the raw values are as they were counted."""
    counters = {BRANCHES: 5011, MISSES: 101, INSTRUCTIONS: 20000}
    result = Result.from_measurements(Config(), [RawMeasurement(100, 10, counters)])

    assert result.values(BRANCHES) == (500.0,)
    assert result.values(MISSES) == (10.0,)
    assert result.values(INSTRUCTIONS) == (2000.0,)
    assert result.raw_values(BRANCHES) == (501.1,)
    assert result.raw_values(MISSES) == (10.1,)
    assert result.raw_values(INSTRUCTIONS) == (2000.0,)


def test_counters_may_be_missing_in_some_epochs() -> None:
    """Statistics cover the epochs that have the counter, and no epoch takes another one's value."""
    result = Result.from_measurements(
        Config(),
        [
            RawMeasurement(10, 1),
            RawMeasurement(10, 2, {INSTRUCTIONS: 4, MISSES: 9}),
            RawMeasurement(10, 1, {INSTRUCTIONS: 6, BRANCHES: 10, MISSES: 3}),
            RawMeasurement(10, 1, {BRANCHES: 12}),
        ],
    )

    assert result.values(INSTRUCTIONS) == (2.0, 6.0)
    assert result.values(BRANCHES) == (8.0, 10.0)
    assert result.values(MISSES) == (2.0,)
    assert result.raw_values(MISSES) == (4.5, 3.0)
    assert [result.get(i, INSTRUCTIONS) for i in range(4)] == [0.0, 2.0, 6.0, 0.0]
    assert [result.get(i, MISSES) for i in range(4)] == [0.0, 0.0, 2.0, 0.0]
    assert result.median(INSTRUCTIONS) == 4.0
    assert result.sum_product("iterations", INSTRUCTIONS) == 0.0
    # As many values, but not from the same epochs.
    assert result.sum_product(INSTRUCTIONS, BRANCHES) == 0.0
    assert result.sum_product(INSTRUCTIONS, INSTRUCTIONS) == 40.0


@pytest.mark.parametrize("unknown", ["ghosts", "", "Elapsed", None, 3, [1], "cpucycles"])
def test_unknown_measures_read_as_no_data(unknown: Any) -> None:
    """A measure that was not recorded or does not exist has no data, and is no error."""
    result = make((100, 1), (200, 1))

    assert result.has(unknown) is False
    assert result.values(unknown) == result.raw_values(unknown) == ()
    assert [getattr(result, statistic)(unknown) for statistic in STATISTICS] == [0.0] * 6
    assert result.sum_product(unknown, "elapsed") == result.sum_product(unknown, unknown) == 0.0
    assert result.get(1, unknown) == 0.0


@pytest.mark.parametrize("index", [2, -3, 10**30])
@pytest.mark.parametrize("measure", ["elapsed", "ghosts"])
def test_epochs_that_do_not_exist(index: int, measure: str) -> None:
    """Asking for an epoch that does not exist is an IndexError that tells how many there are."""
    result = make((100, 1), (200, 1), name="sort")

    with pytest.raises(IndexError) as caught:
        result.get(index, measure)

    assert str(caught.value) == f"epoch {index} of 'sort' does not exist: it has 2 epochs"


def test_epochs_count_from_both_ends() -> None:
    """Negative numbers of epochs count from the end, as in any sequence."""
    result = make((100, 1), (200, 1))

    assert [result.get(i, "elapsed") for i in (0, 1, -1, -2)] == [1e-7, 2e-7, 2e-7, 1e-7]


def test_context() -> None:
    """A context variable is read by its name; the error for others names those that are known."""
    result = make(name="sort", context_items=(("scalar", "f32"), ("foo", "bar")))

    assert result.context("scalar") == "f32"
    with pytest.raises(UnknownContextError) as caught:
        result.context("bar")
    assert str(caught.value) == (
        "'bar' is not a context variable of 'sort' - known are: 'scalar', 'foo'"
    )
    with pytest.raises(KeyError, match="known are: none"):
        make().context("scalar")


def test_shortcuts() -> None:
    """Title, name and unit are those of the settings."""
    result = make(title="T", name="N", unit="U")

    assert (result.title, result.name, result.unit) == ("T", "N", "U")


def test_failed_result() -> None:
    """A result without epochs reads as empty; only with a failure is it an overflowed one."""
    failed = Result.from_measurements(Config(), [], failure="the clock stood still")

    assert failed.overflowed is True
    assert failed.failure == "the clock stood still"
    assert failed.empty is True
    assert failed.total_seconds == 0.0
    assert failed.at_noise_floor is False
    assert make().overflowed is False
    assert make((1, 1)).empty is False


@pytest.mark.parametrize(
    ("times", "overhead", "expected"),
    [
        ([(100, 10)], Overhead(0.0, 9.0, 1.0, "function"), True),
        ([(101, 10)], Overhead(0.0, 9.0, 1.0, "function"), False),
        ([(100, 10)], Overhead(0.0, 20.0, 0.0, "function"), True),
        ([(100, 10)], Overhead(0.0, 9.0, 1.0, "none"), False),
        ([(100, 10), (999, 10), (100, 10)], Overhead(0.0, 9.0, 1.0, "statement"), True),
        ([(100, 10), (999, 10), (999, 10)], Overhead(0.0, 9.0, 1.0, "statement"), False),
        ([(109, 10), (101, 10), (109, 10)], Overhead(0.0, 10.0, 0.1, "function"), False),
        ([(109, 10), (104, 10), (101, 10)], Overhead(0.0, 10.0, 0.1, "function"), True),
        ([(119, 10), (115, 10), (101, 10)], Overhead(0.0, 10.0, 0.1, "function"), False),
        ([], Overhead(0.0, 9.0, 1.0, "function"), False),
        ([(0, 10)], NO_OVERHEAD, False),
    ],
)
def test_noise_floor(times: list[tuple[int, int]], overhead: Overhead, expected: bool) -> None:
    """The floor is reached when the median left per iteration is within the uncertainty.

    Or when it is below a tenth of the overhead, and differs by half of itself between epochs.
    """
    assert make(*times, overhead=overhead).at_noise_floor is expected


@given(EPOCHS, overheads(), st.none() | st.text())
def test_result_is_a_value(
    raws: list[RawMeasurement], overhead: Overhead, failure: str | None
) -> None:
    """Results made of equal parts are equal, and so are those that were pickled or copied."""
    config = Config(name="x", context_items=(("a", "b"),))
    result = Result.from_measurements(config, raws, overhead, failure)

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(result, protocol)) == result
    assert copy.deepcopy(result) == copy.copy(result) == result
    assert hash(copy.deepcopy(result)) == hash(result)
    assert result == Result.from_measurements(config.replace(), raws, overhead, failure)


def test_results_differ_in_any_part() -> None:
    """Results are not equal if settings, overhead, failure or any measurement differ."""
    raw = RawMeasurement(10, 2, {INSTRUCTIONS: 0})
    result = Result.from_measurements(Config(), [raw])

    assert result != Result.from_measurements(Config(name="other"), [raw])
    assert result != Result.from_measurements(Config(), [raw], Overhead(1.0))
    assert result != Result.from_measurements(Config(), [raw], failure="x")
    assert result != Result.from_measurements(Config(), [raw, raw])
    assert result != Result.from_measurements(Config(), [RawMeasurement(10, 2)])
    assert Result.from_measurements(Config(), [raw, RawMeasurement(1, 1)]) != (
        Result.from_measurements(Config(), [raw, RawMeasurement(1, 1, {INSTRUCTIONS: 0})])
    )
    assert result != object()


def test_result_does_not_change() -> None:
    """A result is frozen, and takes no new attributes."""
    result = make((1, 1))

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        result.failure = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        object.__setattr__(result, "notes", "x")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (make((1234, 100), name="sha256"), "Result('sha256', 1 epoch, median 12.34 ns)"),
        (make((0, 1)), "Result('noname', 1 epoch, median 0 ns)"),
        (make((999, 1)), "Result('noname', 1 epoch, median 999 ns)"),
        (make((1000, 1), (1000, 1)), "Result('noname', 2 epochs, median 1 us)"),
        (make((1_234_567, 1)), "Result('noname', 1 epoch, median 1.235 ms)"),
        (make((12_345_678_901, 1)), "Result('noname', 1 epoch, median 12.35 s)"),
        (make(), "Result('noname', 0 epochs)"),
        (
            Result.from_measurements(Config(), [], failure="the clock stood still"),
            "Result('noname', 0 epochs, failed: the clock stood still)",
        ),
    ],
)
def test_repr(result: Result, expected: str) -> None:
    """The repr is short: name, number of epochs, and the median in a unit fit to be read."""
    assert repr(result) == expected
