"""Facts are read from files as the kernel writes them; anything else is an unknown fact."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import tracemalloc
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ankerl_py.backends import system
from ankerl_py.backends.system import (
    CpuPolicy,
    InterpreterFacts,
    SystemFacts,
    read_interpreter,
    read_system,
    usable_cpus,
)

if TYPE_CHECKING:
    from pathlib import Path

CPU = "sys/devices/system/cpu"
NO_TURBO = f"{CPU}/intel_pstate/no_turbo"
BOOST = f"{CPU}/cpufreq/boost"


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def add_policy(root: Path, cpus: list[int], **files: str | bytes) -> Path:
    """A policy as kernels since 4.3 show it: one directory, a link to it from each CPU."""
    directory = root / CPU / f"cpufreq/policy{cpus[0]}"
    directory.mkdir(parents=True)
    write(directory, {f"scaling_{name}": content for name, content in files.items()})
    for cpu in cpus:
        link = root / CPU / f"cpu{cpu}/cpufreq"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"../cpufreq/{directory.name}")
    return directory


def test_an_empty_tree_has_no_facts(tmp_path: Path) -> None:
    """Where nothing can be read, nothing is known."""
    assert read_system(tmp_path, [0, 1]) == SystemFacts()


def test_a_root_that_does_not_exist_has_no_facts(tmp_path: Path) -> None:
    """A missing root is like an empty one."""
    assert read_system(tmp_path / "none", [0]) == SystemFacts()


def test_a_root_that_is_no_path_has_no_facts() -> None:
    """A path that the system cannot even look up is like a missing one."""
    assert read_system("/nul\0character", [0]) == SystemFacts()


def test_a_root_may_be_text_with_or_without_a_slash(tmp_path: Path) -> None:
    """The root is a path of any kind."""
    write(tmp_path, {BOOST: "1\n"})
    expected = SystemFacts(boost=True)
    assert [read_system(str(tmp_path), []), read_system(f"{tmp_path}/", [])] == [expected] * 2


def test_a_policy_is_read_for_the_cpus_that_share_it(tmp_path: Path) -> None:
    """Each policy lists its usable CPUs; limits and governor come without the line's end."""
    for cpus in ([0, 1], [2, 3]):
        add_policy(
            tmp_path, cpus, governor="performance\n", min_freq="3000000\n", max_freq="3000000\n"
        )
    expected = CpuPolicy(cpus=(0, 1), governor="performance", min_khz=3_000_000, max_khz=3_000_000)
    assert read_system(tmp_path, [3, 2, 1, 0]).policies == (
        expected,
        attrs.evolve(expected, cpus=(2, 3)),
    )


def test_cpus_that_may_not_be_used_do_not_matter(tmp_path: Path) -> None:
    """Only the CPUs given count, also within a policy."""
    add_policy(tmp_path, [0, 1, 2], governor="powersave\n")
    add_policy(tmp_path, [3], governor="ondemand\n")
    assert read_system(tmp_path, [1, 2]).policies == (CpuPolicy(cpus=(1, 2), governor="powersave"),)


def test_the_cpus_of_this_process_are_the_default(tmp_path: Path) -> None:
    """Without CPUs given, those that this process may run on are read."""
    cpus = usable_cpus()
    for cpu in range(max(cpus) + 3):
        add_policy(tmp_path, [cpu])
    assert {cpu for each in read_system(tmp_path).policies for cpu in each.cpus} == cpus


def test_usable_cpus_are_those_of_the_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    """The affinity of the process says which CPUs it may use."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {5, 7}, raising=False)
    assert (usable_cpus(), read_interpreter().usable_cpus) == (frozenset({5, 7}), 2)


def test_usable_cpus_are_all_where_there_is_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Platforms without affinities use all CPUs."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert usable_cpus() == {0, 1, 2}


def test_usable_cpus_are_unknown_where_asking_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is an unknown fact."""

    def refuse(pid: int) -> set[int]:
        raise PermissionError

    monkeypatch.setattr(os, "sched_getaffinity", refuse, raising=False)
    assert (usable_cpus(), read_interpreter().usable_cpus) == (frozenset(), None)


