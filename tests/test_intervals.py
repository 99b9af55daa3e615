"""Intervals: recorded cases, exactness, and coverage of what they claim to cover."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ankerl_py.statistics import intervals
from ankerl_py.statistics.robust import median
from support import check_case, departs, load_cases, number


def close(values):
    """Log ratios may come out near 0, so a small absolute difference is allowed (README 1.3)."""
    return pytest.approx([number(value) for value in values], rel=1e-12, abs=1e-12)


# ---------------------------------------------------------------- recorded cases


@pytest.mark.parametrize("case", load_cases("compare", "pairedLogRatios"))
def test_paired_log_ratios_are_those_of_nanobench(case):
    """Each round gives the difference of logarithms, unless a time is not above 0."""
    above, below = ([number(x) for x in case["in"][key]] for key in "ab")
    actual = intervals.paired_log_ratios(above, below)
    assert actual == close(case["out"]["values"])


@pytest.mark.parametrize("case", load_cases("compare", "medianOf"))
def test_medians_are_those_of_nanobench(case):
    """The estimate is the plain median."""
    assert median([number(x) for x in case["in"]["values"]]) == number(case["out"]["value"])


@pytest.mark.parametrize("case", load_cases("compare", "medianIntervalIndices"))
def test_indices_are_those_of_nanobench(case):
    """The same two of n sorted values, up to where nanobench leaves the exact way."""
    confidence = number(case["in"]["confidence"])
    actual = [
        list(intervals.median_interval_indices(n, confidence) or (1, 0)) for n in case["in"]["n"]
    ]
    check_case("compare", case, actual, case["out"]["indices"])
    if departs("compare", case):
        assert all(
            is_exact(n, confidence, intervals.median_interval_indices(n, confidence))
            for n in case["in"]["n"]
        )


def coverage(n, outside):
    """How sure it is that the median lies between what is left of n values, as a fraction."""
    ways = accumulate(range(outside), lambda ways, i: ways * (n - i) // (i + 1), initial=1)
    return 1 - Fraction(2 * sum(ways), 2**n)


def is_exact(n, confidence, indices):
    """The definition: as much as the confidence allows is left out on each side, and no more."""
    low, high = indices or (-1, n)
    is_sure = low < 0 or coverage(n, low) >= confidence
    is_narrow = low + 1 >= n // 2 + n % 2 or coverage(n, low + 1) < confidence
    return is_sure and is_narrow and high == n - 1 - low


@pytest.mark.parametrize("case", load_cases("compare", "bonferroniConfidence"))
def test_bonferroni_is_that_of_nanobench(case):
    """The confidence of each interval is the same, bit for bit."""
    actual = intervals.bonferroni_confidence(case["in"]["num_comparisons"])
    assert actual == number(case["out"]["value"])


@pytest.mark.parametrize("case", load_cases("compare", "countTiedRounds"))
def test_ties_are_those_of_nanobench(case):
    """Equal times are a tie; NaN is none."""
    actual = intervals.count_ties([number(x) for x in case["in"]["log_ratios"]])
    check_case("compare", case, actual, case["out"]["value"])


def median_interval(values, confidence):
    indices = intervals.median_interval_indices(len(values), confidence)
    # nanobench gives 0 and 0 where there is no interval.
    return [0.0, 0.0] if indices is None else [sorted(values)[i] for i in indices]


@pytest.mark.parametrize("case", load_cases("compare", "medianInterval"))
def test_median_intervals_are_those_of_nanobench(case):
    """The ends are two of the values."""
    values = [number(x) for x in case["in"]["values"]]
    actual = median_interval(values, number(case["in"]["confidence"]))
    assert actual == close([case["out"]["low"], case["out"]["high"]])


# ---------------------------------------------------------------- medians


@given(st.integers(0, 200), st.floats(0.0, 1.0))
@example(5, 0.9375)
@example(6, 0.96875)
def test_median_interval_is_as_narrow_as_it_can_be(n, confidence):
    """It has its confidence exactly, and one value less on both sides would not."""
    assert is_exact(n, confidence, intervals.median_interval_indices(n, confidence))


@pytest.mark.parametrize(
    ("comparisons", "fewest"), [(0, 6), (1, 6), (2, 7), (3, 7), (9, 9), (99, 12)]
)
def test_fewest_values(comparisons, fewest):
    """So many rounds it takes, and one less has no interval."""
    confidence = intervals.bonferroni_confidence(comparisons)
    assert intervals.fewest_values(confidence) == fewest
    assert intervals.median_interval_indices(fewest, confidence) == (0, fewest - 1)
    assert intervals.median_interval_indices(fewest - 1, confidence) is None


@given(st.integers(0, 3000), st.floats(0.5, 0.9999))
def test_anytime_interval_is_wider(n, confidence):
    """Who looks again and again pays for it, with an interval that holds the usual one."""
    anytime = intervals.anytime_interval_indices(n, confidence)
    usual = intervals.median_interval_indices(n, confidence)
    if anytime is not None:
        assert usual is not None
        assert 0 <= anytime[0] <= usual[0] <= usual[1] <= anytime[1] == n - 1 - anytime[0]


def test_anytime_interval_is_the_one_of_the_bets():
    """It excludes exactly the medians at which a bettor would have been made rich enough."""
    # The capital, by the definition: the mean of the bets over a beta distribution, in fractions.
    a, n, confidence = 8, 40, 0.95

    def capital(above):
        rising = [math.prod(range(a, a + k)) if k else 1 for k in (above, n - above)]
        return Fraction(2**n * rising[0] * rising[1], math.prod(range(2 * a, 2 * a + n)))

    low = next(k for k in range(n) if capital(k) < 1 / (1 - Fraction(confidence)))
    assert intervals.anytime_interval_indices(n, confidence) == (low - 1, n - low)
    assert low - 1 == 10  # and not just anything


def test_anytime_interval_needs_enough_values():
    """Few values exclude nothing, however far apart they are; certainty never comes."""
    confidences = [0.95, 1.0, math.nan]
    found = [
        [n for n in range(40) if intervals.anytime_interval_indices(n, c)][:1] for c in confidences
    ]
    assert found == [[14], [], []]


# ---------------------------------------------------------------- two samples


def brute_force_ends(values, others, confidence):
    """The rank sum test by counting all orders."""
    m, n = len(values), len(others)
    counts = [0] * (m * n + 1)
    for places in combinations(range(m + n), m):
        counts[sum(places) - m * (m - 1) // 2] += 1
    total, outside = sum(counts), 0
    while outside < m * n / 2 and Fraction(2 * sum(counts[: outside + 1]), total) <= 1 - Fraction(
        confidence
    ):
        outside += 1
    if not outside:
        return None
    differences = sorted(a - b for a in values for b in others)
    return differences[outside - 1], differences[-outside]


samples = st.lists(st.integers(-50, 50).map(float), max_size=6)


@given(samples, samples, st.floats(0.1, 0.999))
def test_shift_interval_is_that_of_the_rank_sum_test(values, others, confidence):
    """The ends are those differences that the test, by its definition, cannot exclude."""
    actual = intervals.shift_interval(values, others, confidence)
    assert actual == brute_force_ends(values, others, confidence)


def test_shift_interval_of_known_tables():
    """The critical values of Mann and Whitney's statistic are those of the printed tables."""
    values = {n: [float(i) for i in range(n)] for n in (4, 5, 8, 11, 20)}
    # Two-sided, 5 %: 0, 2, 13, 30 and 127; the interval begins at the next difference.
    critical = {4: 0, 5: 2, 8: 13, 11: 30, 20: 127}
    for n, statistic in critical.items():
        differences = sorted(a - b for a in values[n] for b in values[n])
        expected = differences[statistic], differences[-1 - statistic]
        assert intervals.shift_interval(values[n], values[n], 0.95) == expected


