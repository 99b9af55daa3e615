"""Measuring loops in which something untimed comes before each iteration, or before a batch.

A *pair* is two readings of the clock around one call of op. Their differences are added up, so an
epoch has the time of op alone. Before each pair an empty callable of op's kind is called in the
same way, and op's own code is touched: what came before may have filled the caches, and what
that does to the harness is not op's. The data that op works on are left as they are.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import repeat
from operator import length_hint
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final

from ankerl_py.backends.compiled import REFUSED_TYPES
from ankerl_py.core.loops import raise_handed_over
from ankerl_py.core.ops import EMPTY_ARGUMENT, CallableOp, refuse_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py.backends.clocks import Clock
    from ankerl_py.backends.compiled import Compiled
    from ankerl_py.core.untimed import Untimed

__all__ = ["BatchLoop", "CompiledPairLoop", "PythonPairLoop", "code_parts", "spans_of"]

_MAX_REPEAT: Final = sys.maxsize
"""More than that itertools.repeat does not take; an empty loop would run for 2000 years."""

MAX_BATCH: Final = 1000
"""So many inputs are made at a time at most: what a clock reading costs is spread over them."""

MAX_BATCH_BYTES: Final = 32 << 20
"""So much memory the inputs and outputs of a batch may take."""

_PROBE: Final = 8
"""The first so many inputs are made alone, to see how much memory they take."""


def code_parts(op: object) -> tuple[object, ...]:
    """Find what entering a Python function reads: itself, its code, its constants.

    Args:
        op: A callable.

    Returns:
        These objects; none for callables that are not Python code.
    """
    while isinstance(op, (partial, MethodType)):
        op = op.func if isinstance(op, partial) else op.__func__
    if not isinstance(op, FunctionType):
        op = getattr(type(op), "__call__", None)  # noqa: B004 (what it is, not whether)
    if not isinstance(op, FunctionType):
        return ()
    return op, op.__code__, op.__code__.co_consts


def spans_of(parts: tuple[object, ...]) -> list[tuple[int, int]]:
    """Tell where objects lie in memory.

    Args:
        parts: What `code_parts` gives. It has to live for as long as the memory is looked at.

    Returns:
        Address and size in bytes of each.
    """
    return [(id(part), _extent(part)) for part in parts]


def _extent(part: object) -> int:
    # Not sys.getsizeof, which also counts what lies elsewhere: what the garbage collector has
    # in front of an object, and caches.
    kind = type(part)
    items = 0
    if isinstance(part, CodeType):
        items = len(part.co_code) // 2
    elif isinstance(part, tuple):
        items = len(part)
    return kind.__basicsize__ + kind.__itemsize__ * items


class _PairLoop:
    """What the loops over pairs share: state, and what is told about an exception."""

    def __init__(self, op: CallableOp, untimed: Untimed, clock: Clock) -> None:
        self.kind = op.kind
        self.started = 0
        self.in_setup = False
        self._op = op
        self._untimed = untimed
        self._clock = clock

    def prepare_traceback(self) -> None:
        """Nothing to do: a callable's source is known."""

    def _twin(self) -> tuple[CallableOp, Untimed]:
        """An empty op, with nothing before it but as many arguments."""
        untimed = type(self._untimed)(state=(EMPTY_ARGUMENT,) if self._untimed.arguments else ())
        return CallableOp(self._op.empty, self._op.kind, self._op.empty), untimed


