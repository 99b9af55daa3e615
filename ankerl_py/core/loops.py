"""The measuring loops: one epoch of calls or of a statement, timed.

There is a loop in C for callables, where the native module is there, and loops in Python for
everything else. Each one can give an *empty twin*, which costs what the harness costs: the same
loop over an empty callable of the same kind, or over no statement at all.
"""

from __future__ import annotations

import sys
from itertools import repeat
from operator import length_hint
from typing import TYPE_CHECKING, Final, Protocol, cast

from ankerl_py.backends.compiled import REFUSED_TYPES
from ankerl_py.core.ops import refuse_value

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from ankerl_py.backends.clocks import Clock
    from ankerl_py.backends.compiled import Compiled
    from ankerl_py.core.ops import CallableOp
    from ankerl_py.core.statements import Statement

__all__ = ["MAX_SIGNAL_INTERVAL", "CompiledCallLoop", "Loop", "PythonCallLoop", "StatementLoop"]

_MAX_REPEAT: Final = sys.maxsize
"""More than that itertools.repeat does not take; an empty loop would run for 2000 years."""


MAX_SIGNAL_INTERVAL: Final = 1000
"""Not more iterations than that between two looks for signals, because the op may become slower;
and less is not needed, because a look and a reading of the clock take 30 ns together."""


class Loop(Protocol):
    """Something that can be done so and so many times, timed as a whole."""

    kind: str
    """What is done, for messages and saved results: "function", "method", ..., "statement"."""

    started: int
    """How many iterations the last epoch began: one more than it finished, if the op raised."""

    def run(self, iterations: int, signal_interval: int) -> int:
        """Run one epoch.

        Args:
            iterations: How often; 0 times is allowed.
            signal_interval: After how many iterations to look for signals such as Ctrl-C and to
                let other threads run, where Python does not do so itself. 1: nobody knows yet how
                long an iteration takes.

        Returns:
            Raw elapsed time in nanoseconds, harness and all.

        Raises:
            BaseException: Whatever the op raises, at once.
        """

    def empty_twin(self) -> Loop:
        """Give the loop that costs what this one does beside its op."""

    def prepare_traceback(self) -> None:
        """Make the op's source known, for the traceback of an exception that it raised."""


class CompiledCallLoop:
    """Calls in C: one call into the native module per epoch."""

    def __init__(self, op: CallableOp, clock: Clock, compiled: Compiled) -> None:
        """Prepare a loop over an op."""
        self.kind = op.kind
        self.started = 0
        self._op = op
        self._clock = clock
        self._compiled = compiled
        self._epoch = compiled.new_epoch()
        self._handed_over: list[object] = []
        # Only the value of the very first call is looked at: an op that returned something
        # useful once is not expected to return a coroutine later.
        self._refused_types = compiled.refused_types

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: D102 (see Loop)
        # In locals, and with nothing in between, for a clock that is read from here.
        run, epoch, op = self._compiled.lib.ap_run_calls, self._epoch, id(self._op.call)
        refused = self._refused_types
        if iterations:
            self._refused_types = 0
        handed_over = id(self._handed_over)
        native = self._clock.native
        if native >= 0:
            status = run(epoch, native, op, iterations, signal_interval, refused, handed_over)
            begin_ns, end_ns = epoch.begin_ns, epoch.end_ns
        else:
            read = self._clock
            begin_ns = read()
            status = run(epoch, 0, op, iterations, signal_interval, refused, handed_over)
            end_ns = read()
        self.started = epoch.started
        if status != self._compiled.lib.AP_OK:
            self._raise(status)
        return end_ns - begin_ns

    def _raise(self, status: int) -> None:
        if not self._handed_over:
            raise MemoryError("no memory to hand over what the op raised or returned")
        value = self._handed_over.pop()
        if status == self._compiled.lib.AP_REFUSED:
            raise refuse_value(self._op.call, value)
        try:
            raise cast(BaseException, value)
        finally:
            del value  # else its traceback and this frame would keep each other alive

    def empty_twin(self) -> CompiledCallLoop:  # noqa: D102
        twin = type(self._op)(self._op.empty, self._op.kind, self._op.empty)
        return CompiledCallLoop(twin, self._clock, self._compiled)

    def prepare_traceback(self) -> None:
        """Nothing to do: a callable's source is known."""