def test_shift_interval_of_large_samples_goes_on_smoothly():
    """Beyond 150 values ranks are no longer counted one by one, and nobody sees a difference."""
    exact = [float(i) for i in range(75)]
    normal = [*exact, 75.0]
    low, high = intervals.shift_interval(exact, exact, 0.95)
    assert intervals.shift_interval(normal, normal, 0.95) == (low, high) == (-7.0, 7.0)
    assert intervals.shift_interval(normal, normal, 1.0) is None


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8), st.floats(-1e3, 1e3))
def test_shift_is_what_was_added(values, amount):
    """A sample that is shifted is found to be shifted by that much."""
    shifted = [value + amount for value in values]
    assert intervals.shift(shifted, values) == pytest.approx(amount, abs=1e-9)
    assert intervals.shift(values, shifted) == pytest.approx(-amount, abs=1e-9)


# ---------------------------------------------------------------- coverage, by simulation


def slot_noise(rng, kind, slots):
    """What a machine does to epochs one after the other: the logarithm of a factor for each."""
    white = rng.normal(0.0, 0.01, slots)
    if kind == "skewed":
        return rng.exponential(0.02, slots) + rng.binomial(1, 0.05, slots) * rng.exponential(0.5)
    if kind == "drifting":
        return white + np.linspace(0.0, rng.normal(0.0, 0.3), slots)
    if kind == "autocorrelated":
        steps = rng.normal(0.0, 0.01, slots)
        noise = np.zeros(slots)
        for i in range(1, slots):
            noise[i] = 0.97 * noise[i - 1] + steps[i]
        return noise + white
    if kind == "switching":
        state = np.cumsum(rng.binomial(1, 0.05, slots)) % 2
        return white + 0.2 * state
    return white


