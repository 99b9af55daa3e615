"""Statistics over epochs and arithmetic of hardware counters."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ankerl_py.statistics.counters
import ankerl_py.statistics.robust
from ankerl_py.statistics import robust
from ankerl_py.statistics.counters import (
    correct_branch_instructions,
    correct_branch_misses,
    correct_overhead,
    div_rounded,
    loop_overhead_per_iteration,
    perf_read_format_size,
    perf_value_index,
    saturating_sub,
    scale_multiplexed,
    to_u64,
)
from support import check_case, load_cases, number

COUNTS = st.integers(0, 2**64 - 1)
VALUES = st.lists(st.floats(0.0, 1e300), min_size=1)
POSITIVE_VALUES = st.lists(st.floats(1e-12, 1e12), min_size=1)

COUNTER_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "saturatingSub": (saturating_sub, "a", "b"),
    "divRounded": (div_rounded, "a", "divisor"),
    "scaleMultiplexed": (scale_multiplexed, "value", "time_enabled", "time_running"),
    "correctOverhead": (
        correct_overhead,
        "value",
        "measuring_overhead",
        "loop_overhead_per_iteration",
        "num_iters",
    ),
    "loopOverheadPerIteration": (
        loop_overhead_per_iteration,
        "single",
        "doubled",
        "measuring_overhead",
        "num_iters",
    ),
    "correctBranchInstructions": (correct_branch_instructions, "raw", "num_iters"),
    "perfReadFormatSize": (perf_read_format_size, "num_events"),
    "perfValueIndex": (perf_value_index, "i"),
}


@pytest.mark.parametrize("case", load_cases("statistics", *COUNTER_FUNCTIONS))
def test_counter_arithmetic_is_nanobenchs(case: dict[str, Any]) -> None:
    """The arithmetic of whole counts agrees with nanobench, save where that wraps around."""
    function, *names = COUNTER_FUNCTIONS[case["in"]["kind"]]

    actual = function(*(int(case["in"][name]) for name in names))

    check_case("statistics", case, actual, int(case["out"]["value"]))


@pytest.mark.parametrize("case", load_cases("statistics", "correctBranchMisses"))
def test_branch_misses_are_nanobenchs(case: dict[str, Any]) -> None:
    """The correction of branch misses agrees with nanobench."""
    inputs = case["in"]

    actual = correct_branch_misses(int(inputs["raw"]), inputs["corrected_branch_instructions"])

    check_case("statistics", case, actual, number(case["out"]["value"]))


@pytest.mark.parametrize("case", load_cases("statistics", "u64"))
def test_rounding_to_u64_is_nanobenchs(case: dict[str, Any]) -> None:
    """Rounding agrees with nanobench, save where that rounds twice."""
    actual = to_u64(number(case["in"]["value"]))

    check_case("statistics", case, actual, int(case["out"]["value"]))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (div_rounded(2**64 - 1, 10), 1844674407370955162),
        (correct_overhead(1000, 0, 2**32, 2**32), 0),
        (loop_overhead_per_iteration(2**63 + 5, 3, 0, 2), 2**63 + 4),
        (correct_branch_instructions(10, 2**64 - 1), 0),
        (to_u64(0.49999999999999994), 0),
        (to_u64(4503599627370497.0), 4503599627370497),
    ],
)
def test_departures_give_the_true_result(actual: int, expected: int) -> None:
    """Where nanobench wraps around at 2**64 or rounds twice, the answer is the exact one."""
    assert actual == expected


@given(COUNTS, COUNTS)
def test_saturating_sub(a: int, b: int) -> None:
    """A difference is what is missing to the larger one, or zero."""
    assert saturating_sub(a, b) + min(a, b) == a


@given(COUNTS, st.integers(1, 2**64 - 1))
def test_div_rounded_is_nearest(a: int, divisor: int) -> None:
    """A rounded quotient is off by at most half, and only ever upwards by exactly half."""
    rest = a - div_rounded(a, divisor) * divisor

    assert -divisor <= 2 * rest < divisor


@given(COUNTS, COUNTS, COUNTS)
def test_scaling_never_takes_away(value: int, enabled: int, running: int) -> None:
    """A counter that had to share its place is never scaled down, nor beyond its cap."""
    scaled = scale_multiplexed(value, enabled, running)

    assert value <= scaled <= max(value, 2**63)


@given(COUNTS, COUNTS)
def test_scaling_leaves_full_counts_alone(value: int, time: int) -> None:
    """A counter that ran all the time, or never, counts as it is."""
    assert scale_multiplexed(value, time, time) == value
    assert scale_multiplexed(value, time, 0) == value


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_corrections_only_take_away(value: int, fixed: int, per: int, iterations: int) -> None:
    """No correction makes a count negative, or more than it was."""
    assert 0 <= correct_overhead(value, fixed, per, iterations) <= value
    assert 0 <= correct_branch_instructions(value, iterations) <= value
    assert 1.0 <= correct_branch_misses(value, float(fixed)) <= max(1.0, float(value))


@given(
    body=st.integers(0, 10**6),
    loop=st.integers(0, 10**6),
    fixed=st.integers(0, 10**6),
    iterations=st.integers(1, 10**6),
)
def test_loop_overhead_is_found(body: int, loop: int, fixed: int, iterations: int) -> None:
    """From a run with one body per iteration and one with two, the loop's own cost comes out."""
    single = fixed + iterations * (loop + body)
    doubled = fixed + iterations * (loop + 2 * body)

    assert loop_overhead_per_iteration(single, doubled, fixed, iterations) == loop


