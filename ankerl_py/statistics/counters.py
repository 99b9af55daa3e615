"""Arithmetic of hardware counters: whole numbers >= 0, nothing ever falls below 0.

The formulas are nanobench's, without its wrap-around at 2**64: Python's integers have no such
limit. Counts are totals of an epoch, "per iteration" is said where it is meant.
"""

from __future__ import annotations

import math

__all__ = [
    "correct_branch_instructions",
    "correct_branch_misses",
    "correct_overhead",
    "div_rounded",
    "loop_overhead_per_iteration",
    "perf_read_format_size",
    "perf_value_index",
    "saturating_sub",
    "scale_multiplexed",
    "to_u64",
]

_LARGEST_ROUNDED = 2**63
"""Where nanobench caps what it rounds or scales, so that nonsense stays recognisable as such."""

_PERF_HEADER_WORDS = 3
_PERF_WORDS_PER_EVENT = 2


def saturating_sub(a: int, b: int) -> int:
    """Subtract without falling below zero.

    Args:
        a: A count.
        b: What is taken from it.

    Returns:
        a - b, at least 0.
    """
    return max(a - b, 0)


def div_rounded(a: int, divisor: int) -> int:
    """Divide and round to the nearest whole number.

    Args:
        a: A count.
        divisor: What it is divided by, at least 1.

    Returns:
        The quotient, halves rounded up.

    Raises:
        ZeroDivisionError: The divisor is 0.
    """
    return (2 * a + divisor) // (2 * divisor)


def scale_multiplexed(value: int, time_enabled: int, time_running: int) -> int:
    """Estimate what a counter would have counted if it had run all the time.

    The kernel lets events take turns when there are more of them than counters.

    Args:
        value: What the counter counted while it ran.
        time_enabled: How long it should have run, in ns.
        time_running: How long it did run, in ns.

    Returns:
        The value times enabled / running, halves rounded up, at most 2**63. The value as it is
        if the counter ran all the time, or not at all.
    """
    if time_running == 0 or time_running >= time_enabled:
        return value
    scaled = div_rounded(value * time_enabled, time_running)
    # The cap must not make less of a value that is above it already.
    return max(value, min(scaled, _LARGEST_ROUNDED))


def correct_overhead(
    value: int, measuring_overhead: int, loop_overhead_per_iteration: int, iterations: int
) -> int:
    """Take the cost of measuring out of a count.

    Args:
        value: What was counted in an epoch.
        measuring_overhead: What starting and stopping the counters counts by itself.
        loop_overhead_per_iteration: What the measuring loop adds per iteration.
        iterations: Number of iterations of the epoch.

    Returns:
        What is left, at least 0.
    """
    return saturating_sub(value, measuring_overhead + loop_overhead_per_iteration * iterations)


def loop_overhead_per_iteration(
    single: int, doubled: int, measuring_overhead: int, iterations: int
) -> int:
    """Find the cost of the measuring loop from two runs that differ only in their bodies.

    Twice the first run holds the same bodies as the second one, but the loop twice.

    Args:
        single: What was counted with the body once per iteration.
        doubled: What was counted with the body twice per iteration.
        measuring_overhead: What starting and stopping the counters counts by itself.
        iterations: Number of iterations of either run, at least 1.

    Returns:
        The cost of the loop per iteration, halves rounded up, at least 0.

    Raises:
        ZeroDivisionError: There were no iterations.
    """
    once = saturating_sub(single, measuring_overhead)
    twice = saturating_sub(doubled, measuring_overhead)
    return div_rounded(saturating_sub(2 * once, twice), iterations)


def correct_branch_instructions(raw: int, iterations: int) -> int:
    """Take the measuring loop's own branches out of a count of branches.

    Args:
        raw: Branches of an epoch.
        iterations: Number of iterations of the epoch.

    Returns:
        The count without one branch per iteration and the one that leaves the loop, at least 0.
    """
    return saturating_sub(raw, iterations + 1)


def correct_branch_misses(raw: int, corrected_branch_instructions: float) -> float:
    """Take the measuring loop's own mispredicted branch out of a count of branch misses.

    Args:
        raw: Branch misses of an epoch.
        corrected_branch_instructions: Branches of the epoch without those of the loop.

    Returns:
        At most the number of branches, minus the one miss when the loop is left. At least 1.0, as
        in nanobench: one miss is always charged, also where none was counted.
    """
    return max(min(float(raw), corrected_branch_instructions) - 1.0, 1.0)


def perf_read_format_size(num_events: int) -> int:
    """Compute the size of a grouped read of Linux perf events that carry an id each.

    Args:
        num_events: Number of events in the group.

    Returns:
        The number of 64 bit words: number of events, time enabled and time running, then value
        and id of each event (PERF_FORMAT_GROUP in ``man 2 perf_event_open``).
    """
    return _PERF_HEADER_WORDS + _PERF_WORDS_PER_EVENT * num_events


def perf_value_index(i: int) -> int:
    """Find the value of an event in a grouped read of Linux perf events.

    Args:
        i: Which event of the group, from 0.

    Returns:
        The index of the 64 bit word that holds its value; its id is in the word after that.
    """
    return perf_read_format_size(i)


def to_u64(value: float) -> int:
    """Round to a whole number that fits in 64 bits.

    Args:
        value: Any number.

    Returns:
        The nearest whole number, halves rounded up; 0 for negative numbers and NaN, and 2**63 for
        everything above that.
    """
    if math.isnan(value) or value <= 0.0:
        return 0
    if value >= _LARGEST_ROUNDED:
        return _LARGEST_ROUNDED
    whole = math.floor(value)
    # The difference is exact, whereas adding 0.5 and truncating, as nanobench does, rounds twice.
    return whole + 1 if value - whole >= 0.5 else whole
