"""Facts about the machine and the interpreter that decide how far times can be trusted.

Only what stands in a few small files below ``/sys`` and ``/proc`` and in `sys` is read; judging
it is left to `ankerl_py.core.stability`. Nothing here raises: what cannot be read or makes no
sense is an unknown fact (None, or left out).

A benchmark pays for this once per process, so it has to be cheap on large machines too: one small
file after the other is read without buffering, CPUs that share a frequency policy are read once,
and one policy whose frequency varies is enough. Files that make the kernel ask other CPUs
(``scaling_cur_freq``) or that exist once per process are left alone.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "CpuPolicy",
    "InterpreterFacts",
    "SystemFacts",
    "read_interpreter",
    "read_system",
    "usable_cpus",
]

_READ_LIMIT_BYTES = 8192
# Without O_NONBLOCK a named pipe in the place of a file would block for ever.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_READ_ONLY_MOUNT = getattr(os, "ST_RDONLY", 1)

# Control groups are rarely nested deeper than this, and a limit further up is the host's affair.
_CGROUP_DEPTH = 16
_MONITORING_TOOL_IDS = range(6)
_MAX_DIGITS = 18
_MAX_GOVERNOR_LENGTH = 32


@attrs.frozen(kw_only=True)
class CpuPolicy:
    """How the frequency of some CPUs is chosen, as the kernel's cpufreq tells it."""

    cpus: tuple[int, ...]
    """The CPUs that this policy governs and this process may run on, ascending."""
    governor: str | None = None
    """Name of the governor, such as ``powersave``; None if unknown."""
    min_khz: int | None = None
    """Lowest frequency that the governor may choose, in kHz; None if unknown or not read."""
    max_khz: int | None = None
    """Highest frequency that the governor may choose, in kHz; None if unknown or not read."""

    @property
    def varies(self) -> bool:
        """Whether the governor is known to have a choice of frequencies."""
        return self.min_khz is not None and self.max_khz is not None and self.min_khz < self.max_khz


@attrs.frozen(kw_only=True)
class SystemFacts:
    """What the machine says about itself. The defaults say nothing: all is unknown."""

    policies: tuple[CpuPolicy, ...] = ()
    """Frequency policies of the usable CPUs; empty where there is no cpufreq, as in most VMs.

    Limits of the frequency are read up to the first policy that varies.
    """
    intel_no_turbo: bool | None = None
    """Intel's switch (``intel_pstate/no_turbo``): True if turbo is off; None without one."""
    boost: bool | None = None
    """Switch of AMD and others (``cpufreq/boost``): True if boost is on; None without one."""
    settings_read_only: bool = False
    """``/sys`` is mounted read-only, as in a container: only the host can change its settings."""
    online_cpus: int | None = None
    """Number of CPUs that the machine has online, for whatever process; None if unknown."""
    runnable_threads: int | None = None
    """Threads of the whole machine that run or wait for a CPU, the reading one included."""
    cpu_quota: float | None = None
    """CPU time that the control groups allow, in CPUs (0.5: half of one); None if unlimited."""


@attrs.frozen(kw_only=True)
class InterpreterFacts:
    """What the interpreter says about itself. The defaults are those of an undisturbed one."""

    debug_build: bool = False
    """Python was configured with ``--with-pydebug``."""
    dev_mode: bool = False
    """Python's development mode is on (``-X dev``, ``PYTHONDEVMODE``)."""
    python_malloc: str = ""
    """Value of ``PYTHONMALLOC``, empty if it is not set or was ignored (``-E``, ``-I``)."""
    tracers: tuple[str, ...] = ()
    """Tracers, profilers and coverage tools that listen to running code, each in words."""
    tracemalloc: bool = False
    """`tracemalloc` records every allocation."""
    usable_cpus: int | None = None
    """Number of CPUs that this process may run on; None if unknown."""


def usable_cpus() -> frozenset[int]:
    """The CPUs that this process may run on.

    Returns:
        Numbers of CPUs as in ``cpu0``; empty if the platform does not tell.
    """
    if hasattr(os, "sched_getaffinity"):
        try:
            return frozenset(os.sched_getaffinity(0))
        except OSError:  # forbidden in some sandboxes
            return frozenset()
    return frozenset(range(os.cpu_count() or 0))