@given(st.floats(0.0, 2.0**63))
def test_to_u64_is_nearest(value: float) -> None:
    """Rounding is off by at most half, and halves go up."""
    error = Fraction(to_u64(value)) - Fraction(value)

    assert Fraction(-1, 2) < error <= Fraction(1, 2)


@given(VALUES)
def test_median_is_within(values: list[float]) -> None:
    """The median is neither below the smallest nor above the largest value."""
    assert robust.minimum(values) <= robust.median(values) <= robust.maximum(values)


@given(VALUES)
def test_median_halves(values: list[float]) -> None:
    """At most half of the values are below the median, and at most half above."""
    middle = robust.median(values)

    assert 2 * sum(value < middle for value in values) <= len(values)
    assert 2 * sum(value > middle for value in values) <= len(values)


@given(VALUES.flatmap(lambda values: st.tuples(st.just(values), st.permutations(values))))
def test_order_does_not_matter(pair: tuple[list[float], list[float]]) -> None:
    """Statistics that do not add are the same, to the last bit, in any order of the epochs."""
    values, shuffled = pair

    for statistic in (
        robust.median,
        robust.median_absolute_percent_error,
        robust.minimum,
        robust.maximum,
    ):
        assert statistic(shuffled) == statistic(values)


@given(POSITIVE_VALUES.flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_sums_hardly_depend_on_order(pair: tuple[list[float], list[float]]) -> None:
    """Sums of positive numbers depend on their order only by rounding."""
    values, shuffled = pair

    assert robust.total(shuffled) == pytest.approx(robust.total(values), rel=1e-12)
    assert robust.average(shuffled) == pytest.approx(robust.average(values), rel=1e-12)


@given(POSITIVE_VALUES)
def test_average_is_within(values: list[float]) -> None:
    """The mean lies between the extremes, but for rounding."""
    smallest, largest = robust.minimum(values), robust.maximum(values)

    assert smallest * (1 - 1e-12) <= robust.average(values) <= largest * (1 + 1e-12)


def test_sums_are_plain_additions() -> None:
    """Sums round after each addition from left to right, as nanobench's do."""
    values = [0.1] * 10

    assert robust.total(values) == 0.9999999999999999
    assert math.fsum(values) == 1.0
    assert robust.total([1e16, 1.0, -1e16]) == 0.0
    assert robust.total_product(values, [1.0] * 10) == 0.9999999999999999


@given(st.floats(0.0, 1e300), st.integers(1, 30))
def test_equal_values_have_no_error(value: float, count: int) -> None:
    """Epochs that all took the same time have that median and no error."""
    values = [value] * count

    assert robust.median(values) == value
    assert robust.median_absolute_percent_error(values) == 0.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 4.0], 0.5),
        ([1.0, 2.0], 0.375),
        ([0.0, 0.0, 1.0], 0.0),
        ([0.0, 2.0], math.inf),
        ([0.0, 1.0, 2.0], 0.5),
        ([-1.0, -1.0, -1.0], 0.0),
    ],
)
def test_error_is_relative_to_each_value(values: list[float], expected: float) -> None:
    """The error is the median of |(x - m) / x|; where x is 0, that is 0 or infinite as m is."""
    assert robust.median_absolute_percent_error(values) == expected


@pytest.mark.parametrize(
    "statistic",
    [
        robust.median,
        robust.average,
        robust.median_absolute_percent_error,
        robust.total,
        robust.minimum,
        robust.maximum,
    ],
)
def test_nothing_gives_zero(statistic: Any) -> None:
    """Each statistic of no values is 0.0."""
    assert statistic([]) == 0.0
    assert statistic(()) == 0.0


def test_product_needs_equal_lengths() -> None:
    """Series of different lengths do not belong together, their product is 0.0."""
    assert robust.total_product([1.0, 2.0], [3.0, 4.0]) == 11.0
    assert robust.total_product([1.0, 2.0], [3.0]) == 0.0


def test_inputs_are_left_alone() -> None:
    """Statistics do not sort the caller's list."""
    values = [3.0, 1.0, 2.0]

    robust.median(values)

    assert values == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("module", [ankerl_py.statistics.robust, ankerl_py.statistics.counters])
def test_exports_are_complete_and_sorted(module: Any) -> None:
    """``__all__`` names, in order, every public function of the module."""
    public = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    ]

    assert sorted(public) == module.__all__
    assert all(a < b for a, b in pairwise(module.__all__))
