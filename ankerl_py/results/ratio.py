"""Ratios of times, with what is known of their errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import NO_OVERHEAD
from ankerl_py.statistics import intervals, robust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ankerl_py.results.measurement import Overhead
    from ankerl_py.results.result import Result

    Bounds = Callable[[Sequence[float], Sequence[float]], tuple[float, float] | None]

__all__ = ["ITSELF", "NOTHING", "Ratio", "can_be_corrected", "compare_values", "exp", "ratio_of"]


@attrs.frozen
class Ratio:
    """How many times as fast one thing is as another, and between which limits that is."""

    value: float | None
    """The ratio: 2.0 is twice as fast. None: there is nothing that could be compared."""

    low: float | None = None
    """Lower end of the confidence interval. None: there is too little for an interval."""

    high: float | None = None
    """Upper end of the confidence interval, None if there is none."""

    compared_rounds: int = 0
    """From so many rounds (or epochs) the ratio was computed."""

    tied_rounds: int = 0
    """In so many of them both took exactly the same time, as far as the clock can tell."""

    dropped_rounds: int = 0
    """So many rounds are left out: in them the time of one of the two, or of both, was 0."""

    @property
    def is_significant(self) -> bool:
        """Whether one is faster for sure: there is an interval, and it does not contain 1."""
        if self.low is None or self.high is None:
            return False
        return self.low > 1.0 or self.high < 1.0

    @property
    def width_percent(self) -> float:
        """By how many percent the upper end exceeds the lower one; infinite without interval."""
        if not self.low or self.high is None:
            return math.inf
        return 100.0 * (self.high / self.low - 1.0)

    def inverse(self) -> Ratio:
        """Give the ratio of the two the other way round: how many times as slow."""
        return attrs.evolve(
            self, value=_inverse(self.value), low=_inverse(self.high), high=_inverse(self.low)
        )


ITSELF = Ratio(1.0, 1.0, 1.0)
"""What a baseline is, compared with itself."""

NOTHING = Ratio(None)
"""There was nothing that could be compared."""


def _inverse(value: float | None) -> float | None:
    if value is None:
        return None
    return 1.0 / value if value else math.inf


def exp(value: float) -> float:
    """Compute ``e ** value``, infinity if that is too large for a float."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def compare_values(
    above: Sequence[float], below: Sequence[float], confidence: float, *, anytime: bool = False
) -> Ratio:
    """Compare paired values.

    Args:
        above: What is divided, one value per round.
        below: What it is divided by, of the same rounds.
        confidence: How sure the interval has to be.
        anytime: Whether one looked at the interval before to decide when to stop.

    Returns:
        The ratio ``above / below``: median and interval for the median of its logarithm.
    """
    logs = intervals.paired_log_ratios(above, below)
    dropped = min(len(above), len(below)) - len(logs)
    if not logs:
        return Ratio(None, dropped_rounds=dropped)
    find = intervals.anytime_interval_indices if anytime else intervals.median_interval_indices
    indices = find(len(logs), confidence)
    low = high = None
    if indices is not None:
        logs_sorted = sorted(logs)
        low, high = (exp(logs_sorted[i]) for i in indices)
    return Ratio(
        exp(robust.median(logs)), low, high, len(logs), intervals.count_ties(logs), dropped
    )


def can_be_corrected(result: Result) -> bool:
    """Tell whether a ratio of the times of a result without overhead means anything.

    Args:
        result: The result.

    Returns:
        False if in some epoch no more was left than what the overhead itself may be off by.
    """
    return result.overhead.kind == NO_OVERHEAD.kind or all(
        seconds > result.overhead.uncertainty_ns / 1e9 for seconds in result.values(Measure.ELAPSED)
    )


def ratio_of(
    base: Result,
    own: Result,
    compare: Callable[[Sequence[float], Sequence[float]], Ratio],
    *,
    measure: Measure = Measure.ELAPSED,
    raw: bool = False,
    paired: bool = True,
) -> Ratio:
    """Compare two results, per unit.

    Args:
        base: What is compared with.
        own: What is compared.
        compare: Makes a ratio of the values of both, base first.
        measure: What is compared: by default times.
        raw: Whether nothing is to be taken away from what was measured.
        paired: Whether both were measured together. If so, equal overheads are the same one, and
            are wrong for both alike.

    Returns:
        How many times as fast `own` is: base divided by own. The interval of corrected times also
        covers that the overhead is not known exactly.
    """
    ratio = compare(_per_unit(base, measure, raw), _per_unit(own, measure, raw))
    if raw or measure is not Measure.ELAPSED or ratio.low is None or ratio.high is None:
        return ratio
    low, high = ratio.low, ratio.high
    for base_ns, own_ns in _doubts(base.overhead, own.overhead, paired):
        other = compare(
            _per_unit(base, measure, raw, base_ns), _per_unit(own, measure, raw, own_ns)
        )
        if other.low is not None and other.high is not None:
            low, high = min(low, other.low), max(high, other.high)
    return attrs.evolve(ratio, low=low, high=high)


def _per_unit(result: Result, measure: Measure, raw: bool, more_ns: float = 0.0) -> list[float]:
    """Give the values per unit; times with some more ns per iteration taken away."""
    values = result.raw_values(measure) if raw else result.values(measure)
    batch = result.config.batch
    return [(value - more_ns / 1e9) / batch for value in values]


def _doubts(base: Overhead, own: Overhead, paired: bool) -> Iterator[tuple[float, float]]:
    """Give how far the overhead of both may be off, in ns per iteration, at the worst."""
    if base.uncertainty_ns == own.uncertainty_ns == 0.0:
        return
    # One overhead for both is wrong for both alike, so it can never turn the faster one into the
    # slower one. Two of them may be wrong in opposite directions.
    sign = 1.0 if paired and base == own else -1.0
    yield base.uncertainty_ns, sign * own.uncertainty_ns
    yield -base.uncertainty_ns, -sign * own.uncertainty_ns
