"""Counters that run beside the clock: the protocol, what is counted, and why something is not.

What counts on Linux is in :mod:`ankerl_py.backends.perf`; ``docs/counters.md`` tells users what
each of the columns needs.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ankerl_py.results.measure import COUNTER_MEASURES, Measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "HARDWARE_MEASURES",
    "SWITCHED_OFF",
    "Absence",
    "AbsenceKind",
    "CounterBackend",
    "CounterReport",
    "Grouping",
    "NoCounters",
    "native_group",
]

HARDWARE_MEASURES = (
    Measure.CPUCYCLES,
    Measure.INSTRUCTIONS,
    Measure.BRANCHINSTRUCTIONS,
    Measure.BRANCHMISSES,
)
"""What the processor counts, in the order in which it is opened. The rest the system counts."""

# The columns of the table, and what has to be counted for each of them.
_COLUMNS = {
    "ins/op": {Measure.INSTRUCTIONS},
    "cyc/op": {Measure.CPUCYCLES},
    "IPC": {Measure.INSTRUCTIONS, Measure.CPUCYCLES},
    "bra/op": {Measure.BRANCHINSTRUCTIONS},
    "miss%": {Measure.BRANCHINSTRUCTIONS, Measure.BRANCHMISSES},
}


class AbsenceKind(str, Enum):
    """The kinds of reasons why something is not counted."""

    SWITCHED_OFF = "switched_off"
    """Nobody asked for it: ``performance_counters(False)``."""

    NOT_LINUX = "not_linux"
    """Counters are implemented for Linux only."""

    NO_NATIVE_MODULE = "no_native_module"
    """The part of this package that is written in C is missing or switched off."""

    NO_PMU = "no_pmu"
    """The kernel knows of no processor's counters, as in most virtual machines (``ENOENT``)."""

    NO_EVENT = "no_event"
    """The processor counts other events, but not this one (``ENOENT``)."""

    NOT_PERMITTED = "not_permitted"
    """This user may not count: the kernel's ``perf_event_paranoid`` (``EACCES``)."""

    SANDBOX = "sandbox"
    """The system call is forbidden, as in many containers (``EPERM``, ``ENOSYS``)."""

    NO_DESCRIPTORS = "no_descriptors"
    """Too many files are open (``EMFILE``, ``ENFILE``)."""

    BUSY = "busy"
    """Another tool has the counters for itself (``EBUSY``)."""

    NEVER_RUNS = "never_runs"
    """The event was opened, but has not had a counter when it was tried."""

    COUNTS_NOTHING = "counts_nothing"
    """The event had a counter, and it stayed 0 while there was something to count."""

    UNKNOWN = "unknown"
    """Another answer of the kernel; `Absence.text` holds it."""

    def __str__(self) -> str:
        return self.value


@attrs.frozen
class Absence:
    """Why some measures are not counted, and what can be done about it."""

    kind: AbsenceKind
    """What sort of reason it is."""

    measures: tuple[Measure, ...]
    """What is not counted."""

    text: str
    """The reason in words."""

    remedy: str = ""
    """What to do about it; empty if nothing is known to help."""

    errno: int | None = None
    """The error number of the kernel's answer, if that is the reason."""

    paranoid_level: int | None = None
    """The value of ``/proc/sys/kernel/perf_event_paranoid``, where that matters and is known."""

    def __str__(self) -> str:
        return self.text


class Grouping(str, Enum):
    """How the processor's events share its counters."""

    NONE = "none"
    """There are no events of the processor."""

    TOGETHER = "together"
    """One group: all are counted at the same time."""

    PAIRS = "pairs"
    """One group did not fit: cycles and instructions are counted at the same time, and branches
    and their misses, but the two pairs may take turns."""

    ALONE = "alone"
    """Not even pairs fit: each event may be counted at other times than the next."""

    def __str__(self) -> str:
        return self.value