NOISE = ["white", "skewed", "drifting", "autocorrelated", "switching"]


def paired_logs(rng, kind, rounds, size):
    """Log ratios to the baseline of `size` equal alternatives in cyclic Latin squares."""
    noise = slot_noise(rng, kind, rounds * size).reshape(rounds, size)
    times = np.empty((rounds, size))
    for block in range(0, rounds, size):
        order = rng.permutation(size)
        for row in range(min(size, rounds - block)):
            times[block + row, np.roll(order, -row)] = noise[block + row]
    return times[:, :1] - times[:, 1:]


def misses(logs, indices):
    """Whether any interval of the columns misses 0, which is the truth."""
    low, high = indices
    ordered = np.sort(logs, axis=0)
    return bool(np.any((ordered[low] > 0.0) | (ordered[high] < 0.0)))


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("size", [2, 4])
def test_intervals_cover_whatever_the_noise(kind, size):
    """Equal alternatives are found to differ in 5 % of comparisons or less: all together."""
    rng = np.random.default_rng(6)
    trials, rounds = 1500, 12
    indices = intervals.median_interval_indices(rounds, intervals.bonferroni_confidence(size - 1))
    wrong = sum(misses(paired_logs(rng, kind, rounds, size), indices) for _ in range(trials))
    # 5 % of them, and three standard errors of this simulation.
    assert wrong / trials <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)


def stops_wrong(logs, find, until):
    """Whether the interval with which one would stop, looking after each round, misses 0."""
    kept = logs[:0]
    for n in range(6, len(logs) + 1, 2):
        kept = np.sort(logs[:n])
        indices = find(n, 0.95)
        if indices is not None and kept[indices[1]] - kept[indices[0]] < until:
            break
    else:
        indices = find(len(logs), 0.95)
    return not kept[indices[0]] <= 0.0 <= kept[indices[1]]


@pytest.mark.parametrize("kind", NOISE)
def test_adaptive_stopping_keeps_the_coverage(kind):
    """Who goes on until the interval is narrow is wrong in 5 % of comparisons or less."""
    rng = np.random.default_rng(7)
    trials = 250
    wrong = sum(
        stops_wrong(paired_logs(rng, kind, 120, 2)[:, 0], intervals.anytime_interval_indices, 0.01)
        for _ in range(trials)
    )
    assert wrong / trials <= 0.05


def test_stopping_when_significant_needs_the_wide_interval():
    """The reason for it: with the usual one, who looks until something shows finds something."""
    rng = np.random.default_rng(8)
    wrong = {}
    for find in (intervals.anytime_interval_indices, intervals.median_interval_indices):
        wrong[find.__name__] = 0
        for _ in range(200):
            logs = paired_logs(rng, "white", 200, 2)[:, 0]
            wrong[find.__name__] += any(
                indices is not None and misses(logs[:n, None], indices)
                for n in range(6, 201, 2)
                for indices in [find(n, 0.95)]
            )
    assert wrong["anytime_interval_indices"] <= 10  # of 200: 5 %
    assert wrong["median_interval_indices"] > 30


@pytest.mark.parametrize("kind", ["white", "skewed"])
def test_unpaired_intervals_cover(kind):
    """Two samples of the same kind are found to differ in 5 % of comparisons or less."""
    rng = np.random.default_rng(9)
    trials = 1000
    wrong = 0
    for _ in range(trials):
        low, high = intervals.shift_interval(
            slot_noise(rng, kind, 11).tolist(), slot_noise(rng, kind, 11).tolist(), 0.95
        )
        wrong += not low <= 0.0 <= high
    assert wrong / trials <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)
