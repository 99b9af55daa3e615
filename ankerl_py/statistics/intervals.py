"""Confidence intervals that assume nothing of how the noise is distributed.

* For the median of paired differences: by the sign test (Thompson 1936; David and Nagaraja, Order
  Statistics, 7.1). How many of n values lie below their median is a matter of n coins.
* The same at any moment of a growing sample: by betting on those coins (Ville 1939; Robbins 1970,
  Statistical methods related to the law of the iterated logarithm).
* For the shift between two unpaired samples: by the rank sum test (Hodges and Lehmann 1963).

Values are real numbers: no NaN.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from ankerl_py.statistics.robust import median

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FAMILY_CONFIDENCE",
    "anytime_interval_indices",
    "bonferroni_confidence",
    "count_ties",
    "fewest_values",
    "median_interval_indices",
    "paired_log_ratios",
    "shift",
    "shift_interval",
]

FAMILY_CONFIDENCE = 0.95
"""How sure it is that all intervals of a comparison together are right."""

_MIXTURE = 8.0
"""Both parameters of the beta distribution over which bets are mixed.

It decides for how many values the interval at any moment is tightest: from 30 to 1000 values, no
other choice makes it narrower by more than 6 %.
"""

_MAX_EXACT_RANKS = 150
"""Up to so many values in both samples together, ranks are counted exactly."""


def paired_log_ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Compute the logarithm of the ratio of each pair.

    Args:
        above: Numbers.
        below: The other halves of the pairs; where one series is longer, its rest is left out.

    Returns:
        ``ln(a) - ln(b)`` for each pair, in order, without the pairs in which a number is not
        above 0.
    """
    # Differences of logarithms, because a quotient might overflow.
    return [
        math.log(a) - math.log(b) for a, b in zip(above, below, strict=False) if a > 0.0 and b > 0.0
    ]


def count_ties(log_ratios: Sequence[float]) -> int:
    """Count the pairs whose numbers were equal."""
    return sum(1 for value in log_ratios if value == 0.0)


def bonferroni_confidence(num_comparisons: int) -> float:
    """Give the confidence that each of several intervals needs for all to be right together.

    Args:
        num_comparisons: How many intervals; none counts as one.

    Returns:
        The confidence of each, so that all together have `FAMILY_CONFIDENCE`.
    """
    return 1.0 - (1.0 - FAMILY_CONFIDENCE) / max(1, num_comparisons)


@lru_cache(maxsize=256)
def median_interval_indices(n: int, confidence: float) -> tuple[int, int] | None:
    """Find which two of n sorted values enclose the median of what they are a sample of.

    Args:
        n: How many values, 0 or more.
        confidence: How sure that has to be, from 0 to 1.

    Returns:
        Their positions, counted from 0, as close to each other as they can be; None if not even the
        smallest and the largest value are enough.
    """
    # The median lies below the sorted value at position i, or above its mirror image, with the
    # probability that i of n coins or fewer show heads. In whole numbers, so that it is exact for
    # any n.
    numerator, denominator = confidence.as_integer_ratio()
    limit = (denominator - numerator) << n
    ways = at_most = 1
    outside = 0  # how many values are to be left out on each side
    while 2 * at_most * denominator <= limit and outside <= n:
        outside += 1
        ways = ways * (n - outside + 1) // outside
        at_most += ways
    return (outside - 1, n - outside) if 0 < outside <= (n + 1) // 2 else None


