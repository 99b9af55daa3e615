"""The result of one benchmark: its settings and the measurements of its epochs."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import attrs

from ankerl_py.errors import UnknownContextError
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import (
    NO_OVERHEAD,
    CorrectedMeasurement,
    EpochColumns,
    Overhead,
    RawMeasurement,
)
from ankerl_py.statistics import robust
from ankerl_py.statistics.counters import correct_branch_instructions, correct_branch_misses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ankerl_py.config import Config

__all__ = ["Result"]


@attrs.frozen(repr=False)
class Result:
    """The result of one benchmark, immutable and compared by value.

    Make it with `from_measurements`. Wherever a measure is asked for, a `Measure` or its name will
    do. One that was not recorded, or does not exist, reads as "no data": `has` is False, there are
    no values, and every statistic is 0.0.

    Counters may be missing in some epochs; the statistics then cover the other ones.
    """

    config: Config
    """The settings that the benchmark ran with, its title, name and unit among them."""

    overhead: Overhead
    """What was subtracted from the raw times."""

    failure: str | None
    """Why the benchmark could not be measured, or None."""

    _epochs: EpochColumns

    stopped_early: bool = False
    """Whether there was no time for all epochs, or for epochs as long as they should be."""

    @classmethod
    def from_measurements(
        cls,
        config: Config,
        raws: Iterable[RawMeasurement],
        overhead: Overhead = NO_OVERHEAD,
        failure: str | None = None,
        *,
        stopped_early: bool = False,
    ) -> Result:
        """Make a result.

        Args:
            config: The settings that the benchmark ran with.
            raws: What was measured, one for each epoch, in order.
            overhead: What measuring costs by itself; it is subtracted by the accessors.
            failure: Why the benchmark could not be measured, or None if it could.
            stopped_early: Whether there was no time for all of it.

        Returns:
            The result.
        """
        return cls(config, overhead, failure, EpochColumns.pack(raws), stopped_early)

    @property
    def title(self) -> str:
        """The title of the table that the result belongs to."""
        return self.config.title

    @property
    def name(self) -> str:
        """The name of the benchmark."""
        return self.config.name

    @property
    def unit(self) -> str:
        """The unit of what one iteration processes `Config.batch` of."""
        return self.config.unit

    def context(self, name: str) -> str:
        """Give the value of a context variable.

        Args:
            name: The name of the variable.

        Returns:
            The value that it had when the benchmark ran.

        Raises:
            UnknownContextError: It was not set. (This is a ``KeyError``, too.)
        """
        context = self.config.context
        if name not in context:
            known = ", ".join(map(repr, context)) or "none"
            raise UnknownContextError(
                f"{name!r} is not a context variable of {self.name!r} - known are: {known}"
            )
        return context[name]

    def __len__(self) -> int:
        """Count the epochs."""
        return len(self._epochs)

    @property
    def empty(self) -> bool:
        """Whether there are no epochs."""
        return not self._epochs

    @property
    def overflowed(self) -> bool:
        """Whether the benchmark could not be measured; `failure` says why."""
        return self.failure is not None

    @property
    def raw(self) -> tuple[RawMeasurement, ...]:
        """What the clock and the counters said, epoch by epoch, with nothing taken away."""
        return self._epochs.unpack()

    @property
    def corrected(self) -> tuple[CorrectedMeasurement, ...]:
        """The times without the cost of measuring, epoch by epoch."""
        return tuple(self.overhead.correct(raw) for raw in self.raw)

    @property
    def total_seconds(self) -> float:
        """How long all epochs took together: raw time in seconds."""
        return sum(self._epochs.elapsed_ns) / 1e9

    @property
    def at_noise_floor(self) -> bool:
        """Whether the time cannot be told from that of an empty operation.

        Overhead was subtracted, and what is left per iteration, in the median, is not more than the
        overhead's own uncertainty; or it is less than a tenth of the overhead, and differs between
        the epochs by half of itself and more.
        """
        overhead = self.overhead
        if overhead.kind == NO_OVERHEAD.kind or self.empty:
            return False
        times_ns = [epoch.elapsed_ns / epoch.iterations for epoch in self.corrected]
        median_ns = robust.median(times_ns)
        if median_ns <= overhead.uncertainty_ns:
            return True
        small = median_ns < overhead.per_iteration_ns / 10
        return small and robust.median_absolute_percent_error(times_ns) >= 0.5

    def has(self, measure: Measure | str) -> bool:
        """Tell whether a measure was recorded in any epoch.

        Args:
            measure: A measure or its name.

        Returns:
            Whether there is data.
        """
        return bool(self.values(measure))

    def values(self, measure: Measure | str) -> tuple[float, ...]:
        """Give what was measured, without the cost of measuring.

        Args:
            measure: A measure or its name.

        Returns:
            One value per epoch that recorded the measure, in order, per iteration: seconds for
            ``elapsed``, counts for the counters. ``iterations`` itself is the count of the epoch.
        """
        return tuple(value for value in self._series(measure) if value is not None)

    def raw_values(self, measure: Measure | str) -> tuple[float, ...]:
        """Give what was measured, with nothing taken away.

        Args:
            measure: A measure or its name.

        Returns:
            As `values`, but of the raw times and counts.
        """
        return tuple(value for value in self._series(measure, raw=True) if value is not None)

    def get(self, epoch_index: int, measure: Measure | str) -> float:
        """Give one measured value.

        Args:
            epoch_index: Number of the epoch, from 0; negative numbers count from the end.
            measure: A measure or its name.

        Returns:
            The value per iteration as in `values`; 0.0 if that epoch did not record it.

        Raises:
            IndexError: There is no such epoch.
        """
        size = len(self)
        index = operator.index(epoch_index)
        if not -size <= index < size:
            there_are = _count_epochs(size)
            raise IndexError(f"epoch {index} of {self.name!r} does not exist: it has {there_are}")
        series = self._series(measure)
        return (series[index] if series else None) or 0.0

    def median(self, measure: Measure | str) -> float:
        """Compute the median over the epochs.

        Args:
            measure: A measure or its name.

        Returns:
            The median of `values`.
        """
        return robust.median(self.values(measure))

    def average(self, measure: Measure | str) -> float:
        """Compute the arithmetic mean over the epochs.

        Args:
            measure: A measure or its name.

        Returns:
            The mean of `values`.
        """
        return robust.average(self.values(measure))

    def median_absolute_percent_error(self, measure: Measure | str) -> float:
        """Compute how far the epochs typically are from their median.

        Args:
            measure: A measure or its name.

        Returns:
            The error as a fraction (0.05 is 5 %); infinite if half of `values` are 0 and the median
            is not.
        """
        return robust.median_absolute_percent_error(self.values(measure))

    def sum(self, measure: Measure | str) -> float:
        """Add what was measured in the epochs.

        Args:
            measure: A measure or its name.

        Returns:
            The sum of `values`, which are per iteration. See `sum_product` for totals.
        """
        return robust.total(self.values(measure))

    def sum_product(self, measure_a: Measure | str, measure_b: Measure | str) -> float:
        """Add the products of two measures.

        ``sum_product("iterations", "instructions")`` is the number of all instructions.

        Args:
            measure_a: A measure or its name.
            measure_b: Another one, or the same.

        Returns:
            The sum over the epochs; 0.0 if the two were not recorded in the same epochs.
        """
        series_a, series_b = self._series(measure_a), self._series(measure_b)
        if [value is None for value in series_a] != [value is None for value in series_b]:
            return 0.0
        return robust.total_product(self.values(measure_a), self.values(measure_b))

    def minimum(self, measure: Measure | str) -> float:
        """Find the smallest value of the epochs.

        Args:
            measure: A measure or its name.

        Returns:
            The smallest of `values`.
        """
        return robust.minimum(self.values(measure))

    def maximum(self, measure: Measure | str) -> float:
        """Find the largest value of the epochs.

        Args:
            measure: A measure or its name.

        Returns:
            The largest of `values`.
        """
        return robust.maximum(self.values(measure))

    def __repr__(self) -> str:
        parts = [repr(self.name), _count_epochs(len(self))]
        if not self.empty:
            parts.append(f"median {_format_seconds(self.median(Measure.ELAPSED))}")
        if self.failure is not None:
            parts.append(f"failed: {self.failure}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _series(self, measure: Measure | str, *, raw: bool = False) -> list[float | None]:
        """Give values per iteration, None for epochs without; nothing for an unknown measure."""
        known = Measure.parse(measure)
        iterations = self._epochs.iterations
        if known is None:
            return []
        if known is Measure.ITERATIONS:
            return [float(n) for n in iterations]
        if known is Measure.ELAPSED:
            split = (NO_OVERHEAD if raw else self.overhead).split
            times = zip(self._epochs.elapsed_ns, iterations, strict=True)
            return [split(elapsed_ns, n)[0] / 1e9 / float(n) for elapsed_ns, n in times]
        totals: Sequence[float | None]
        if known is Measure.BRANCHINSTRUCTIONS and not raw:
            totals = self._branches()
        elif known is Measure.BRANCHMISSES and not raw:
            totals = self._branch_misses()
        else:
            totals = self._epochs.counts(known)
        if not totals:
            return []
        return [
            None if total is None else float(total) / float(n)
            for total, n in zip(totals, iterations, strict=True)
        ]

    def _branches(self) -> list[int | None]:
        """Give the branches of each epoch without those of the measuring loop."""
        counts = self._epochs.counts(Measure.BRANCHINSTRUCTIONS)
        # Shorter if the counter was never there.
        return [
            None if count is None else correct_branch_instructions(count, n)
            for count, n in zip(counts, self._epochs.iterations, strict=False)
        ]

    def _branch_misses(self) -> list[float | None]:
        """Give the branch misses of each epoch without the one of the measuring loop."""
        misses = self._epochs.counts(Measure.BRANCHMISSES)
        # As in nanobench, they mean nothing where the branches were not counted.
        return [
            None if count is None or branches is None else correct_branch_misses(count, branches)
            for count, branches in zip(misses, self._branches(), strict=False)
        ]


def _count_epochs(size: int) -> str:
    return f"{size} epoch" if size == 1 else f"{size} epochs"


def _format_seconds(seconds: float) -> str:
    """Show a time with four digits in the largest unit of which there is one or more."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