@attrs.frozen(kw_only=True)
class CounterReport:
    """What can be counted here, and why the rest can't."""

    available: tuple[Measure, ...] = ()
    """What is counted."""

    absences: tuple[Absence, ...] = ()
    """Why the rest is not."""

    grouping: Grouping = Grouping.NONE
    """Whether the processor's events are counted at the same time."""

    reference_cycles: bool = False
    """Cycles are those of a clock of constant rate, not those of the processor's core."""

    user_space_reads: bool = False
    """All events of the processor are read without system calls, at a tenth of their cost."""

    @property
    def reason(self) -> str:
        """Why not everything is counted, in words; empty if everything is."""
        return "; ".join(absence.text for absence in self.absences)

    @property
    def missing_columns(self) -> tuple[str, ...]:
        """The headings of the table's columns that are missing, in the table's order."""
        counted = set(self.available)
        return tuple(column for column, needed in _COLUMNS.items() if not needed <= counted)

    @property
    def note(self) -> str:
        """What to tell whoever wanted these columns: lines of text without an end of line.

        Empty if no column is missing.
        """
        if not self.missing_columns:
            return ""
        absences = [a for a in self.absences if not set(a.measures).isdisjoint(HARDWARE_MEASURES)]
        columns = ", ".join(self.missing_columns)
        lines = [f"Note: no {columns}: {'; '.join(absence.text for absence in absences)}"]
        remedies = dict.fromkeys(absence.remedy for absence in absences if absence.remedy)
        return "\n".join([*lines, *(f"* {remedy}" for remedy in remedies)])

    def __str__(self) -> str:
        lines = [f"counted: {', '.join(map(str, self.available)) or 'nothing'}"]
        for absence in self.absences:
            remedy = f" - {absence.remedy}" if absence.remedy else ""
            lines.append(f"not {', '.join(map(str, absence.measures))}: {absence.text}{remedy}")
        return "\n".join(lines)


class CounterBackend(Protocol):
    """Something that counts events of the calling thread while an epoch runs."""

    @property
    def reason(self) -> str:
        """Why it does not count everything; empty if it does."""

    def begin(self) -> None:
        """Start counting from zero."""

    def end(self) -> None:
        """Stop counting."""

    def read(self) -> Mapping[Measure, int]:
        """Give the number of events between `begin` and `end`, by measure.

        What is not counted is left out: a missing key is no data, not zero events.
        """


def native_group(counters: CounterBackend) -> Any:
    """Give what the loops in C count with, so that no Python code runs between it and the clock.

    Args:
        counters: What counts beside the clock.

    Returns:
        A pointer for `ap_epoch.group`; None if `begin` and `end` have to be called from Python.
    """
    return getattr(counters, "group", None)


def _as_absence(reason: Absence | str) -> Absence:
    if isinstance(reason, Absence):
        return reason
    return Absence(AbsenceKind.UNKNOWN, COUNTER_MEASURES, reason)


def _as_absences(reasons: Absence | str | Iterable[Absence]) -> tuple[Absence, ...]:
    if isinstance(reasons, (Absence, str)):
        return (_as_absence(reasons),)
    return tuple(reasons)


@attrs.frozen
class NoCounters:
    """No counters at all, and why."""

    absences: tuple[Absence, ...] = attrs.field(converter=_as_absences)
    """The reasons; a text, or just one of them, will do for making it."""

    @property
    def report(self) -> CounterReport:
        """The same as a report."""
        return CounterReport(absences=self.absences)

    @property
    def reason(self) -> str:
        """Why nothing is counted, in words."""
        return self.report.reason

    def begin(self) -> None:
        """Nothing to start."""

    def end(self) -> None:
        """Nothing to stop."""

    def read(self) -> Mapping[Measure, int]:
        """No data."""
        return {}

    def close(self) -> None:
        """Nothing to close."""


SWITCHED_OFF = NoCounters(
    Absence(AbsenceKind.SWITCHED_OFF, COUNTER_MEASURES, "performance_counters is off")
)
"""What counts where counters are not wanted."""
