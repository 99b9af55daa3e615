"""What the harness itself costs: reading the clock, the loop, and the call of an empty op.

An epoch of n iterations costs ``fixed + n * per_iteration`` beside its op. Both are measured
with the *empty twin* of the loop that measures the op (see :mod:`ankerl_py.core.loops`):

* ``fixed``, by epochs of no iterations, once per process and kind of loop;
* ``per_iteration``, by short epochs of the twin *between* the epochs of the op, for each run anew.

The second one is not cached on purpose. On a virtual machine, an empty call that took 15 ns takes
16.5 ns a second later, and the first millisecond of a process may run a third slower than
the rest. Measured over 120 runs of empty functions, a figure from the start of the process was
off by up to 6 ns; figures taken during the run were off by 0.02 ns in the median. Twins that ran
as often as the op also know what the first call after a pause costs, which is all there is
when an epoch has only few iterations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ankerl_py.core.loops import MAX_SIGNAL_INTERVAL
from ankerl_py.results.measurement import NO_OVERHEAD, Overhead
from ankerl_py.statistics.robust import median

if TYPE_CHECKING:
    from ankerl_py.core.loops import Loop

__all__ = [
    "LoopMeter",
    "OverheadMeter",
    "PairMeter",
    "fixed_overhead_ns",
    "measure_fixed_overhead_ns",
]

FIXED_SAMPLES: Final = 201
"""Epochs without iterations, 0.3 to 1 us each."""

TWIN_TIME_NS: Final = 40_000
"""About how long an epoch of the twin lasts: long against the clock's resolution, short
against the millisecond of the op's epochs."""

TWIN_EPOCHS: Final = 2
"""So many of them follow each epoch of the op."""

TWIN_WARMUP: Final = 64
"""The interpreter specialises a function after a few calls; the op is past that, too."""

PAIR_SAMPLES: Final = 2000
"""So many empty pairs are measured before the op, where each iteration is timed alone."""

PAIRS_AT_ONCE: Final = 50
"""So many pairs are averaged: enough to see a tenth of the clock's step."""

PAIR_EPOCHS: Final = 4
"""So many times that many more follow each epoch of the op."""

LAYOUT_SPREAD: Final = 0.03
"""Relative difference in cost between two empty functions that are the same but for where they
lie in memory: 95 % of 120 pairs were within this."""

_fixed: dict[tuple[str, str], float] = {}


def measure_fixed_overhead_ns(twin: Loop) -> float:
    """Measure what an epoch costs that does nothing: two readings of the clock.

    Args:
        twin: An empty twin.

    Returns:
        The median over many epochs without iterations, in nanoseconds.
    """
    return median([float(twin.run(0, 1)) for _ in range(FIXED_SAMPLES)])


def fixed_overhead_ns(twin: Loop, clock_name: str, *, cached: bool) -> float:
    """Give the fixed cost of an epoch in nanoseconds, measured once per process.

    Args:
        twin: An empty twin.
        clock_name: Name of the clock it reads.
        cached: False for a clock of the user's own, which is measured each time: it may be a
            different one under an old name.

    Returns:
        Nanoseconds per epoch.
    """
    if not cached:
        return measure_fixed_overhead_ns(twin)
    key = (type(twin).__name__, clock_name)
    if key not in _fixed:
        _fixed[key] = measure_fixed_overhead_ns(twin)
    return _fixed[key]


class OverheadMeter(Protocol):
    """Measures the overhead of one run, bit by bit between its epochs."""

    def sample(self, iterations: int) -> None:
        """Measure a little; to be called after each epoch of the op that is recorded.

        Args:
            iterations: How many iterations that epoch had.
        """

    def overhead(self) -> Overhead:
        """Give what was measured, and how far it may be off."""


class LoopMeter:
    """Measures the overhead of a loop: of an epoch, and of each of its iterations."""

    def __init__(self, twin: Loop, fixed_ns: float) -> None:
        """Prepare to measure with an empty twin whose fixed cost per epoch is known."""
        self._twin = twin
        self._fixed_ns = fixed_ns
        self._samples: list[float] = []  # ns per iteration
        self._affordable = 1000  # iterations that take about as long as they should
        twin.run(TWIN_WARMUP, MAX_SIGNAL_INTERVAL)

    def sample(self, iterations: int) -> None:
        """Run the twin a little.

        Args:
            iterations: How many iterations the op's epoch had. The twin does as many, or as many
                as fill its time.
        """
        for _ in range(TWIN_EPOCHS):
            n = min(iterations, self._affordable)
            elapsed_ns = self._twin.run(n, MAX_SIGNAL_INTERVAL)
            self._samples.append((elapsed_ns - self._fixed_ns) / n)
            # Not many more than this time: it may have been a hiccup of a slow clock.
            wanted = int(TWIN_TIME_NS / max(elapsed_ns / n, 0.5))
            self._affordable = max(1, min(wanted, 10 * n))

    def overhead(self) -> Overhead:
        """Give what was measured.

        Returns:
            Median of the samples, and how far it may be off: their spread, and what the
            memory layout does to an empty function.
        """
        if not self._samples:
            return NO_OVERHEAD
        per_iteration_ns = max(0.0, median(self._samples))
        deviation_ns = median([abs(sample - per_iteration_ns) for sample in self._samples])
        return Overhead(
            fixed_ns=self._fixed_ns,
            per_iteration_ns=per_iteration_ns,
            uncertainty_ns=max(deviation_ns, LAYOUT_SPREAD * per_iteration_ns),
            kind=self._twin.kind,
        )


class PairMeter:
    """Measures what an empty pair of clock readings costs, where each iteration is timed alone.

    It is the *minimum* that counts: before each pair of the op, the way into it was made warm, so
    it costs what an undisturbed pair costs. A minimum over single pairs would be a multiple of the
    clock's step; so it is one over the means of short epochs of the twin.
    """

    def __init__(self, twin: Loop) -> None:
        """Prepare to measure with an empty twin."""
        self._twin = twin
        self._samples: list[float] = []  # ns per iteration
        for _ in range(PAIR_SAMPLES // PAIRS_AT_ONCE):
            self._measure()
        # The first ones were not warm.
        del self._samples[: len(self._samples) // 4]

    def _measure(self) -> None:
        elapsed_ns = self._twin.run(PAIRS_AT_ONCE, MAX_SIGNAL_INTERVAL)
        self._samples.append(elapsed_ns / PAIRS_AT_ONCE)

    def sample(self, iterations: int) -> None:  # noqa: ARG002 (a pair does not depend on it)
        """Run the twin a little."""
        for _ in range(PAIR_EPOCHS):
            self._measure()

    def overhead(self) -> Overhead:
        """Give what was measured.

        Returns:
            The minimum of the samples; what it may be off is how far half of them are away from
            it, and what the memory layout does to an empty function.
        """
        per_iteration_ns = max(0.0, min(self._samples))
        return Overhead(
            fixed_ns=0.0,
            per_iteration_ns=per_iteration_ns,
            uncertainty_ns=max(
                median(self._samples) - per_iteration_ns, LAYOUT_SPREAD * per_iteration_ns
            ),
            kind=self._twin.kind,
        )
