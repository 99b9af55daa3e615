"""What the last column of a table says about a result, beside its name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

from ankerl_py.config import MAX_COUNT
from ankerl_py.renderers.cells import format_number
from ankerl_py.results.measure import Measure

if TYPE_CHECKING:
    from ankerl_py.results.result import Result

__all__ = ["UNSTABLE_ERROR", "Code", "Remark", "remark"]

UNSTABLE_ERROR = 0.05
"""From this relative error on, a result is marked as unstable (nanobench's limit)."""

_EPOCHS_FACTOR = 4
"""How many times the epochs are suggested: a median of four times as many is twice as exact."""

_ITERATIONS_FACTOR = 10
"""How many times the iterations are suggested (nanobench's factor)."""


class Code(str):
    """A part of a remark that is code, such as the name of a setting."""

    __slots__ = ()


@attrs.frozen
class Remark:
    """What is said about a result beside its name."""

    marker: str = ""
    """Name of an emoji to be put before the name of the benchmark, or nothing."""

    note: tuple[str, ...] = ()
    """What is put behind it in parentheses: parts of a sentence, some of them `Code`."""


def remark(result: Result, *, suppress_warnings: bool = False) -> Remark:
    """Say what has to be known of a result beside its figures.

    Args:
        result: The result.
        suppress_warnings: Do not mark results as unstable.

    Returns:
        Why it failed; or that it measured nothing; or that it is unstable and what can be done
        about that; and that there was no time for all of it. An empty remark if all is well.
    """
    if result.failure is not None:
        return Remark("boom", (result.failure,))
    limits = _limits(result) if result.stopped_early else ()
    if result.at_noise_floor:
        return Remark("", _joined(("cannot be told from an empty op",), limits))
    error = result.median_absolute_percent_error(Measure.ELAPSED)
    if suppress_warnings or error < UNSTABLE_ERROR:
        return Remark("", limits)
    return Remark("wavy_dash", _joined(_instability(result), limits))


def _joined(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return (*left, "; ", *right) if right else left


def _limits(result: Result) -> tuple[str, ...]:
    """Say how much of a run there was time for."""
    iterations = format_number(sum(raw.iterations for raw in result.raw) / len(result), 0)
    time = (
        f"{len(result)} of {result.config.epochs} epochs of ~{iterations} iters. Increase "
        if len(result) < result.config.epochs
        else f"{len(result)} epochs of only ~{iterations} iters. Increase "
    )
    return ("There was time for ", time, Code("max_total_time"), " for more")


def _instability(result: Result) -> tuple[str, ...]:
    """Say how many iterations an unstable result has, and what to increase."""
    iterations = sum(raw.iterations for raw in result.raw)
    found = f"Unstable with ~{format_number(iterations / len(result), 1)} iters"
    if result.stopped_early:
        return (found,)  # what can be done about it is said there
    found += ". Increase "
    setting = _iterations_setting(result)
    if setting is None:
        epochs = min(_EPOCHS_FACTOR * len(result), MAX_COUNT)
        return (found, Code("epochs"), f" to e.g. {epochs}, or look for a quieter machine")
    # Integer arithmetic, halves rounded up.
    suggested = (2 * _ITERATIONS_FACTOR * iterations + len(result)) // (2 * len(result))
    return (found, Code(setting), f" to e.g. {min(suggested, MAX_COUNT)}")


def _iterations_setting(result: Result) -> str | None:
    """Name the setting that makes epochs longer, or None if longer ones cannot help."""
    config = result.config
    epochs_ns = sorted(raw.elapsed_ns for raw in result.raw)
    longest_ns = max(config.min_epoch_time_ns, config.max_epoch_time_ns)
    # An epoch counts as long enough from two thirds of its target on (see core.schedule).
    if 3 * epochs_ns[len(epochs_ns) // 2] >= 2 * longest_ns:
        return None
    if config.epoch_iterations:
        return "epoch_iterations"
    # Half of the epochs read 0. If the clock said so, they are too short; if they do so after
    # the correction, then because its own noise is as large as what was to be measured.
    error = result.median_absolute_percent_error(Measure.ELAPSED)
    if error == math.inf and epochs_ns[0] > 0:
        return None
    return "min_epoch_iterations"