def test_a_directory_of_an_old_kernel_is_a_policy(tmp_path: Path) -> None:
    """Before Linux 4.3 a CPU had a directory of its own rather than a link to a policy."""
    for cpu in (0, 1):
        write(tmp_path, {f"{CPU}/cpu{cpu}/cpufreq/scaling_governor": "ondemand\n"})
    assert read_system(tmp_path, [0, 1]).policies == (
        CpuPolicy(cpus=(0,), governor="ondemand"),
        CpuPolicy(cpus=(1,), governor="ondemand"),
    )


def test_limits_are_read_up_to_the_first_policy_that_varies(tmp_path: Path) -> None:
    """One policy that varies is enough to know, and reading all takes long on large machines."""
    for cpu, least in enumerate(("9", "5", "5", "5")):
        add_policy(tmp_path, [cpu], governor="a\n", min_freq=least, max_freq="9")
    assert read_system(tmp_path, range(4)).policies == (
        CpuPolicy(cpus=(0,), governor="a", min_khz=9, max_khz=9),
        CpuPolicy(cpus=(1,), governor="a", min_khz=5, max_khz=9),
        CpuPolicy(cpus=(2,), governor="a"),
        CpuPolicy(cpus=(3,), governor="a"),
    )


@pytest.mark.parametrize(
    ("low", "high", "varies"),
    [(8, 9, True), (9, 9, False), (9, 8, False), (None, 9, False), (8, None, False)],
)
def test_a_policy_varies_if_its_limits_differ(
    low: int | None, high: int | None, varies: bool
) -> None:
    """Unknown limits and limits that make no sense do not count as varying."""
    assert CpuPolicy(cpus=(0,), min_khz=low, max_khz=high).varies is varies


@pytest.mark.parametrize(
    "content", ["", "\n", "<unknown>\n", "-5\n", "1.5\n", "1_0\n", "9" * 19, "\u0663\n", b"\xff\0"]
)
def test_what_is_no_number_is_an_unknown_limit(tmp_path: Path, content: str | bytes) -> None:
    """Only plain digits are a frequency."""
    add_policy(tmp_path, [0], min_freq=content, max_freq=content)
    assert read_system(tmp_path, [0]).policies == (CpuPolicy(cpus=(0,)),)


@pytest.mark.parametrize("content", ["", "\n", "two words", "a\nb", b"\xff\xfe", "a\0", "x" * 33])
def test_what_is_no_name_is_an_unknown_governor(tmp_path: Path, content: str | bytes) -> None:
    """A governor is one short word."""
    add_policy(tmp_path, [0], governor=content)
    assert read_system(tmp_path, [0]).policies == (CpuPolicy(cpus=(0,)),)


@pytest.mark.parametrize(
    ("content", "expected"),
    [("0\n", False), ("1\n", True), ("", None), ("2\n", None), ("on\n", None), (b"\0", None)],
)
def test_switches_are_zero_or_one(tmp_path: Path, content: str, expected: bool | None) -> None:
    """Each turbo switch is read as it stands, and is unknown if it says anything else."""
    write(tmp_path, {NO_TURBO: content})
    assert read_system(tmp_path, []) == SystemFacts(intel_no_turbo=expected)
    (tmp_path / NO_TURBO).unlink()
    write(tmp_path, {BOOST: content})
    assert read_system(tmp_path, []) == SystemFacts(boost=expected)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0\n", 1),
        ("0-127\n", 128),
        ("0-3,8,10-11\n", 7),
        ("", None),
        ("\n", None),
        ("3-1\n", None),
        ("0-\n", None),
        ("0,,1\n", None),
        ("-1\n", None),
    ],
)
def test_online_cpus_are_counted(tmp_path: Path, content: str, expected: int | None) -> None:
    """A list of ranges is counted; a list with any malformed part is unknown."""
    write(tmp_path, {f"{CPU}/online": content})
    assert read_system(tmp_path, []) == SystemFacts(online_cpus=expected)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0.20 0.18 0.12 5/80 11206\n", 5),
        ("0.00 0.00 0.00 0/0 0\n", 0),
        ("", None),
        ("0.20 0.18 0.12\n", None),
        ("0.20 0.18 0.12 5 11206\n", None),
        ("0.20 0.18 0.12 x/80 11206\n", None),
        ("0.20 0.18 0.12 5/80\n", None),
    ],
)
def test_runnable_threads_are_read(tmp_path: Path, content: str, expected: int | None) -> None:
    """The number of runnable threads is the one before the slash of loadavg."""
    write(tmp_path, {"proc/loadavg": content})
    assert read_system(tmp_path, []) == SystemFacts(runnable_threads=expected)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("50000 100000\n", 0.5),
        ("200000 100000\n", 2.0),
        ("max 100000\n", None),
        ("50000 0\n", None),
        ("0 100000\n", None),
        ("50000\n", None),
        ("", None),
    ],
)
def test_a_quota_of_the_own_group_is_read(
    tmp_path: Path, content: str, expected: float | None
) -> None:
    """In a container the own group is at the root of the hierarchy, and needs no other file."""
    write(tmp_path, {"sys/fs/cgroup/cpu.max": content})
    assert read_system(tmp_path, []) == SystemFacts(cpu_quota=expected)


