"""Warnings about a machine or an interpreter that makes times unstable.

`check` turns facts (`ankerl_py.backends.system`) into `StabilityWarning` values, each with its
remedy. `pending_notice` gives the text that a process prints once, before its first row.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import attrs

from ankerl_py.backends.system import InterpreterFacts, SystemFacts, read_interpreter, read_system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "PROCESS_NOTICE",
    "StabilityWarning",
    "WarnOnce",
    "WarningKind",
    "check",
    "format_warnings",
    "pending_notice",
]

_CPU_DIRECTORY = "/sys/devices/system/cpu"
_DEBUG_ALLOCATORS = frozenset({"debug", "malloc_debug", "pymalloc_debug", "mimalloc_debug"})
_MAX_RANGES = 8


class WarningKind(str, Enum):
    """What makes times unstable."""

    FREQUENCY_SCALING = "frequency_scaling"
    GOVERNOR = "governor"
    TURBO = "turbo"
    DEBUG_BUILD = "debug_build"
    DEV_MODE = "dev_mode"
    DEBUG_ALLOCATOR = "debug_allocator"
    TRACER = "tracer"
    TRACEMALLOC = "tracemalloc"
    LOAD = "load"
    CPU_QUOTA = "cpu_quota"


@attrs.frozen
class StabilityWarning:
    """One reason why times might be unstable, and what can be done about it."""

    kind: WarningKind
    """What sort of reason it is."""
    message: str
    """What was found, on one line."""
    remedy: str
    """What helps, on one line."""


class WarnOnce:
    """Says yes to the first who asks, and no to everyone after.

    It may be asked from any thread. A forked child has the answer of its parent. No lock is
    involved, so that none can be left locked in a child.
    """

    def __init__(self) -> None:
        self._permits = [True]

    def claim(self) -> bool:
        """Ask for the one permit.

        Returns:
            True for exactly one caller.
        """
        try:
            return self._permits.pop()  # atomic, also without a global interpreter lock
        except IndexError:
            return False


PROCESS_NOTICE = WarnOnce()
"""Whether this process has already told about its stability."""


def check(system: SystemFacts, interpreter: InterpreterFacts) -> tuple[StabilityWarning, ...]:
    """Judge facts: what makes times unstable, and what helps.

    Args:
        system: what the machine says about itself.
        interpreter: what the interpreter says about itself.

    Returns:
        At most one warning of each kind, in the order of `WarningKind`. An unknown fact is no
        reason to warn.
    """
    return (
        *_frequency_warnings(system),
        *_turbo_warnings(system),
        *_interpreter_warnings(interpreter),
        *_competition_warnings(system, interpreter),
    )


def format_warnings(warnings: Iterable[StabilityWarning]) -> str:
    """The text that tells about warnings, as Markdown.

    Args:
        warnings: what there is to tell.

    Returns:
        All messages, then all remedies without repetitions, then an empty line; an empty text if
        there are no warnings.
    """
    told = tuple(warnings)
    if not told:
        return ""
    lines = ["Warning, results might be unstable:", *(f"* {each.message}" for each in told), ""]
    remedies = dict.fromkeys(each.remedy for each in told)
    lines += ["Recommendations", *(f"* {remedy}" for remedy in remedies), ""]
    return "\n".join(lines) + "\n"


def pending_notice(
    *,
    suppress: bool,
    once: WarnOnce = PROCESS_NOTICE,
    system: Callable[[], SystemFacts] = read_system,
    interpreter: Callable[[], InterpreterFacts] = read_interpreter,
) -> str:
    """What is still to be told about stability before the next row is printed.

    The facts are read at the first call that is not suppressed, and only then.

    Args:
        suppress: True if nothing can or may be printed now: there is no output, or
            ``NANOBENCH_SUPPRESS_WARNINGS`` is on. The notice then stays pending.
        once: who says whether the notice was already given.
        system: reads what the machine says about itself.
        interpreter: reads what the interpreter says about itself, in the calling thread.

    Returns:
        The text to print, ending with an empty line; empty if there is nothing to tell or it was
        told before.
    """
    if suppress or not once.claim():
        return ""
    return format_warnings(check(system(), interpreter()))


def _frequency_warnings(system: SystemFacts) -> Iterator[StabilityWarning]:
    varying = next((policy for policy in system.policies if policy.varies), None)
    if varying is not None:
        limits_mhz = f"{(varying.min_khz or 0) / 1000:,.0f} to {(varying.max_khz or 0) / 1000:,.0f}"
        copy = 'cat "$p"/scaling_max_freq > "$p"/scaling_min_freq'
        yield StabilityWarning(
            WarningKind.FREQUENCY_SCALING,
            f"frequency scaling: {_cpu_names(varying.cpus)} may run at {limits_mhz} MHz",
            _setting(
                system,
                "Fix the frequency",
                f"sudo sh -c 'for p in {_CPU_DIRECTORY}/cpu*/cpufreq; do {copy}; done'",
            ),
        )
    others: dict[str, list[int]] = {}
    for policy in system.policies:
        if policy.governor not in {None, "performance"}:
            others.setdefault(str(policy.governor), []).extend(policy.cpus)
    if others:
        found = ", ".join(f"'{name}' on {_cpu_names(cpus)}" for name, cpus in others.items())
        yield StabilityWarning(
            WarningKind.GOVERNOR,
            f"the CPU governor is {found}, where 'performance' would hold the clock steady",
            _setting(
                system,
                "Choose the governor 'performance'",
                f"echo performance | sudo tee {_CPU_DIRECTORY}/cpu*/cpufreq/scaling_governor",
            ),
        )


def _turbo_warnings(system: SystemFacts) -> Iterator[StabilityWarning]:
    if system.intel_no_turbo is False:
        file, off = "intel_pstate/no_turbo", 1
    elif system.intel_no_turbo is None and system.boost:
        file, off = "cpufreq/boost", 0
    else:
        return
    yield StabilityWarning(
        WarningKind.TURBO,
        "turbo is on: how fast a CPU runs depends on its temperature and on the other CPUs",
        _setting(system, "Turn turbo off", f"echo {off} | sudo tee {_CPU_DIRECTORY}/{file}"),
    )


def _interpreter_warnings(interpreter: InterpreterFacts) -> Iterator[StabilityWarning]:
    if interpreter.debug_build:
        yield StabilityWarning(
            WarningKind.DEBUG_BUILD,
            "this Python is a debug build, with figures unlike those of a release build",
            "Use a Python that was configured without --with-pydebug",
        )
    if interpreter.dev_mode:
        yield StabilityWarning(
            WarningKind.DEV_MODE,
            "Python's development mode is on and adds checks to all code",
            "Run Python without -X dev and without PYTHONDEVMODE",
        )
    if interpreter.python_malloc in _DEBUG_ALLOCATORS:
        yield StabilityWarning(
            WarningKind.DEBUG_ALLOCATOR,
            f"PYTHONMALLOC={interpreter.python_malloc} adds checks to each allocation",
            "Unset PYTHONMALLOC",
        )
    if interpreter.tracers:
        yield StabilityWarning(
            WarningKind.TRACER,
            f"code is being watched while it runs: {', '.join(interpreter.tracers)}",
            "Measure without debugger, profiler and coverage tool",
        )
    if interpreter.tracemalloc:
        yield StabilityWarning(
            WarningKind.TRACEMALLOC,
            "tracemalloc is recording each allocation",
            "Call tracemalloc.stop(), or run Python without -X tracemalloc and PYTHONTRACEMALLOC",
        )


def _competition_warnings(
    system: SystemFacts, interpreter: InterpreterFacts
) -> Iterator[StabilityWarning]:
    # The kernel counts the threads of the whole machine, so they are compared with all of its
    # CPUs: for a process that is pinned to one CPU, another busy one does not mean competition.
    cpus = system.online_cpus or interpreter.usable_cpus
    threads = system.runnable_threads or 0
    if cpus and threads > cpus:
        supply = "is only 1 CPU" if cpus == 1 else f"are only {cpus} CPUs"
        yield StabilityWarning(
            WarningKind.LOAD,
            f"{threads} threads, this one included, want to run, but there {supply}",
            "Measure while no other programs are busy",
        )
    if system.cpu_quota is not None and system.cpu_quota < 1:
        yield StabilityWarning(
            WarningKind.CPU_QUOTA,
            f"code is paused at times: it may use only {system.cpu_quota * 100:.3g} % of one CPU",
            "Allow at least one CPU (docker run --cpus=1, systemd CPUQuota=100%)",
        )


def _setting(system: SystemFacts, aim: str, command: str) -> str:
    """The remedy that is a change of a kernel setting, at a place where it can be changed."""
    place = ", on the host of this container" if system.settings_read_only else ""
    return f"{aim}{place}: {command}"


def _cpu_names(cpus: Iterable[int]) -> str:
    """CPUs in words, such as ``CPU 3`` or ``CPUs 0-3, 8``; a long list is cut short."""
    numbers = sorted(set(cpus))
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [f"{low}" if low == high else f"{low}-{high}" for low, high in ranges[:_MAX_RANGES]]
    if len(ranges) > _MAX_RANGES:
        texts.append("...")
    return f"{'CPU' if len(numbers) == 1 else 'CPUs'} {', '.join(texts)}"
