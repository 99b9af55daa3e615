"""The quantities that are measured in each epoch."""

from __future__ import annotations

from enum import Enum

__all__ = ["COUNTER_MEASURES", "Measure"]


class Measure(str, Enum):
    """A quantity that is measured in each epoch. The names are nanobench's."""

    ELAPSED = "elapsed"
    """Time in seconds per iteration, without the calibrated overhead."""

    ITERATIONS = "iterations"
    """Number of iterations of the epoch. The one measure that is not per iteration."""

    PAGEFAULTS = "pagefaults"
    """Page faults per iteration."""

    CPUCYCLES = "cpucycles"
    """CPU cycles per iteration."""

    CONTEXTSWITCHES = "contextswitches"
    """Context switches per iteration."""

    INSTRUCTIONS = "instructions"
    """Instructions per iteration."""

    BRANCHINSTRUCTIONS = "branchinstructions"
    """Branches per iteration, without those of the measuring loop."""

    BRANCHMISSES = "branchmisses"
    """Mispredicted branches per iteration, without the one that leaves the measuring loop."""

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @classmethod
    def parse(cls, text: object) -> Measure | None:
        """Find a measure by its name.

        Args:
            text: The name, such as ``"instructions"``, or a `Measure`.

        Returns:
            The measure, or None if there is no such one. It is up to the caller whether this is
            an error: a result answers "no data", a template refuses.
        """
        return _MEASURES.get(text) if isinstance(text, str) else None


_MEASURES: dict[str, Measure] = {measure.value: measure for measure in Measure}

COUNTER_MEASURES: tuple[Measure, ...] = tuple(
    measure for measure in Measure if measure not in (Measure.ELAPSED, Measure.ITERATIONS)
)
"""The measures that come from counters of the processor or the system, in a fixed order."""