def _call_repeatedly(
    op: Callable[[], object],
    iterations: repeat[None],
    read: Callable[[], int],
    refused: Container[type],
) -> tuple[int, object]:
    """Give the time in ns, and the first value if its type is refused; no more calls then."""
    value = None
    begin_ns = read()
    for _ in iterations:
        value = op()
        break
    if type(value) in refused:
        return 0, value
    value = None
    for _ in iterations:
        op()
    return read() - begin_ns, None


_REFUSED: Final = frozenset(REFUSED_TYPES)


class PythonCallLoop:
    """Calls in Python, for where there is no native module."""

    def __init__(self, op: CallableOp, clock: Clock) -> None:
        """Prepare a loop over an op."""
        self.kind = op.kind
        self.started = 0
        self._op = op
        self._clock = clock
        self._read = clock.read if clock.native >= 0 else clock

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: ARG002, D102
        count = min(iterations, _MAX_REPEAT)
        left = repeat(None, count)
        try:
            elapsed_ns, value = _call_repeatedly(self._op.call, left, self._read, _REFUSED)
        finally:
            self.started = count - length_hint(left)
        if value is not None:
            raise refuse_value(self._op.call, value)
        return elapsed_ns

    def empty_twin(self) -> PythonCallLoop:  # noqa: D102
        twin = type(self._op)(self._op.empty, self._op.kind, self._op.empty)
        return PythonCallLoop(twin, self._clock)

    def prepare_traceback(self) -> None:
        """Nothing to do: a callable's source is known."""


class _Readings(Protocol):
    begin_ns: int
    end_ns: int


class StatementLoop:
    """A statement in a Python loop of its own; the clock is read in C where possible."""

    kind = "statement"

    def __init__(
        self, statement: Statement, clock: Clock, compiled: Compiled | None, *, empty: bool = False
    ) -> None:
        """Prepare a loop over a statement, or over none of it."""
        self.started = 0
        self._statement = statement
        self._clock = clock
        self._compiled = compiled
        self._function = statement.empty_loop if empty else statement.loop
        self._epoch: _Readings
        self._begin: Callable[..., None]
        self._end: Callable[..., None]
        self._clock_argument: object
        if compiled is not None and clock.native >= 0:
            self._epoch = compiled.new_epoch()
            self._begin, self._end = compiled.lib.ap_epoch_begin, compiled.lib.ap_epoch_end
            self._clock_argument = clock.native
        else:
            self._epoch = _Epoch()
            self._begin, self._end = _Epoch.begin, _Epoch.end
            self._clock_argument = clock.read if clock.native >= 0 else clock

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: ARG002, D102
        count = min(iterations, _MAX_REPEAT)
        left = repeat(None, count)
        epoch = self._epoch
        try:
            self._function(
                left, self._begin, self._end, epoch, self._clock_argument, self._statement.kept
            )
        finally:
            self.started = count - length_hint(left)
        return epoch.end_ns - epoch.begin_ns

    def empty_twin(self) -> StatementLoop:  # noqa: D102
        return StatementLoop(self._statement, self._clock, self._compiled, empty=True)

    def prepare_traceback(self) -> None:  # noqa: D102
        self._statement.show_in_tracebacks()


class _Epoch:
    """The clock readings of an epoch whose clock is read in Python."""

    __slots__ = ("begin_ns", "end_ns")

    begin_ns: int
    end_ns: int

    @staticmethod
    def begin(epoch: _Epoch, read: Callable[[], int]) -> None:
        epoch.begin_ns = read()

    @staticmethod
    def end(epoch: _Epoch, read: Callable[[], int]) -> None:
        epoch.end_ns = read()
