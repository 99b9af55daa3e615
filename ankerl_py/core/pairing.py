"""The paired experiment: alternatives take turns, so that what disturbs one disturbs all of them.

In each *round* each alternative has one epoch, all of them with the same number of iterations.
Neighbours in time see the same machine, so the ratio of their times is far steadier than the times
themselves. The order changes from round to round: a *block* of as many rounds as there are
alternatives is a cyclic Latin square, in which each of them is once at each place; where it begins
is drawn anew for each block. So nobody gains from being first, or from falling into step with
something that comes again and again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import attrs

from ankerl_py.core.epochs import STANDSTILL, Epochs
from ankerl_py.core.pairing_schedule import IterationSearch, common_iterations, num_rounds
from ankerl_py.core.runner import DEFAULT_TOTAL_TIME_NS
from ankerl_py.core.schedule import target_epoch_ns
from ankerl_py.core.untimed import NOTHING_UNTIMED
from ankerl_py.results.comparison import Comparison
from ankerl_py.results.measurement import NO_OVERHEAD
from ankerl_py.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from ankerl_py.backends.counters import CounterBackend
    from ankerl_py.config import Config
    from ankerl_py.core.calibration import OverheadMeter
    from ankerl_py.core.loops import Loop
    from ankerl_py.core.untimed import Untimed
    from ankerl_py.results.measurement import RawMeasurement
    from ankerl_py.rng import Rng

__all__ = ["Alternative", "Pairing", "Precision"]

_CALIBRATION_EPOCHS: Final = 8
"""About so many epochs the search for the number of iterations takes, as long as all others."""

_LOOK_AGAIN: Final = 1.05
"""How many times the rounds there are before the width of the intervals is looked at again."""


@attrs.frozen
class Alternative:
    """One of the things that are compared.

    Attributes:
        config: The settings, with its name, unit and batch.
        loop: The measuring loop over its op.
        kind: What kinds of loops cost the same beside their op: they share one overhead.
    """

    config: Config
    loop: Loop
    kind: Hashable


@attrs.frozen
class Precision:
    """When to stop, if not after a number of rounds that is known before.

    Attributes:
        until_percent: As soon as all intervals are narrower than that.
        budget_ns: Or when so much time is over, calibration included.
    """

    until_percent: float
    budget_ns: int


class _Player:
    """An alternative while it is measured."""

    def __init__(self, alternative: Alternative, epochs: Epochs) -> None:
        self.config = alternative.config
        self.kind = alternative.kind
        self.epochs = epochs
        self.failure: str | None = None
        self.affordable: int | None = None  # iterations, if time is limited
        self.measurements: list[RawMeasurement] = []

    def result(self, meter: OverheadMeter | None, limited: bool) -> Result:
        if self.failure is not None:
            return Result.from_measurements(self.config, (), NO_OVERHEAD, self.failure)
        overhead = NO_OVERHEAD if meter is None else meter.overhead()
        early = limited or len(self.measurements) < self.config.epochs
        return Result.from_measurements(
            self.config, self.measurements, overhead, stopped_early=early
        )


class Pairing:
    """Measures alternatives against each other."""

    def __init__(
        self,
        alternatives: Sequence[Alternative],
        clock_resolution_ns: float,
        counters: CounterBackend,
        meters: Mapping[Hashable, OverheadMeter],
        rng: Rng,
        *,
        untimed: Untimed = NOTHING_UNTIMED,
        wall_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Prepare an experiment.

        Args:
            alternatives: What is compared, the baseline first. Their settings differ in name, unit
                and batch only.
            clock_resolution_ns: The smallest difference the clock can show.
            counters: What counts beside the clock.
            meters: Measures the overhead, for each `Alternative.kind`; empty if it is not to be
                subtracted.
            rng: Decides on the order in each block.
            untimed: What comes before each of the ops without being timed. The loops do what comes
                before each iteration; what comes before each epoch is done here.
            wall_ns: Gives the time in nanoseconds that is limited, whatever the clock of the loops.
        """
        self._players = [
            _Player(
                each,
                Epochs(
                    each.config.name,
                    each.loop,
                    counters,
                    untimed.epoch_setup,
                    wall_ns,
                    kind="alternative",
                    lost="the comparison is kept",
                ),
            )
            for each in alternatives
        ]
        self._config = alternatives[0].config
        self._resolution_ns = clock_resolution_ns
        self._meters = meters
        self._rng = rng
        self._wall_ns = wall_ns
        self._limited = False
        # As in a run: where something untimed comes before each iteration, time is what limits.
        self._limit_ns = self._config.max_total_time_ns
        if self._limit_ns is None and (untimed.per_iteration or untimed.batched):
            self._limit_ns = DEFAULT_TOTAL_TIME_NS

    def measure(self, precision: Precision | None = None) -> tuple[Result, ...]:
        """Do the whole experiment.

        Args:
            precision: When to stop; None: after the number of rounds that the settings ask for. A
                `Config.max_total_time_ns` ends it earlier, without a look at what was measured.

        Returns:
            One result for each alternative; epoch k of each is of round k. Those that could not be
            measured say why.

        Raises:
            ClockError: The clock ran backwards, or does not return integers.
            BaseException: Whatever an op raises, with a note on which one and when.
        """
        started_ns = self._wall_ns()
        if self._config.warmup:
            for player in self._players:
                player.epochs.run(self._config.warmup, "the warmup")
        iterations = self._calibrate()
        playing = [player for player in self._players if player.failure is None]
        if len(playing) < 2:
            # There is nothing to compare the last one with.
            wanted = len(playing) * self._config.epochs
        else:
            wanted = num_rounds(self._config, len(self._players))
        while wanted:
            self._block(playing, iterations)
            if not precision and self._is_late(started_ns, self._limit_ns):
                break
            done = len(playing[0].measurements)
            if done < wanted:
                continue
            wanted = 0
            if precision and len(playing) > 1:
                late = self._is_late(started_ns, precision.budget_ns)
                wanted = 0 if late else self._more_rounds(precision, done)
        return self._results()

    def _is_late(self, started_ns: int, limit_ns: int | None) -> bool:
        return limit_ns is not None and self._wall_ns() - started_ns >= limit_ns

    def _more_rounds(self, precision: Precision, done: int) -> int:
        """How many rounds are to be there when the intervals are looked at again; 0: it is done."""
        so_far = Comparison.of(self._results(), anytime=True)
        if so_far.widest_percent < precision.until_percent:
            return 0
        # Not after each block, because looking takes time; at any moment the intervals are right.
        return max(done + 1, int(done * _LOOK_AGAIN))

    def _calibrate(self) -> int:
        """Find the common number of iterations."""
        config = self._config
        if config.epoch_iterations:
            return config.epoch_iterations
        searches = []
        for player in self._players:
            search = self._search(player)
            player.failure = search.failure
            if search.found:
                searches.append(search)
        if not searches:
            return 0
        iterations = common_iterations(searches, config, self._resolution_ns)
        most = min((p.affordable for p in self._players if p.affordable), default=iterations)
        self._limited |= most < iterations
        return min(most, iterations)

    def _search(self, player: _Player) -> IterationSearch:
        config = self._config
        target_ns = target_epoch_ns(config, self._resolution_ns)
        search = IterationSearch(target_ns, config.min_epoch_iterations)
        epochs = player.epochs
        while iterations := search.iterations:
            began_ns = self._wall_ns()
            raw = epochs.run(iterations, "the calibration")
            if self._limit_ns is not None:
                cost_ns = max((self._wall_ns() - began_ns) / iterations, 1.0)
                player.affordable = max(1, int(self._share_ns() / cost_ns))
            elif epochs.stands_still(raw):
                # Once more, because this thread may only have had to wait for its turn.
                raw = epochs.run(iterations, "the calibration")
                if epochs.stands_still(raw):
                    search.fail(STANDSTILL)
                    break
            search.add(raw.elapsed_ns)
            if player.affordable is not None and search.iterations > player.affordable:
                self._limited = True
                search.settle(player.affordable, raw.elapsed_ns * player.affordable // iterations)
        return search

    def _share_ns(self) -> float:
        """How long an epoch may take, its untimed parts included, if time is limited."""
        epochs = num_rounds(self._config, len(self._players)) + _CALIBRATION_EPOCHS
        return (self._limit_ns or 0) / (epochs * len(self._players))

    def _block(self, playing: list[_Player], iterations: int) -> None:
        """Do as many rounds as there are alternatives, each of them once at each place."""
        order = playing.copy()
        self._rng.shuffle(order)
        for first in range(len(order)):
            where = f"round {len(playing[0].measurements) + 1}"
            for player in order[first:] + order[:first]:
                player.measurements.append(player.epochs.run(iterations, where))
            # Not between the epochs of a round, which should be as close as possible.
            for meter in self._meters.values():
                meter.sample(iterations)

    def _results(self) -> tuple[Result, ...]:
        return tuple(
            player.result(self._meters.get(player.kind), self._limited) for player in self._players
        )