class CompiledPairLoop(_PairLoop):
    """Pairs in C: one call into the native module per epoch."""

    def __init__(self, op: CallableOp, untimed: Untimed, clock: Clock, compiled: Compiled) -> None:
        """Prepare a loop over an op; the clock is one of the native module's."""
        super().__init__(op, untimed, clock)
        self._compiled = compiled
        self._epoch = compiled.new_epoch()
        self._handed_over: list[object] = []
        # Held, because an op may give itself other code while it runs.
        self._parts = code_parts(op.call)
        self._refused_types = compiled.refused_types
        setup = untimed.iteration_setup
        state = id(untimed.state[0]) if untimed.state else 0
        self._pairs = compiled.new_pairs(
            setup=0 if setup is None else id(setup),
            setup_arg=state,
            make=0 if untimed.make is None else id(untimed.make),
            op=id(op.call),
            op_arg=state,
            empty=id(op.empty),
            empty_arg=id(EMPTY_ARGUMENT) if untimed.arguments else 0,
            spans=spans_of(self._parts),
        )

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: ARG002, D102
        epoch, lib = self._epoch, self._compiled.lib
        refused, handed_over = self._refused_types, id(self._handed_over)
        status = lib.ap_run_pairs(
            epoch, self._pairs, self._clock.native, iterations, refused, handed_over
        )
        self.started = epoch.started
        if self.started:
            self._refused_types = 0  # only the first value of all is looked at
        if status != lib.AP_OK:
            self.in_setup = status == lib.AP_SETUP_RAISED
            raise_handed_over(self._compiled, status, self._handed_over, self._op.call)
        return epoch.end_ns - epoch.begin_ns

    def empty_twin(self) -> CompiledPairLoop:  # noqa: D102
        return CompiledPairLoop(*self._twin(), self._clock, self._compiled)


class PythonPairLoop(_PairLoop):
    """Pairs in Python, for where there is no native module, or a clock of the user's own."""

    def __init__(self, op: CallableOp, untimed: Untimed, clock: Clock) -> None:
        """Prepare a loop over an op."""
        super().__init__(op, untimed, clock)
        self._checked = False

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: ARG002, D102
        count = min(iterations, _MAX_REPEAT)
        left = repeat(None, count)
        try:
            return self._run(left)
        finally:
            self.started = count - length_hint(left)

    def _run(self, left: repeat[None]) -> int:
        # The names of the timed line are local variables, and what it made is gone before the
        # next one: nothing is looked up or released while the clock runs.
        read = self._clock.read if self._clock.native >= 0 else self._clock
        op, empty, before = self._op.call, self._op.empty, self._before
        nothing = (EMPTY_ARGUMENT,) * self._untimed.arguments
        elapsed_ns = 0
        value: object
        for _ in left:
            arguments = before()
            begin_ns = read()
            value = empty(*nothing)
            end_ns = read()
            begin_ns = read()
            value = op(*arguments)
            end_ns = read()
            elapsed_ns += end_ns - begin_ns
            if not self._checked:
                self._check(value)
            value = arguments = None  # type: ignore[assignment]
        return elapsed_ns

    def _before(self) -> tuple[object, ...]:
        """Do what is untimed, and give the arguments of op."""
        untimed = self._untimed
        self.in_setup = True
        arguments: tuple[object, ...] = untimed.state
        if (setup := untimed.iteration_setup) is not None:
            setup(*untimed.state)
        if untimed.make is not None:
            arguments = (untimed.make(),)
        self.in_setup = False
        return arguments

    def _check(self, value: object) -> None:
        self._checked = True
        if isinstance(value, REFUSED_TYPES):
            raise refuse_value(self._op.call, value)

    def empty_twin(self) -> PythonPairLoop:  # noqa: D102
        return PythonPairLoop(*self._twin(), self._clock)