@pytest.mark.parametrize(("outer", "inner"), [("30000", "90000"), ("90000", "30000")])
def test_the_tightest_quota_of_all_groups_counts(tmp_path: Path, outer: str, inner: str) -> None:
    """A limit holds for all groups below it."""
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/outer/inner\n",
            "sys/fs/cgroup/outer/cpu.max": f"{outer} 100000\n",
            "sys/fs/cgroup/outer/inner/cpu.max": f"{inner} 100000\n",
            "sys/fs/cgroup/other/cpu.max": "10000 100000\n",
        },
    )
    assert read_system(tmp_path, []) == SystemFacts(cpu_quota=0.3)


@pytest.mark.parametrize(("quota", "expected"), [("25000\n", 0.25), ("-1\n", None)])
@pytest.mark.parametrize("group", ["", "/docker/12ab"])
def test_a_quota_of_the_first_cgroup_version_is_read(
    tmp_path: Path, group: str, quota: str, expected: float | None
) -> None:
    """Version 1 has a hierarchy for CPU time, two files for a limit, and -1 for no limit."""
    write(
        tmp_path,
        {
            "proc/self/cgroup": f"5:memory:/other\n4:cpu,cpuacct:{group or '/gone'}\n0::/\n",
            f"sys/fs/cgroup/cpu{group}/cpu.cfs_quota_us": quota,
            f"sys/fs/cgroup/cpu{group}/cpu.cfs_period_us": "100000\n",
        },
    )
    assert read_system(tmp_path, []) == SystemFacts(cpu_quota=expected)


def test_a_group_outside_of_the_namespace_is_not_looked_for(tmp_path: Path) -> None:
    """A path with ``..`` leads out of what can be seen, and out of the tree."""
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/../../stray\n",
            "sys/stray/cpu.max": "1 100000\n",
            "sys/fs/stray/cpu.max": "1 100000\n",
            "sys/fs/cgroup/stray/cpu.max": "1 100000\n",
        },
    )
    assert read_system(tmp_path, []) == SystemFacts()


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="needs statvfs")
@pytest.mark.parametrize(("flags", "expected"), [(1, True), (0, False), (14, False)])
def test_a_read_only_mount_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, expected: bool
) -> None:
    """Containers see the host's settings through a mount that cannot be written."""

    class Answer:
        f_flag = flags

    monkeypatch.setattr(os, "statvfs", lambda path: Answer())
    assert read_system(tmp_path, []) == SystemFacts(settings_read_only=expected)


def test_directories_and_pipes_in_place_of_files_are_unknown(tmp_path: Path) -> None:
    """What is no file neither raises nor blocks."""
    (tmp_path / NO_TURBO).mkdir(parents=True)
    (tmp_path / BOOST).parent.mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / BOOST)
    write(tmp_path, {"proc": "a file where a directory belongs", f"{CPU}/cpu0": ""})
    write(tmp_path, {f"{CPU}/cpu1/cpufreq": ""})
    assert read_system(tmp_path, [0]) == SystemFacts()
    assert read_system(tmp_path, [1]) == SystemFacts(policies=(CpuPolicy(cpus=(1,)),))


