"""Two runs of the same benchmarks, compared with each other: what has become slower, or faster?

The epochs of two runs have nothing that pairs them. So the interval is that of the rank sum test,
for the shift between the logarithms of the epochs of both (see `ankerl_py.statistics.intervals`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

import attrs

from ankerl_py.errors import ConfigError, SlowerError
from ankerl_py.results.comparison import check_percent
from ankerl_py.results.measure import Measure
from ankerl_py.results.ratio import NOTHING, Ratio, can_be_corrected, exp, ratio_of
from ankerl_py.statistics import intervals
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Self  # type checkers know it, installed or not

    from ankerl_py.results.result import Result

__all__ = ["Change", "RunsComparison"]


@attrs.frozen
class Change:
    """A benchmark that is in both runs."""

    old: Result
    """Its result in the old run."""

    new: Result
    """Its result in the new run."""

    ratio: Ratio
    """How many times as fast it is now: below 1 it has become slower."""

    corrected: bool = True
    """Whether the ratio is that of times without overhead; of raw times if hardly any is left."""

    @property
    def title(self) -> str:
        """The title of its table."""
        return self.new.title

    @property
    def name(self) -> str:
        """Its name."""
        return self.new.name

    @property
    def is_slower(self) -> bool:
        """Whether it has become slower for sure."""
        return self.ratio.is_significant and self.ratio.high is not None and self.ratio.high < 1.0

    @property
    def is_faster(self) -> bool:
        """Whether it has become faster for sure."""
        return self.ratio.is_significant and not self.is_slower


@attrs.frozen
class RunsComparison:
    """Two runs, benchmark by benchmark."""

    changes: tuple[Change, ...]
    """What is in both runs, in the order of the new one."""

    only_old: tuple[Result, ...]
    """Results that the new run does not have."""

    only_new: tuple[Result, ...]
    """Results that the old run does not have."""

    measure: Measure = Measure.ELAPSED
    """What is compared."""

    @classmethod
    def of(
        cls,
        old: Iterable[Result],
        new: Iterable[Result],
        measure: Measure | str = Measure.ELAPSED,
    ) -> Self:
        """Compare two runs.

        Args:
            old: The results of the old run.
            new: The results of the new run. Results belong together that have the same title, name,
                unit and problem size; of several such ones the first with the first, and so on.
            measure: What should be compared.

        Returns:
            The comparison.

        Raises:
            ConfigError: There is no such measure.
        """
        known = Measure.parse(measure)
        if known is None:
            raise ConfigError(f"{shown(measure)} is no measure - there are {', '.join(Measure)}")
        waiting: dict[object, list[Result]] = defaultdict(list)
        for result in old:
            waiting[_key(result)].append(result)
        pairs, only_new = [], []
        for result in new:
            same = waiting[_key(result)]
            if same:
                pairs.append((same.pop(0), result))
            else:
                only_new.append(result)
        confidence = intervals.bonferroni_confidence(len(pairs))
        return cls(
            tuple(_change(each, now, known, confidence) for each, now in pairs),
            tuple(result for left in waiting.values() for result in left),
            tuple(only_new),
            known,
        )

    def __len__(self) -> int:
        """Count the benchmarks that are in both runs."""
        return len(self.changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    @property
    def slower(self) -> tuple[Change, ...]:
        """What has become slower for sure."""
        return tuple(change for change in self.changes if change.is_slower)

    @property
    def faster(self) -> tuple[Change, ...]:
        """What has become faster for sure."""
        return tuple(change for change in self.changes if change.is_faster)

    @property
    def confidence(self) -> float:
        """The confidence of each interval, so that all together have 95 %."""
        return intervals.bonferroni_confidence(len(self.changes))

    def raise_if_slower(self, percent: float) -> None:
        """Fail if a benchmark has become slower, for use in CI.

        The whole interval has to be beyond the limit. What is in one run only is no reason to
        fail, and neither is what could not be compared in the old run.

        Args:
            percent: How much more than in the old run a benchmark may take.

        Raises:
            SlowerError: One takes more for sure, or fails now and did not before.
            ConfigError: The limit is no number of 0 or more.
        """
        limit = 1.0 / (1.0 + check_percent(percent) / 100.0)
        complaints = []
        for change in self.changes:
            if change.new.overflowed and not change.old.overflowed:
                complaints.append(f"{change.name!r} fails: {change.new.failure}")
            elif change.ratio.high is not None and change.ratio.high < limit:
                slowness = change.ratio.inverse()
                more, least = (
                    100.0 * ((x or math.inf) - 1.0) for x in (slowness.value, slowness.low)
                )
                complaints.append(f"{change.name!r} takes {more:.3g}% more, at least {least:.3g}%")
        if complaints:
            raise SlowerError(f"{'; '.join(complaints)} - allowed: {percent:g}% more")


def _key(result: Result) -> tuple[object, ...]:
    return result.title, result.name, result.unit, result.config.complexity_n


def _change(old: Result, new: Result, measure: Measure, confidence: float) -> Change:
    if old.overflowed or new.overflowed:
        return Change(old, new, NOTHING)
    corrected = can_be_corrected(old) and can_be_corrected(new)
    raw = measure is Measure.ELAPSED and not corrected
    compare = partial(_compare, confidence=confidence)
    ratio = ratio_of(old, new, compare, measure=measure, raw=raw, paired=False)
    return Change(old, new, ratio, not raw)


def _compare(above: Sequence[float], below: Sequence[float], confidence: float) -> Ratio:
    logs, others = (
        [math.log(value) for value in values if value > 0.0] for values in (above, below)
    )
    dropped = len(above) + len(below) - len(logs) - len(others)
    if not (logs and others):
        return Ratio(None, dropped_rounds=dropped)
    ends = intervals.shift_interval(logs, others, confidence)
    low, high = (None, None) if ends is None else map(exp, ends)
    number = min(len(logs), len(others))
    return Ratio(exp(intervals.shift(logs, others)), low, high, number, 0, dropped)
