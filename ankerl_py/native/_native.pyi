"""Types of the compiled module, as far as it is used."""

from typing import Any, Protocol

class Epoch(Protocol):
    begin_ns: int
    end_ns: int
    started: int

class Span(Protocol):
    address: int
    size: int

class Pairs(Protocol):
    spans: list[Span]
    num_spans: int

class Lib:
    AP_CLOCK_WALL: int
    AP_CLOCK_PROCESS: int
    AP_CLOCK_THREAD: int
    AP_OK: int
    AP_RAISED: int
    AP_REFUSED: int
    AP_SETUP_RAISED: int
    def ap_clock_ns(self, clock: int, /) -> int: ...
    def ap_clock_step_ns(self, clock: int, steps: int, max_reads: int, /) -> int: ...
    def ap_epoch_begin(self, epoch: Epoch, clock: int, /) -> None: ...
    def ap_epoch_end(self, epoch: Epoch, clock: int, /) -> None: ...
    def ap_run_calls(
        self,
        epoch: Epoch,
        clock: int,
        op: int,
        iterations: int,
        signal_interval: int,
        refused_types: int,
        handed_over: int,
        /,
    ) -> int: ...
    def ap_run_pairs(
        self,
        epoch: Epoch,
        pairs: Pairs,
        clock: int,
        iterations: int,
        refused_types: int,
        handed_over: int,
        /,
    ) -> int: ...
    def ap_run_batch(
        self,
        epoch: Epoch,
        clock: int,
        op: int,
        inputs: int,
        outputs: int,
        iterations: int,
        signal_interval: int,
        refused_types: int,
        handed_over: int,
        /,
    ) -> int: ...
    def ap_pair_touch(self, pairs: Pairs, /) -> None: ...

class Ffi:
    def new(self, declaration: str, init: object = ..., /) -> Any: ...
    def cast(self, declaration: str, value: object, /) -> Any: ...

ffi: Ffi
lib: Lib