def read_system(
    root: str | os.PathLike[str] = "/", cpus: Iterable[int] | None = None
) -> SystemFacts:
    """Read what the machine says about itself.

    Args:
        root: directory with ``sys`` and ``proc`` below it; tests give a made-up tree.
        cpus: the CPUs whose frequency matters; default: those this process may run on.

    Returns:
        The facts. What is missing, unreadable or malformed is unknown; nothing is raised.
    """
    base = os.fspath(root).rstrip("/")
    cpu_base = f"{base}/sys/devices/system/cpu"
    return SystemFacts(
        policies=tuple(_policies(cpu_base, usable_cpus() if cpus is None else cpus)),
        intel_no_turbo=_switch(f"{cpu_base}/intel_pstate/no_turbo"),
        boost=_switch(f"{cpu_base}/cpufreq/boost"),
        settings_read_only=_is_read_only(cpu_base),
        online_cpus=_count_cpus(_read(f"{cpu_base}/online")),
        runnable_threads=_running_threads(_read(f"{base}/proc/loadavg")),
        cpu_quota=_cpu_quota(base),
    )


def read_interpreter(environ: Mapping[str, str] | None = None) -> InterpreterFacts:
    """Read what the running interpreter says about itself, as the calling thread sees it.

    Args:
        environ: environment variables; default: those of the process.

    Returns:
        The facts.
    """
    variables = os.environ if environ is None else environ
    return InterpreterFacts(
        debug_build=hasattr(sys, "gettotalrefcount") or "d" in getattr(sys, "abiflags", ""),
        dev_mode=bool(sys.flags.dev_mode),
        python_malloc="" if sys.flags.ignore_environment else variables.get("PYTHONMALLOC", ""),
        tracers=tuple(dict.fromkeys(_active_tracers())),
        tracemalloc=_is_tracing_allocations(),
        usable_cpus=len(usable_cpus()) or None,
    )