@lru_cache(maxsize=256)
def anytime_interval_indices(n: int, confidence: float) -> tuple[int, int] | None:
    """Find which two of n sorted values enclose the median, whenever one stops to collect values.

    `median_interval_indices` is right with its confidence for one n that was chosen before. Who
    looks again and again and stops when the interval pleases needs intervals that are *all* right
    together, over all n, with that confidence: these. They are wider by half or so.

    Args:
        n: How many values there are now.
        confidence: How sure it has to be that no interval at any n misses the median.

    Returns:
        Their positions, counted from 0; None if there are too few values.
    """
    # If m is the median, then each value is above it with probability 1/2, and who bets on the
    # sides of a coin wins no money. Betting the fraction 2p - 1 on "above" turns 1 into
    # (2p)^above * (2 - 2p)^below. What is computed here is the mean of that over a beta
    # distribution of p. By Ville's inequality it ever reaches 1 / (1 - confidence) with no more
    # probability than 1 - confidence; so every m for which it did is excluded.
    if not 0.0 <= confidence < 1.0:
        return None
    limit = -math.log1p(-confidence)
    low, high = 0, (n + 1) // 2  # the capital falls as `above` grows up to n / 2
    while low < high:
        above = (low + high) // 2
        if _log_capital(above, n) < limit:
            high = above
        else:
            low = above + 1
    if low == 0 or _log_capital(low, n) >= limit:
        return None
    return low - 1, n - low


def _log_capital(above: int, n: int) -> float:
    a = _MIXTURE
    return n * math.log(2.0) + _log_beta(a + above, a + n - above) - _log_beta(a, a)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def fewest_values(confidence: float) -> int:
    """Give the smallest number of values that has an interval for the median.

    Args:
        confidence: As in `median_interval_indices`, below 1.

    Returns:
        The number: 6 for 95 %.
    """
    # The smallest and the largest of n values miss the median if all n coins agree.
    n = 1
    while median_interval_indices(n, confidence) is None:
        n += 1
    return n


def shift(values: Sequence[float], others: Sequence[float]) -> float:
    """Estimate by how much the values of one sample exceed those of another.

    Args:
        values: Numbers, at least one.
        others: Numbers of the other sample, at least one.

    Returns:
        The median of all differences between a value and another: Hodges and Lehmann's estimate.
    """
    return median([a - b for a in values for b in others])


def shift_interval(
    values: Sequence[float], others: Sequence[float], confidence: float
) -> tuple[float, float] | None:
    """Enclose by how much the values of one sample exceed those of another.

    Args:
        values: Numbers.
        others: Numbers of the other sample. Nothing pairs them with `values`.
        confidence: How sure it has to be, from 0 to 1.

    Returns:
        The ends of the interval that belongs to the rank sum test of Wilcoxon, Mann and Whitney;
        None if there are too few values for that confidence.
    """
    outside = _ranks_outside(len(values), len(others), confidence)
    if not outside:
        return None
    differences = sorted(a - b for a in values for b in others)
    return differences[outside - 1], differences[-outside]


@lru_cache(maxsize=256)
def _ranks_outside(m: int, n: int, confidence: float) -> int:
    """How many of the m * n sorted differences can be left out on each side, plus one; 0: none."""
    if not (m and n):
        return 0
    if m + n > _MAX_EXACT_RANKS:
        return _ranks_outside_by_normal(m, n, confidence)
    numerator, denominator = confidence.as_integer_ratio()
    limit = math.comb(m + n, m) * (denominator - numerator)
    outside = at_most = 0
    for ways in _rank_sum_ways(m, n):
        at_most += ways
        if 2 * at_most * denominator > limit:
            break
        outside += 1
    return outside


def _rank_sum_ways(m: int, n: int) -> list[int]:
    """In how many of all orders of m and n values the statistic of Mann and Whitney is 0, 1, ..."""
    # Its generating function is the product of (1 - q^(n+i)) / (1 - q^i) for i = 1 ... m.
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for k in range(m * n, n + i - 1, -1):
            ways[k] -= ways[k - n - i]
        for k in range(i, m * n + 1):
            ways[k] += ways[k - i]
    return ways


def _ranks_outside_by_normal(m: int, n: int, confidence: float) -> int:
    from statistics import NormalDist  # noqa: PLC0415 (for large samples only)

    if confidence >= 1.0:
        return 0
    deviation = math.sqrt(m * n * (m + n + 1) / 12.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    return max(0, math.floor(m * n / 2.0 - z * deviation + 0.5))
