"""How many iterations the next epoch gets: nanobench's state machine, as a pure object.

There is no clock in here. The object says how many iterations to do, and is told how long they
took; it works on raw times, from which no overhead was subtracted.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

from ankerl_py.config import MAX_COUNT, Config
from ankerl_py.rng import Rng

if TYPE_CHECKING:
    from ankerl_py.results.measurement import RawMeasurement

__all__ = ["OVERFLOW", "Phase", "Schedule", "target_epoch_ns"]

OVERFLOW = "iterations overflow. Maybe your code got optimized away?"
"""Why a run fails whose op seems to take no time at all, in nanobench's words."""

_JITTER_SEED = 123

_JITTER = 0.2

_FIRST_CALLS = 10
"""An epoch that begins after so many calls of op, or fewer, may be slow because op is new.

Imports, caches and the specialising interpreter do their work in the first few calls.
"""


class Phase(str, Enum):
    """What an epoch is for."""

    WARMUP = "warmup"
    """Not recorded; a first look at how long op takes."""

    UPSCALING = "upscaling_runtime"
    """Searching for the number of iterations that makes an epoch long enough."""

    MEASURING = "measuring"
    """Recorded."""

    ENDLESS = "endless"
    """As many iterations as there are, for use with a profiler."""


def target_epoch_ns(config: Config, clock_resolution_ns: float) -> int:
    """Say how long an epoch should last.

    Args:
        config: The settings; if the limits contradict each other, the lower one wins.
        clock_resolution_ns: The smallest difference the clock can show, in nanoseconds.

    Returns:
        The duration in nanoseconds, at least 0.
    """
    # No wrap-around at 2**64 as in nanobench; and a resolution that is not a number gives the
    # upper limit, because min() keeps its first argument then.
    wanted = min(config.max_epoch_time_ns, clock_resolution_ns * config.clock_resolution_multiple)
    return max(config.min_epoch_time_ns, round(wanted))


