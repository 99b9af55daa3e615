"""Epochs: as the clock and the counters saw them, and without the cost of measuring.

Raw and corrected measurements are different types, so that none can be taken for the other.
"""

from __future__ import annotations

import math
import operator
import struct
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from ankerl_py.results.measure import COUNTER_MEASURES, Measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "MAX_ELAPSED_NS",
    "MAX_EVENTS",
    "NO_OVERHEAD",
    "CorrectedMeasurement",
    "EpochColumns",
    "Overhead",
    "RawMeasurement",
]

MAX_ELAPSED_NS = 2**63 - 1
"""The longest time of an epoch, in ns (292 years): clocks count in 63 bits."""

MAX_EVENTS = 2**64 - 1
"""The largest count of iterations or of events: counters have 64 bits."""


def _check_whole_number(name: str, value: int, minimum: int, maximum: int) -> int:
    try:
        number = int(operator.index(value))
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not a whole number (int)") from None
    if not minimum <= number <= maximum:
        raise ValueError(f"{name}: {number} is not from {minimum} to {maximum}")
    return number


def _check_elapsed_ns(value: int) -> int:
    return _check_whole_number("elapsed_ns", value, 0, MAX_ELAPSED_NS)


def _check_iterations(value: int) -> int:
    return _check_whole_number("iterations", value, 1, MAX_EVENTS)


def _check_counters(counters: Mapping[Measure, int]) -> Mapping[Measure, int]:
    given: dict[Measure, int] = {}
    for key, value in counters.items():
        measure = Measure.parse(key)
        if measure is None or measure not in COUNTER_MEASURES:
            names = ", ".join(counter.value for counter in COUNTER_MEASURES)
            raise ValueError(f"counters: {key!r} is not a counter - counters are {names}")
        given[measure] = _check_whole_number(measure.value, value, 0, MAX_EVENTS)
    return MappingProxyType({key: given[key] for key in COUNTER_MEASURES if key in given})


_NO_COUNTERS: Mapping[Measure, int] = MappingProxyType({})


@attrs.frozen
class RawMeasurement:
    """What the clock and the counters said about one epoch, with nothing taken away.

    Raises:
        TypeError: A number is not an integer.
        ValueError: A number is out of its range, or there is no such counter.
    """

    elapsed_ns: int = attrs.field(converter=_check_elapsed_ns)
    """Time of the whole epoch in nanoseconds, 0 or more."""

    iterations: int = attrs.field(converter=_check_iterations)
    """How often the operation was called in the epoch, at least once."""

    counters: Mapping[Measure, int] = attrs.field(
        default=_NO_COUNTERS, converter=_check_counters, hash=False
    )
    """Totals of the epoch, of those counters that were available. It is read-only."""

    def __reduce__(self) -> tuple[type[RawMeasurement], tuple[int, int, dict[Measure, int]]]:
        # A read-only view of a dict can be neither pickled nor deeply copied.
        return (type(self), (self.elapsed_ns, self.iterations, dict(self.counters)))


@attrs.frozen
class CorrectedMeasurement:
    """The time of one epoch without the cost of measuring."""

    elapsed_ns: float
    """Time of the epoch in nanoseconds that is left for the operation, never below 0."""

    iterations: int
    """How often the operation was called in the epoch."""

    subtracted_ns: float
    """What was taken away: together with `elapsed_ns` it gives the raw time again, exactly."""


def _check_cost(_overhead: Overhead, attribute: attrs.Attribute[float], value: float) -> None:
    if not 0.0 <= value < math.inf:
        raise ValueError(f"{attribute.name}: {value!r} is not a finite number >= 0")


