"""The measuring loops: one epoch of calls or of a statement, timed.

There is a loop in C for callables, where the native module is there, and loops in Python for
everything else. Each one can give an *empty twin*, which costs what the harness costs: the same
loop over an empty callable of the same kind, or over no statement at all.
"""

from __future__ import annotations

import sys
from itertools import repeat
from operator import length_hint
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, cast

from ankerl_py.backends.compiled import REFUSED_TYPES
from ankerl_py.core.ops import refuse_value

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from ankerl_py.backends.clocks import Clock
    from ankerl_py.backends.compiled import Compiled
    from ankerl_py.core.ops import CallableOp

__all__ = [
    "MAX_SIGNAL_INTERVAL",
    "CompiledCallLoop",
    "Loop",
    "PythonCallLoop",
    "raise_handed_over",
]

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

    in_setup: bool
    """Whether it was an untimed part that raised, and not the op."""

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
            OpError: The first value of the epoch is something that would do its work later.
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
        self.in_setup = False
        self._op = op
        self._clock = clock
        self._compiled = compiled
        self._epoch = compiled.new_epoch()
        self._handed_over: list[object] = []

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: D102 (see Loop)
        # In locals, and with nothing in between, for a clock that is read from here.
        run, epoch, op = self._compiled.lib.ap_run_calls, self._epoch, id(self._op.call)
        refused, handed_over = self._compiled.refused_types, id(self._handed_over)
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
            raise_handed_over(self._compiled, status, self._handed_over, self._op.call)
        return end_ns - begin_ns

    def empty_twin(self) -> CompiledCallLoop:  # noqa: D102
        twin = type(self._op)(self._op.empty, self._op.kind, self._op.empty)
        return CompiledCallLoop(twin, self._clock, self._compiled)

    def prepare_traceback(self) -> None:
        """Nothing to do: a callable's source is known."""


def raise_handed_over(
    compiled: Compiled, status: int, handed_over: list[object], op: object
) -> NoReturn:
    """Raise what a function of the native module handed over.

    Args:
        compiled: The native module.
        status: What its function returned, not `AP_OK`.
        handed_over: The list that it was given.
        op: The op that was measured.

    Raises:
        BaseException: What the op, or the untimed part before it, raised.
        OpError: The op returned a coroutine or a generator.
    """
    if not handed_over:
        raise MemoryError("no memory to hand over what the op raised or returned")
    value = handed_over.pop()
    if status == compiled.lib.AP_REFUSED:
        raise refuse_value(op, value)
    try:
        raise cast(BaseException, value)
    finally:
        del value  # else its traceback and this frame would keep each other alive


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
        self.in_setup = False
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