class Schedule:
    """The number of iterations of each epoch of one run, found from how long epochs take.

    Ask for `iterations`, do so many, `add` what was measured; until `iterations` is 0. Then
    `measurements` are the epochs of the result, or `failure` says why there is none.

    With automatic iterations, the number grows tenfold until an epoch lasts at least two thirds of
    `target_ns`; that is the first recorded epoch. From then on the average over the recorded
    epochs gives the number, varied by 0 to 20 % so that op does not fall into step with something
    else. The variation is the same in every run.

    Other than in nanobench, a slow beginning does not spoil the run. There, one first call that
    takes a whole epoch (an import, say) ends the search with a single iteration, and all the
    following epochs are far too short. Here, if an epoch is far too short after nothing but epochs
    that began with the first calls of op, these are dropped, and the search goes on.
    """

    __slots__ = (
        "_calls",
        "_config",
        "_early",
        "_failure",
        "_iterations",
        "_limited",
        "_measurements",
        "_phase",
        "_rng",
        "_target_ns",
        "_total_iterations",
        "_total_ns",
    )

    def __init__(self, config: Config, clock_resolution_ns: float, endless: bool = False) -> None:
        """Begin a run.

        Args:
            config: The settings.
            clock_resolution_ns: The smallest difference the clock can show, in nanoseconds.
            endless: Never finish.
        """
        self._config = config
        self._target_ns = target_epoch_ns(config, clock_resolution_ns)
        self._rng = Rng(_JITTER_SEED)
        self._measurements: list[RawMeasurement] = []
        self._total_ns = 0
        self._total_iterations = 0
        self._failure: str | None = None
        # How often op was called so far, and whether the last epoch that decided about the number
        # of iterations began within the first calls. If it did, so did those before it.
        self._calls = 0
        self._early = False
        self._limited = False
        if endless:
            self._phase, self._iterations = Phase.ENDLESS, MAX_COUNT
        elif config.warmup:
            self._phase, self._iterations = Phase.WARMUP, config.warmup
        elif config.epoch_iterations:
            self._phase, self._iterations = Phase.MEASURING, config.epoch_iterations
        else:
            self._phase, self._iterations = Phase.UPSCALING, config.min_epoch_iterations

    @property
    def target_ns(self) -> int:
        """How long an epoch should last, in nanoseconds."""
        return self._target_ns

    @property
    def iterations(self) -> int:
        """How many iterations the next epoch has to do; 0: the run is finished."""
        return self._iterations

    @property
    def phase(self) -> Phase:
        """What the next epoch is for. Without meaning when the run is finished."""
        return self._phase

    @property
    def failure(self) -> str | None:
        """Why the run failed, as shown in its row; None if it did not."""
        return self._failure

    @property
    def measurements(self) -> tuple[RawMeasurement, ...]:
        """The epochs recorded so far, in order. None of them stays if the run fails."""
        return tuple(self._measurements)

    @property
    def recorded(self) -> int:
        """How many epochs are recorded so far; cheaper than counting `measurements`."""
        return len(self._measurements)

    @property
    def limited(self) -> bool:
        """Whether epochs are shorter or fewer than they should be: `limit` or `stop` had to act."""
        return self._limited

    def limit(self, iterations: int) -> None:
        """Have no more iterations in the next epoch than there is time for.

        An epoch that is as long as it can be is long enough, so the search for the number of
        iterations ends with it. What the user wants exactly, or at least, is kept.

        Args:
            iterations: At most so many, at least 1.
        """
        iterations = max(iterations, self._config.min_epoch_iterations)
        if iterations < self._iterations and not self._config.epoch_iterations:
            self._iterations = iterations
            self._limited = True

    def stop(self) -> None:
        """Finish with the epochs that are recorded."""
        self._iterations = 0
        self._limited = True

    def add(self, raw: RawMeasurement) -> None:
        """Take note of an epoch, and decide about the next one.

        Args:
            raw: What was measured. Its number of iterations should be `iterations`.

        Raises:
            RuntimeError: The run is finished.
        """
        if not self._iterations:
            raise RuntimeError("the run is finished, it has no place for another epoch")
        early = self._calls <= _FIRST_CALLS
        self._calls += raw.iterations
        if self._phase is Phase.WARMUP:
            self._add_warmup(raw)
        elif self._phase is Phase.UPSCALING and not self._is_long_enough(raw):
            self._search_on(raw)
        elif self._phase is Phase.MEASURING and self._began_too_slowly(raw):
            self._forget()
            self._search_on(raw)
        elif self._phase is not Phase.ENDLESS:
            self._early = early
            self._record(raw)

    def _add_warmup(self, raw: RawMeasurement) -> None:
        if self._config.epoch_iterations:
            self._phase = Phase.MEASURING
            self._iterations = self._config.epoch_iterations
        elif self._is_long_enough(raw):
            self._phase = Phase.MEASURING
            self._iterations = self._best_iterations(raw.elapsed_ns, raw.iterations)
            self._early = True
        else:
            self._search_on(raw)

    def _record(self, raw: RawMeasurement) -> None:
        self._phase = Phase.MEASURING
        self._measurements.append(raw)
        self._total_ns += raw.elapsed_ns
        self._total_iterations += raw.iterations
        if len(self._measurements) == self._config.epochs:
            self._iterations = 0
        elif not self._config.epoch_iterations:
            self._iterations = self._best_iterations(self._total_ns, self._total_iterations)

    def _forget(self) -> None:
        self._measurements.clear()
        self._total_ns = 0
        self._total_iterations = 0

    def _search_on(self, raw: RawMeasurement) -> None:
        """Take more iterations than in an epoch that was too short."""
        self._phase = Phase.UPSCALING
        if not self._is_far_too_short(raw):
            self._iterations = self._best_iterations(raw.elapsed_ns, raw.iterations)
            return
        # A warmup may have had fewer iterations than an epoch is to have.
        self._iterations = max(raw.iterations * 10, self._config.min_epoch_iterations)
        if self._iterations > MAX_COUNT:
            self._iterations = 0
            self._failure = OVERFLOW

    def _is_long_enough(self, raw: RawMeasurement) -> bool:
        return self._limited or raw.elapsed_ns * 3 >= self._target_ns * 2

    def _is_far_too_short(self, raw: RawMeasurement) -> bool:
        return raw.elapsed_ns * 10 < self._target_ns

    def _began_too_slowly(self, raw: RawMeasurement) -> bool:
        """Whether the number of iterations is as low as it is because the first calls were slow.

        That cannot happen more than twice in a run: the search goes on with ten iterations or
        more, so at the latest after the second time no epoch is an early one.
        """
        if self._limited or self._config.epoch_iterations:
            return False
        return self._early and self._is_far_too_short(raw)

    def _best_iterations(self, elapsed_ns: int, iterations: int) -> int:
        """Estimate the number of iterations that last as long as an epoch should."""
        # Operations and their order are nanobench's, for the same last bit. No time at all makes
        # infinity there, or NaN if an epoch should take no time either: one goes to the largest
        # number, the other to the smallest.
        target = float(self._target_ns)
        ratio = target / float(elapsed_ns) if elapsed_ns else target * math.inf
        wanted = ratio * iterations
        minimum = self._config.min_epoch_iterations
        if not wanted >= minimum:
            wanted = float(minimum)
        wanted *= 1.0 + _JITTER * self._rng.uniform01()
        # The minimum once more, because a float has only 53 bits for it.
        return max(minimum, int(min(wanted + 0.5, 2.0**63)))