@attrs.frozen
class Overhead:
    """What measuring itself costs, as calibrated for one kind of operation.

    Raises:
        ValueError: A cost is negative, infinite or NaN.
    """

    fixed_ns: float = attrs.field(default=0.0, converter=float, validator=_check_cost)
    """Cost of reading the clock, in nanoseconds per epoch."""

    per_iteration_ns: float = attrs.field(default=0.0, converter=float, validator=_check_cost)
    """Cost of the loop, and of calling an empty operation, in nanoseconds per iteration."""

    uncertainty_ns: float = attrs.field(default=0.0, converter=float, validator=_check_cost)
    """How much of a corrected time may be an error of calibration, in ns per iteration."""

    kind: str = "none"
    """The kind of operation; ``"none"`` if nothing is corrected."""

    def split(self, elapsed_ns: int, iterations: int) -> tuple[float, float]:
        """Split the time of an epoch into that of the operation and that of measuring.

        Args:
            elapsed_ns: Raw time of the epoch in nanoseconds.
            iterations: Number of iterations of the epoch.

        Returns:
            The two times in nanoseconds. Neither is negative, and their sum is exactly the raw time
            (as a float): what is subtracted is rounded to the raw time's own precision.
        """
        raw = float(elapsed_ns)
        subtracted = min(self.fixed_ns + self.per_iteration_ns * float(iterations), raw)
        # Multiples of the raw time's last bit can be added and subtracted without rounding.
        step = math.ulp(raw)
        subtracted = float(round(subtracted / step)) * step
        return raw - subtracted, subtracted

    def correct(self, raw: RawMeasurement) -> CorrectedMeasurement:
        """Take the cost of measuring out of an epoch.

        Args:
            raw: What the clock said.

        Returns:
            The time of the operation, and what was subtracted.
        """
        elapsed_ns, subtracted_ns = self.split(raw.elapsed_ns, raw.iterations)
        return CorrectedMeasurement(elapsed_ns, raw.iterations, subtracted_ns)


NO_OVERHEAD = Overhead()
"""Measuring costs nothing, or nobody wants it to be subtracted."""


_layouts: dict[tuple[Measure, ...], tuple[Measure, ...]] = {}
"""The sets of counters seen so far, at most 64, so that equal ones are shared."""

_NOTHING_MISSING: frozenset[tuple[Measure, int]] = frozenset()

_WORD_BYTES = 8
_COLUMNS_BEFORE_COUNTERS = 2
"""Elapsed time and iterations, which every epoch has."""


@attrs.frozen(repr=False)
class EpochColumns:
    """The raw measurements of a benchmark, without an object per epoch.

    A hundred thousand results have to fit in memory. So there is one string of little-endian words
    of 64 bits, column after column: elapsed times in ns, iterations, then the totals of each of the
    counters.
    """

    _words: bytes
    _counters: tuple[Measure, ...]
    # The counters and epochs whose word says nothing.
    _missing: frozenset[tuple[Measure, int]]

    @classmethod
    def pack(cls, raws: Iterable[RawMeasurement]) -> EpochColumns:
        """Store measurements.

        Args:
            raws: One for each epoch, in order.

        Returns:
            The columns.
        """
        epochs = tuple(raws)
        counters = tuple(key for key in COUNTER_MEASURES if any(key in e.counters for e in epochs))
        words = [epoch.elapsed_ns for epoch in epochs] + [epoch.iterations for epoch in epochs]
        for key in counters:
            words += [epoch.counters.get(key, 0) for epoch in epochs]
        missing = {
            (key, i) for key in counters for i, e in enumerate(epochs) if key not in e.counters
        }
        return cls(
            words=struct.pack(f"<{len(words)}Q", *words),
            counters=_layouts.setdefault(counters, counters),
            missing=frozenset(missing) if missing else _NOTHING_MISSING,
        )

    def __len__(self) -> int:
        """Count the epochs."""
        columns = _COLUMNS_BEFORE_COUNTERS + len(self._counters)
        return len(self._words) // (_WORD_BYTES * columns)

    @property
    def elapsed_ns(self) -> tuple[int, ...]:
        """Raw times of the epochs in nanoseconds."""
        return self._column(0)

    @property
    def iterations(self) -> tuple[int, ...]:
        """Number of iterations of each epoch."""
        return self._column(1)

    def counts(self, counter: Measure) -> tuple[int | None, ...]:
        """Give the totals of a counter.

        Args:
            counter: The counter.

        Returns:
            One total per epoch, None where there was none; nothing if no epoch has that counter.
        """
        if counter not in self._counters:
            return ()
        column = self._column(_COLUMNS_BEFORE_COUNTERS + self._counters.index(counter))
        if not self._missing:
            return column
        return tuple(
            None if (counter, i) in self._missing else count for i, count in enumerate(column)
        )

    def unpack(self) -> tuple[RawMeasurement, ...]:
        """Give the measurements as they were stored, one for each epoch."""
        counts = {counter: self.counts(counter) for counter in self._counters}
        return tuple(
            RawMeasurement(
                elapsed_ns,
                iterations,
                {key: count for key, column in counts.items() if (count := column[i]) is not None},
            )
            for i, (elapsed_ns, iterations) in enumerate(
                zip(self.elapsed_ns, self.iterations, strict=True)
            )
        )

    def _column(self, position: int) -> tuple[int, ...]:
        size = len(self)
        return struct.unpack_from(f"<{size}Q", self._words, position * size * _WORD_BYTES)