def test_a_link_to_nowhere_is_a_policy_without_facts(tmp_path: Path) -> None:
    """A policy may disappear while it is being read."""
    add_policy(tmp_path, [0]).rmdir()
    assert read_system(tmp_path, [0]).policies == (CpuPolicy(cpus=(0,)),)


FILES = (
    "proc/loadavg",
    "proc/self/cgroup",
    f"{CPU}/online",
    NO_TURBO,
    BOOST,
    f"{CPU}/cpu0/cpufreq/scaling_governor",
    f"{CPU}/cpu0/cpufreq/scaling_min_freq",
    f"{CPU}/cpu0/cpufreq/scaling_max_freq",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us",
)
CONTENTS = st.one_of(
    st.binary(max_size=60),
    # Nearly right: the characters that such files are made of.
    st.text(alphabet="0123456789-/,: \n.\0acpumx", max_size=40).map(str.encode),
)


@settings(deadline=None)
@given(contents=st.lists(CONTENTS, min_size=len(FILES), max_size=len(FILES)))
def test_no_content_of_a_file_raises(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    """Whatever bytes stand in the files, facts of the right types come out."""
    root = tmp_path_factory.getbasetemp() / "arbitrary"
    write(root, dict(zip(FILES, contents, strict=True)))
    facts = read_system(root, [0])
    assert facts.intel_no_turbo in {True, False, None}
    assert facts.boost in {True, False, None}
    assert facts.online_cpus is None or facts.online_cpus >= 1
    assert facts.runnable_threads is None or facts.runnable_threads >= 0
    assert facts.cpu_quota is None or facts.cpu_quota > 0
    assert [each.cpus for each in facts.policies] == [(0,)]


def test_few_files_are_opened_on_a_large_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy that 64 CPUs share costs three files; of one that comes later, the governor."""
    for start in (0, 64):
        add_policy(
            tmp_path, [*range(start, start + 64)], governor="powersave", min_freq="1", max_freq="2"
        )
    opened: list[str] = []
    real_open = os.open

    def counting_open(path: str, flags: int) -> int:
        opened.append(path)
        return real_open(path, flags)

    monkeypatch.setattr(os, "open", counting_open)
    read_system(tmp_path, range(128))
    assert len([path for path in opened if "scaling_" in path]) == 4
    assert len(opened) < 16


def test_this_machine_can_be_read() -> None:
    """The real root works too; what it says depends on the machine."""
    assert isinstance(read_system(), SystemFacts)


def run_python(*options: str, env: dict[str, str] | None = None) -> InterpreterFacts:
    """What a fresh interpreter says about itself."""
    code = "from ankerl_py.backends.system import *; print(repr(read_interpreter()))"
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    process = subprocess.run(
        [sys.executable, *options, "-c", code],
        env={**variables, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(env or {})},
        capture_output=True,
        text=True,
        check=True,
    )
    facts = eval(process.stdout, {"InterpreterFacts": InterpreterFacts})
    assert isinstance(facts, InterpreterFacts)
    return facts


def test_an_undisturbed_interpreter_has_the_default_facts() -> None:
    """A plain release build says nothing special."""
    expected = InterpreterFacts(
        debug_build=hasattr(sys, "gettotalrefcount"), usable_cpus=len(usable_cpus())
    )
    assert run_python() == expected


def test_development_mode_is_noticed() -> None:
    """``-X dev`` is noticed."""
    assert run_python("-X", "dev").dev_mode


def test_the_allocator_is_noticed() -> None:
    """``PYTHONMALLOC`` is noticed."""
    assert run_python(env={"PYTHONMALLOC": "pymalloc_debug"}).python_malloc == "pymalloc_debug"


def test_tracemalloc_from_the_command_line_is_noticed() -> None:
    """``-X tracemalloc`` is noticed although nobody has imported `tracemalloc`."""
    assert run_python("-X", "tracemalloc").tracemalloc


def test_tracemalloc_is_noticed_while_it_runs() -> None:
    """Only a running `tracemalloc` counts."""
    if tracemalloc.is_tracing():
        pytest.skip("tracemalloc is in use by someone else")
    before = read_interpreter().tracemalloc
    tracemalloc.start()
    try:
        during = read_interpreter().tracemalloc
    finally:
        tracemalloc.stop()
    assert (before, during, read_interpreter().tracemalloc) == (False, True, False)


def test_an_ignored_environment_has_no_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``-E`` Python does not look at ``PYTHONMALLOC``, so it means nothing."""

    class Flags:
        ignore_environment = 1
        dev_mode = False

    environ = {"PYTHONMALLOC": "debug"}
    assert read_interpreter(environ).python_malloc == "debug"
    monkeypatch.setattr(sys, "flags", Flags())
    assert read_interpreter(environ).python_malloc == ""


def test_a_debug_build_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A debug build has a function that others have not, or a letter in its ABI."""
    monkeypatch.delattr(sys, "gettotalrefcount", raising=False)
    monkeypatch.setattr(sys, "abiflags", "t", raising=False)
    plain = read_interpreter().debug_build
    monkeypatch.setattr(sys, "abiflags", "d", raising=False)
    lettered = read_interpreter().debug_build
    monkeypatch.setattr(sys, "abiflags", "", raising=False)
    monkeypatch.setattr(sys, "gettotalrefcount", lambda: 0, raising=False)
    assert (plain, lettered, read_interpreter().debug_build) == (False, True, True)


def hook(frame: object, event: str, arg: object) -> None:
    """A tracer that traces nothing."""


@pytest.mark.parametrize(
    ("owner", "getter", "setter", "role"),
    [
        (sys, "gettrace", "settrace", "trace"),
        (sys, "getprofile", "setprofile", "profile"),
        (threading, "gettrace", "settrace", "trace"),
        (threading, "getprofile", "setprofile", "profile"),
    ],
)
def test_a_hook_is_noticed_and_named(owner: object, getter: str, setter: str, role: str) -> None:
    """Trace and profile functions are noticed while they are set, also those for new threads."""
    name = f"{role} function {__name__}.hook"
    saved = getattr(owner, getter)()
    before = read_interpreter().tracers
    getattr(owner, setter)(hook)
    try:
        during = read_interpreter().tracers
    finally:
        getattr(owner, setter)(saved)
    assert (name in before, during.count(name)) == (False, 1)
    assert read_interpreter().tracers == before


def test_the_same_hook_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A debugger that traces all threads is one tracer."""
    for owner in (sys, threading):
        monkeypatch.setattr(owner, "gettrace", lambda: hook)
        monkeypatch.setattr(owner, "getprofile", lambda: None)
    monkeypatch.setattr(sys, "monitoring", None, raising=False)
    assert read_interpreter().tracers == (f"trace function {__name__}.hook",)


class Tracer:
    """A tracer that is an object, as that of coverage is."""

    def method(self, *args: object) -> None: ...


class Touchy(Tracer):
    """A tracer that does not like to be asked."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


def odd_name() -> None: ...


odd_name.__qualname__ = "two\nlines \N{BANANA}"
odd_name.__module__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("callable_", "expected"),
    [
        (hook, f"{__name__}.hook"),
        (Tracer().method, f"{__name__}.Tracer.method"),
        (Tracer(), f"{__name__}.Tracer"),
        (print, "builtins.print"),
        (odd_name, "two\\nlines \\U0001f34c"),
    ],
    ids=["function", "method", "object", "builtin", "odd"],
)
def test_hooks_are_named_on_one_line_of_ascii(callable_: object, expected: str) -> None:
    """A name can be printed to any stream."""
    assert system._name_of(callable_) == expected


def test_naming_a_hook_runs_none_of_its_code() -> None:
    """An object that does not answer has the name of its type."""
    assert system._name_of(Touchy()) == f"{__name__}.Touchy"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
@pytest.mark.parametrize("tool_id", [0, 5])
def test_a_monitoring_tool_is_noticed(tool_id: int) -> None:
    """Tools of `sys.monitoring` are noticed, which `sys.gettrace` does not show."""
    monitoring = getattr(sys, "monitoring")
    if monitoring.get_tool(tool_id) is not None:
        pytest.skip("in use by someone else")
    before = read_interpreter().tracers
    monitoring.use_tool_id(tool_id, "my\ntool")
    try:
        during = read_interpreter().tracers
    finally:
        monitoring.free_tool_id(tool_id)
    assert (set(during) - set(before), read_interpreter().tracers) == (
        {"monitoring tool 'my\\ntool'"},
        before,
    )
