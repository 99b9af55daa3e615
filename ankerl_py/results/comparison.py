"""What a paired comparison found: for each alternative, how many times as fast it is."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import attrs

from ankerl_py.errors import ConfigError, SlowerError
from ankerl_py.results.measure import Measure
from ankerl_py.results.ratio import (
    ITSELF,
    NOTHING,
    Ratio,
    can_be_corrected,
    compare_values,
    ratio_of,
)
from ankerl_py.statistics import intervals, robust
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self  # type checkers know it, installed or not

    from ankerl_py.results.result import Result

__all__ = ["CompareEntry", "Comparison", "check_percent"]


@attrs.frozen
class CompareEntry:
    """One of the alternatives of a comparison."""

    result: Result
    """What was measured: epoch k is that of round k, for each of the alternatives."""

    ratio: Ratio
    """How many times as fast as the baseline it is; 1 for the baseline itself."""

    raw_ratio: Ratio
    """The same of the raw times, from which no overhead was subtracted."""

    @property
    def name(self) -> str:
        """The name of the alternative."""
        return self.result.name

    @property
    def relative(self) -> float | None:
        """The value of `ratio`: 2.0 is twice as fast as the baseline."""
        return self.ratio.value

    @property
    def is_significant(self) -> bool:
        """Whether it is faster or slower than the baseline for sure."""
        return self.ratio.is_significant


@attrs.frozen
class Comparison:
    """The alternatives of a paired experiment, in the order in which they were given.

    Iterating gives the entries; ``comparison["name"]`` gives the one of that name.
    """

    entries: tuple[CompareEntry, ...]
    """The alternatives. The first one that could be measured is the baseline."""

    rounds: int
    """How many rounds there were, in each of which each alternative had one epoch."""

    corrected: bool = True
    """Whether the ratios are those of times without overhead.

    They are of raw times if an alternative takes so little time that hardly anything is left of it:
    a ratio of such remains would mean nothing.
    """

    anytime: bool = False
    """Whether the intervals are right whenever one stops to measure, and wider for it."""

    until: float | None = None
    """Below how many percent of width the intervals should get, None if that was not asked for."""

    @classmethod
    def of(
        cls, results: Sequence[Result], *, anytime: bool = False, until: float | None = None
    ) -> Self:
        """Compare results of the same rounds.

        Args:
            results: One for each alternative, the baseline first; epoch k of each is of round k.
            anytime: Whether someone looked at the intervals before to decide when to stop.
            until: Below how many percent of width they should get.

        Returns:
            The comparison.
        """
        measured = [result for result in results if not result.overflowed]
        corrected = all(map(can_be_corrected, measured))
        compare = partial(compare_values, confidence=_confidence(len(results)), anytime=anytime)
        entries = []
        for result in results:
            raw_ratio = ratio = NOTHING
            if measured and result is measured[0]:
                raw_ratio = ratio = ITSELF
            elif not result.overflowed:
                raw_ratio = ratio = ratio_of(measured[0], result, compare, raw=True)
                if corrected:
                    ratio = ratio_of(measured[0], result, compare)
            entries.append(CompareEntry(result, ratio, raw_ratio))
        rounds = min(map(len, measured), default=0)
        return cls(tuple(entries), rounds, corrected, anytime, until)

    # ------------------------------------------------------------------ entries

    def __len__(self) -> int:
        """Count the alternatives."""
        return len(self.entries)

    def __iter__(self) -> Iterator[CompareEntry]:
        return iter(self.entries)

    def __getitem__(self, name: str) -> CompareEntry:
        """Find an alternative by its name.

        Raises:
            KeyError: There is none of that name.
        """
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(name)

    @property
    def results(self) -> tuple[Result, ...]:
        """What was measured, one result for each alternative."""
        return tuple(entry.result for entry in self.entries)

    @property
    def measured(self) -> tuple[CompareEntry, ...]:
        """The alternatives that could be measured, in order."""
        return tuple(entry for entry in self.entries if not entry.result.overflowed)

    @property
    def baseline(self) -> CompareEntry | None:
        """What the others are compared with; None if nothing could be measured."""
        return self.measured[0] if self.measured else None

    @property
    def fastest(self) -> CompareEntry | None:
        """The alternative of the smallest median time per unit; of equal ones the first."""
        ranking = self.ranking
        return ranking[0] if ranking else None

    @property
    def ranking(self) -> tuple[CompareEntry, ...]:
        """The alternatives by their median time per unit, fastest first."""
        return tuple(sorted(self.measured, key=self._median_per_unit))

    def _median_per_unit(self, entry: CompareEntry) -> float:
        result = entry.result
        values = (result.values if self.corrected else result.raw_values)(Measure.ELAPSED)
        return robust.median(values) / result.config.batch

    # ------------------------------------------------------------------ figures

    @property
    def num_comparisons(self) -> int:
        """How many intervals have to be right together: one for each beside the baseline."""
        return max(0, len(self.entries) - 1)

    @property
    def confidence(self) -> float:
        """The confidence of each interval, so that all together have 95 %."""
        return _confidence(len(self.entries))

    @property
    def lead(self) -> Ratio:
        """How many times as fast the fastest alternative is as the second fastest one."""
        ranking = self.ranking
        if len(ranking) < 2:
            return NOTHING
        first, second = (entry.result for entry in ranking[:2])
        return ratio_of(second, first, self._compare, raw=not self.corrected)

    @property
    def widest_percent(self) -> float:
        """Width of the widest interval in percent; infinite if one is missing."""
        return max((entry.ratio.width_percent for entry in self.measured[1:]), default=math.inf)

    def ratios(self, measure: Measure | str) -> tuple[Ratio, ...]:
        """Compare the alternatives by another measure, round by round.

        Args:
            measure: A measure or its name, such as ``"instructions"``.

        Returns:
            One ratio for each entry: how many times as many events the *baseline* had, so that as
            with times more than 1 is better. Its value is None where something was not counted.

        Raises:
            ConfigError: There is no such measure.
        """
        known = Measure.parse(measure)
        if known is None:
            raise ConfigError(f"{shown(measure)} is no measure - there are {', '.join(Measure)}")
        if known is Measure.ELAPSED:
            return tuple(entry.ratio for entry in self.entries)
        base = self.baseline
        return tuple(
            ITSELF
            if entry is base and entry.result.has(known)
            else NOTHING
            # Without a count for each round it is not known which of them belong together.
            if base is None or not self.rounds == _count(base, known) == _count(entry, known)
            else ratio_of(base.result, entry.result, self._compare, measure=known)
            for entry in self.entries
        )

    def _compare(self, above: Sequence[float], below: Sequence[float]) -> Ratio:
        return compare_values(above, below, self.confidence, anytime=self.anytime)

    def raise_if_slower(self, percent: float) -> None:
        """Fail if an alternative is slower than the baseline, for use in tests and CI.

        It is not enough that it seems so: the whole interval has to be beyond the limit. So this
        fails without reason in less than 5 % of all comparisons.

        Args:
            percent: How much more time than the baseline an alternative may take.

        Raises:
            SlowerError: An alternative takes more time than that for sure; or it could not be
                measured well enough to be compared at all.
            ConfigError: The limit is no number of 0 or more.
        """
        limit = 1.0 / (1.0 + check_percent(percent) / 100.0)
        base = self.baseline
        complaints = []
        for entry in self.entries:
            if entry is base:
                continue
            slowness = entry.ratio.inverse()
            if entry.ratio.high is None:
                complaints.append(f"{entry.name!r} could not be compared{_why(entry)}")
            elif entry.ratio.high < limit:
                complaints.append(
                    f"{entry.name!r} takes {_more(slowness.value)} more time than "
                    f"{base.name if base else ''!r}, at least {_more(slowness.low)}"
                )
        if complaints:
            raise SlowerError(f"{'; '.join(complaints)} - allowed: {percent:g}% more")


def _confidence(num_alternatives: int) -> float:
    return intervals.bonferroni_confidence(num_alternatives - 1)


def _count(entry: CompareEntry, measure: Measure) -> int:
    return len(entry.result.values(measure))


def _why(entry: CompareEntry) -> str:
    return f": {entry.result.failure}" if entry.result.failure else ", the rounds are too few"


def _more(slowness: float | None) -> str:
    return "?" if slowness is None else f"{100.0 * (slowness - 1.0):.3g}%"


def check_percent(percent: float) -> float:
    """Check a limit in percent.

    Returns:
        The limit.

    Raises:
        ConfigError: It is no finite number of 0 or more.
    """
    if isinstance(percent, bool) or not isinstance(percent, (int, float)):
        raise ConfigError(f"percent: {shown(percent)} is no number")
    if not 0.0 <= percent < math.inf:
        raise ConfigError(f"percent: {shown(percent)} is not a finite number of 0 or more")
    return float(percent)
