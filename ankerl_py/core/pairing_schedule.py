"""How many iterations and rounds a paired experiment gets: pure objects, without a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ankerl_py.core.schedule import OVERFLOW, target_epoch_ns
from ankerl_py.statistics.intervals import bonferroni_confidence, fewest_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ankerl_py.config import Config

__all__ = ["IterationSearch", "common_iterations", "num_rounds"]

_MAX_ITERATIONS: Final = 2.0**63

_LEAST_GROWTH, _MOST_GROWTH = 1.5, 10.0


class IterationSearch:
    """The number of iterations that makes an epoch of one alternative long enough, as nanobench.

    Ask for `iterations`, do so many, `add` how long they took; until `iterations` is 0. An epoch
    counts only if a second one with as many iterations is long enough as well: the first one may
    be so only because it was interrupted.
    """

    def __init__(self, target_ns: int, minimum: int) -> None:
        """Begin a search.

        Args:
            target_ns: How long an epoch should last.
            minimum: The least number of iterations.
        """
        self.iterations = minimum
        self.found = 0
        self.shortest_ns = 0
        self.failure: str | None = None
        self._target_ns = target_ns
        self._first_ns: int | None = None

    def add(self, elapsed_ns: int) -> None:
        """Take note of an epoch of `iterations` iterations, and decide about the next one."""
        shortest_ns = elapsed_ns if self._first_ns is None else min(elapsed_ns, self._first_ns)
        if shortest_ns < self._target_ns:
            self._first_ns = None
            self._grow(shortest_ns)
        elif self._first_ns is None:
            self._first_ns = elapsed_ns
        else:
            self.found, self.shortest_ns = self.iterations, shortest_ns
            self.iterations = 0

    def _grow(self, elapsed_ns: int) -> None:
        growth = self._target_ns / elapsed_ns if elapsed_ns else _MOST_GROWTH
        growth = min(max(growth, _LEAST_GROWTH), _MOST_GROWTH)
        # Floats, and their rounding, as in nanobench.
        wanted = float(self.iterations) * growth + 0.5
        if wanted >= _MAX_ITERATIONS:
            self.fail(OVERFLOW)
        else:
            self.iterations = int(wanted) + 1

    def settle(self, iterations: int, elapsed_ns: int) -> None:
        """End the search with fewer iterations than it wants, because there is no time for more.

        Args:
            iterations: How many there is time for.
            elapsed_ns: How long they take, as far as is known.
        """
        self.found, self.shortest_ns = iterations, elapsed_ns
        self.iterations = 0

    def fail(self, failure: str) -> None:
        """Give up."""
        self.iterations = 0
        self.failure = failure


def common_iterations(
    searches: Sequence[IterationSearch], config: Config, clock_resolution_ns: float
) -> int:
    """Choose the number of iterations that all alternatives have in all rounds.

    Args:
        searches: Finished searches that found something, at least one.
        config: The settings.
        clock_resolution_ns: The smallest difference the clock can show.

    Returns:
        As many as the slowest one needs for an epoch. More if the fastest one would be too short
        for the clock with that, but only so many that the slowest one's epochs do not become
        longer than they may.
    """
    slowest = min(search.found for search in searches)
    target_ns = target_epoch_ns(config, clock_resolution_ns)
    if not target_ns or config.max_epoch_time_ns <= target_ns:
        return slowest
    # For the clock, an epoch may be shorter than the target.
    readable_ns = round(clock_resolution_ns * config.clock_resolution_multiple)
    most = slowest * config.max_epoch_time_ns // target_ns
    needed = max(
        -(-readable_ns * search.found // search.shortest_ns) if search.shortest_ns else most
        for search in searches
    )
    return max(slowest, min(needed, most))


def num_rounds(config: Config, num_alternatives: int) -> int:
    """Say how many rounds there should be.

    Args:
        config: The settings.
        num_alternatives: How many alternatives take part.

    Returns:
        At least as many as there should be epochs, enough for an interval, in whole blocks.
    """
    confidence = bonferroni_confidence(num_alternatives - 1)
    rounds = max(config.epochs, fewest_values(confidence))
    return -(-rounds // num_alternatives) * num_alternatives