def _read(path: str) -> bytes:
    """The start of a file without surrounding whitespace; empty if it cannot be read."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
        try:
            return os.read(descriptor, _READ_LIMIT_BYTES).strip()
        finally:
            os.close(descriptor)
    except (OSError, ValueError):  # ValueError: a path with a null character
        return b""


def _number(text: bytes) -> int | None:
    """A number in digits, small enough to count something; None if the text is none."""
    return int(text) if text.isdigit() and len(text) <= _MAX_DIGITS else None


def _switch(path: str) -> bool | None:
    return {b"0": False, b"1": True}.get(_read(path))


def _is_read_only(path: str) -> bool:
    if not hasattr(os, "statvfs"):
        return False
    try:
        return bool(os.statvfs(path).f_flag & _READ_ONLY_MOUNT)
    except (OSError, ValueError):
        return False


def _policies(cpu_base: str, cpus: Iterable[int]) -> Iterator[CpuPolicy]:
    """The policies of some CPUs, each read once however many CPUs share it."""
    shared: dict[str, list[int]] = {}
    for cpu in sorted(cpus):
        name = _policy_of(f"{cpu_base}/cpu{cpu}/cpufreq")
        if name:
            shared.setdefault(name, []).append(cpu)
    varies = False
    for members in shared.values():
        directory = f"{cpu_base}/cpu{members[0]}/cpufreq"
        policy = CpuPolicy(
            cpus=tuple(members),
            governor=_governor(_read(f"{directory}/scaling_governor")),
            min_khz=None if varies else _number(_read(f"{directory}/scaling_min_freq")),
            max_khz=None if varies else _number(_read(f"{directory}/scaling_max_freq")),
        )
        varies = varies or policy.varies
        yield policy


def _policy_of(directory: str) -> str:
    """What tells the policy of a CPU from others; empty if the CPU has none.

    ``cpu5/cpufreq`` is a symbolic link such as ``../cpufreq/policy4``, which says who shares a
    policy without opening a file. Kernels before 4.3 have a directory there for some CPUs.
    """
    try:
        # Importing pathlib for this alone would take longer than all the reading.
        return os.readlink(directory)  # noqa: PTH115
    except OSError as error:
        return directory if error.errno == errno.EINVAL else ""
    except ValueError:
        return ""


def _governor(text: bytes) -> str | None:
    is_name = text.replace(b"_", b"").isalnum() and len(text) <= _MAX_GOVERNOR_LENGTH
    return text.decode("ascii") if is_name else None


def _running_threads(loadavg: bytes) -> int | None:
    """The figure before the slash in ``0.20 0.18 0.12 1/80 11206``."""
    fields = loadavg.split()
    if len(fields) != 5 or b"/" not in fields[3]:
        return None
    return _number(fields[3].partition(b"/")[0])


def _count_cpus(text: bytes) -> int | None:
    """Number of CPUs in a list such as ``0-3,8``; None if it is none."""
    total = 0
    for part in text.split(b","):
        first, dash, last = part.partition(b"-")
        low = _number(first)
        high = _number(last) if dash else low
        if low is None or high is None or high < low:
            return None
        total += high - low + 1
    return total


def _cpu_quota(base: str) -> float | None:
    """The tightest limit of CPU time in the control groups of this process, in CPUs."""
    # The root of each hierarchy is looked at in any case: a container sees its own group there,
    # though ``/proc/self/cgroup`` may name a path that exists on the host only.
    unified = legacy = b"/"
    for line in _read(f"{base}/proc/self/cgroup").splitlines():
        hierarchy, _, rest = line.partition(b":")
        controllers, _, path = rest.partition(b":")
        if hierarchy == b"0" and not controllers:
            unified = path
        elif b"cpu" in controllers.split(b","):
            legacy = path
    limits: list[tuple[bytes, bytes]] = []
    for directory in _ancestors(f"{base}/sys/fs/cgroup", unified):
        quota, _, period = _read(f"{directory}/cpu.max").partition(b" ")
        limits.append((quota, period))
    for directory in _ancestors(f"{base}/sys/fs/cgroup/cpu", legacy):
        quota = _read(f"{directory}/cpu.cfs_quota_us")
        limits.append((quota, _read(f"{directory}/cpu.cfs_period_us") if quota else b""))
    # "max" and "-1", which mean that there is no limit, are no numbers.
    numbers = ((_number(quota), _number(period)) for quota, period in limits)
    return min((quota / period for quota, period in numbers if quota and period), default=None)


def _ancestors(top: str, group: bytes) -> Iterator[str]:
    """The directory of a control group's hierarchy, then those down to the group itself."""
    directory = top
    yield directory
    for name in group.split(b"/")[: _CGROUP_DEPTH + 1]:
        if name == b"..":  # a group outside of this namespace, which cannot be seen from here
            return
        if name:
            directory = f"{directory}/{os.fsdecode(name)}"
            yield directory


def _active_tracers() -> Iterator[str]:
    """Everything that is called while code runs, in words; the same thing may come twice."""
    # Those of `threading` are for threads started later, so they matter to an op that starts some.
    hooks: tuple[tuple[str, object], ...] = (
        ("trace function", sys.gettrace()),
        ("trace function", threading.gettrace()),
        ("profile function", sys.getprofile()),
        ("profile function", threading.getprofile()),
    )
    for role, hook in hooks:
        if hook is not None:
            yield f"{role} {_name_of(hook)}"
    # Since 3.12 cProfile and coverage can be here only. That a tool has no events for all code
    # does not mean that it is idle: those for single functions cannot be listed.
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        for tool_id in _MONITORING_TOOL_IDS:
            name = monitoring.get_tool(tool_id)
            if name is not None:
                yield f"monitoring tool {name!a}"


def _name_of(hook: object) -> str:
    """Name of a callable, in ASCII and on one line, without running code of the callable."""
    # Not `isinstance`, which asks the object for its `__class__`.
    is_function = issubclass(type(hook), FunctionType | BuiltinFunctionType | MethodType)
    named = hook if is_function else type(hook)
    parts = (getattr(named, "__module__", None), getattr(named, "__qualname__", None))
    return ascii(".".join(part for part in parts if isinstance(part, str)))[1:-1]


def _is_tracing_allocations() -> bool:
    try:
        # The public module need not be loaded when ``-X tracemalloc`` has started it.
        import _tracemalloc  # noqa: PLC0415 - absent in other implementations than CPython
    except ImportError:
        return False
    return _tracemalloc.is_tracing()