class BatchLoop(_PairLoop):
    """Arguments are made for many iterations, then one loop over them is timed.

    Arguments and what op returns are released only after the clock has stopped.
    """

    def __init__(
        self,
        op: CallableOp,
        untimed: Untimed,
        clock: Clock,
        compiled: Compiled | None,
        *,
        like: BatchLoop | None = None,
    ) -> None:
        """Prepare a loop over an op.

        Args:
            op: The op.
            untimed: What makes its arguments.
            clock: The clock.
            compiled: The native module, if the clock is one of its own.
            like: A loop whose batches have the size that those of this one are to have. Without,
                it is found from the memory that the first inputs and outputs take.
        """
        super().__init__(op, untimed, clock)
        self._compiled = compiled
        self._like = like
        self._size: int | None = None
        self._refused_types = 0 if compiled is None else compiled.refused_types
        self._checked = False

    def run(self, iterations: int, signal_interval: int) -> int:  # noqa: D102
        elapsed_ns = done = 0
        self.started = 0
        if self._like is not None:
            self._size = self._like._size or MAX_BATCH  # noqa: SLF001 (another one of these)
        while done < iterations:
            now = min(iterations - done, _PROBE if self._size is None else self._size)
            elapsed_ns += self._run_batch(now, done, signal_interval)
            done += now
        return elapsed_ns

    def _run_batch(self, iterations: int, done: int, signal_interval: int) -> int:
        make = self._untimed.make or _make_nothing
        self.started = done + 1  # all of the batch's inputs come before its first iteration
        self.in_setup = True
        if self._size is None:
            inputs, input_bytes = _measured(make, iterations)
        else:
            inputs = [make() for _ in repeat(None, iterations)]
        self.in_setup = False
        time_batch = self._time if self._compiled is None else self._time_compiled
        elapsed_ns, outputs = time_batch(inputs, done, signal_interval)
        if self._size is None:
            bytes_each = (input_bytes + sum(map(sys.getsizeof, outputs))) / iterations
            self._size = max(1, min(MAX_BATCH, int(MAX_BATCH_BYTES / max(1.0, bytes_each))))
        return elapsed_ns

    def _time(
        self,
        inputs: list[object],
        done: int,
        signal_interval: int,  # noqa: ARG002
    ) -> tuple[int, list[object]]:
        read = self._clock.read if self._clock.native >= 0 else self._clock
        left = iter(inputs)
        outputs: list[object] = []
        op, keep = self._op.call, outputs.append
        elapsed_ns = 0
        try:
            if not self._checked:
                value = next(left)
                begin_ns = read()
                output = op(value)
                elapsed_ns = read() - begin_ns
                keep(output)
                self._checked = True
                if isinstance(output, REFUSED_TYPES):
                    raise refuse_value(op, output)
            # No map, which would take a StopIteration of op for its end.
            begin_ns = read()
            for value in left:
                keep(op(value))
            return elapsed_ns + read() - begin_ns, outputs
        finally:
            self.started = done + len(inputs) - length_hint(left)

    def _time_compiled(
        self, inputs: list[object], done: int, signal_interval: int
    ) -> tuple[int, list[object]]:
        compiled = self._compiled
        assert compiled is not None  # noqa: S101 (for the type checker)
        epoch = compiled.new_epoch()
        outputs: list[object] = [None] * len(inputs)
        handed_over: list[object] = []
        refused, self._refused_types = self._refused_types, 0
        status = compiled.lib.ap_run_batch(
            epoch,
            self._clock.native,
            id(self._op.call),
            id(inputs),
            id(outputs),
            len(inputs),
            signal_interval,
            refused,
            id(handed_over),
        )
        self.started = done + epoch.started
        if status != compiled.lib.AP_OK:
            raise_handed_over(compiled, status, handed_over, self._op.call)
        return epoch.end_ns - epoch.begin_ns, outputs

    def empty_twin(self) -> BatchLoop:  # noqa: D102
        op, untimed = self._twin()
        return BatchLoop(op, untimed, self._clock, self._compiled, like=self)


def _make_nothing() -> int:
    return EMPTY_ARGUMENT


def _measured(make: Callable[[], Any], number: int) -> tuple[list[object], int]:
    """Make a few inputs, and see how many bytes Python's allocators gave for them."""
    import tracemalloc  # noqa: PLC0415 (needed for batches only)

    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        inputs = [make() for _ in repeat(None, number)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        if not was_tracing:
            tracemalloc.stop()
    return inputs, max(0, after - before)
