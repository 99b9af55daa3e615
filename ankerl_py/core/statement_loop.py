"""The measuring loop over a statement, with or without an untimed part before it."""

from __future__ import annotations

import sys
from functools import partial
from itertools import repeat
from operator import length_hint
from typing import TYPE_CHECKING, Any, Final

from ankerl_py.core.pairs import code_parts, spans_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py.backends.clocks import Clock
    from ankerl_py.backends.compiled import Compiled
    from ankerl_py.core.statements import Statement

__all__ = ["StatementLoop"]

_MAX_REPEAT: Final = sys.maxsize
"""More than that itertools.repeat does not take; an empty loop would run for 2000 years."""


class StatementLoop:
    """A statement in a Python loop of its own; whole epochs are timed in C where possible."""

    kind = "statement"

    def __init__(
        self,
        statement: Statement,
        clock: Clock,
        compiled: Compiled | None,
        setup: Callable[..., object] | None = None,
        *,
        empty: bool = False,
    ) -> None:
        """Prepare a loop over a statement.

        Args:
            statement: The statement; it says whether each iteration is timed alone.
            clock: The clock.
            compiled: The native module; None: the clock is read in Python.
            setup: Called, untimed, where the statement's own setup would be.
            empty: The loop without the statement and without any setup.
        """
        self.started = 0
        self.in_setup = False
        self._statement = statement
        self._clock = clock
        self._compiled = compiled
        self._setup = setup
        self._function = statement.empty_loop if empty else statement.loop
        self._epoch: Any = _Epoch()
        self._clock_argument: Any = clock.read if clock.native >= 0 else clock
        self._begin: Callable[..., None] = _begin
        self._end: Callable[..., None] = _end
        self._touch: Callable[[], None] = _touch_nothing
        if compiled is not None and statement.paired:
            self._parts = code_parts(self._function)
            pairs = compiled.new_pairs(spans_of(self._parts))
            self._touch = partial(compiled.lib.ap_pair_touch, pairs)
        elif compiled is not None and clock.native >= 0:
            self._epoch = compiled.new_epoch()
            self._clock_argument = clock.native
            self._begin, self._end = compiled.lib.ap_epoch_begin, compiled.lib.ap_epoch_end

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: ARG002, D102
        count = min(iterations, _MAX_REPEAT)
        left = repeat(None, count)
        epoch = self._epoch
        epoch.begin_ns = epoch.end_ns = 0
        try:
            self._function(
                left,
                self._begin,
                self._end,
                epoch,
                self._clock_argument,
                self._statement.kept,
                self._before,
                self._after,
            )
        finally:
            self.started = count - length_hint(left)
        elapsed_ns: int = epoch.end_ns - epoch.begin_ns
        return elapsed_ns

    def _before(self) -> None:
        """Do what comes before the statement's own setup."""
        self.in_setup = True
        if self._setup is not None:
            self._setup()

    def _after(self) -> None:
        """Have the loop's own code in the cache, after a setup that may have been long."""
        self.in_setup = False
        self._touch()

    def empty_twin(self) -> StatementLoop:  # noqa: D102
        return StatementLoop(self._statement, self._clock, self._compiled, empty=True)

    def prepare_traceback(self) -> None:  # noqa: D102
        self._statement.show_in_tracebacks()


def _touch_nothing() -> None:
    pass


class _Epoch:
    """The clock readings of an epoch whose clock is read in Python."""

    __slots__ = ("begin_ns", "end_ns")

    def __init__(self) -> None:
        self.begin_ns = self.end_ns = 0


def _begin(epoch: _Epoch, read: Callable[[], int]) -> None:
    epoch.begin_ns = read()


def _end(epoch: _Epoch, read: Callable[[], int]) -> None:
    epoch.end_ns = read()
