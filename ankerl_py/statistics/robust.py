"""Statistics over the epochs of a benchmark.

The sums are plain additions from left to right, so that each result has the same last bit as
nanobench's; ``math.fsum``, and the built-in ``sum`` from Python 3.12 on, would differ there.
Nothing and NaN: each statistic of no values is 0.0, and values must not be NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "average",
    "maximum",
    "median",
    "median_absolute_percent_error",
    "minimum",
    "total",
    "total_product",
]


def median(values: Sequence[float]) -> float:
    """Compute the median.

    Args:
        values: Numbers in any order.

    Returns:
        The middle value, or the mean of the two in the middle; 0.0 for no values.
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2.0


def average(values: Sequence[float]) -> float:
    """Compute the arithmetic mean.

    Args:
        values: Numbers.

    Returns:
        Their sum divided by their count; 0.0 for no values.
    """
    return total(values) / float(len(values)) if values else 0.0


def median_absolute_percent_error(values: Sequence[float]) -> float:
    """Compute how far the values typically are from their median, relative to themselves.

    Unlike the standard deviation it hardly moves when a few epochs are disturbed.

    Args:
        values: Numbers, usually >= 0.

    Returns:
        The median over ``|(x - m) / x|`` with m the median of the values, as a fraction (0.05 is
        5 %). Where x is 0 or less the term is 0 if m is as well, else infinite, so the result is
        infinite when half of the values or more are 0 while m is not.
    """
    middle = median(values)
    at_zero = 0.0 if middle <= 0.0 else math.inf
    return median([abs((x - middle) / x) if x > 0.0 else at_zero for x in values])


def total(values: Sequence[float]) -> float:
    """Add the values from left to right.

    Args:
        values: Numbers.

    Returns:
        Their sum; 0.0 for no values.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def total_product(left: Sequence[float], right: Sequence[float]) -> float:
    """Add the products of two series from left to right.

    Args:
        left: Numbers.
        right: Numbers that belong to those of ``left``, one each.

    Returns:
        The sum of the products; 0.0 if the series do not have the same length.
    """
    if len(left) != len(right):
        return 0.0
    return total([a * b for a, b in zip(left, right, strict=True)])


def minimum(values: Sequence[float]) -> float:
    """Find the smallest value.

    Args:
        values: Numbers.

    Returns:
        The smallest of them; 0.0 for no values.
    """
    return min(values, default=0.0)


def maximum(values: Sequence[float]) -> float:
    """Find the largest value.

    Args:
        values: Numbers.

    Returns:
        The largest of them; 0.0 for no values.
    """
    return max(values, default=0.0)
