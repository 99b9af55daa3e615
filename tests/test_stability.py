"""Facts that make times unstable become warnings with a remedy, told once per process."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.backends.system import CpuPolicy, InterpreterFacts, SystemFacts, read_system
from ankerl_py.core import stability
from ankerl_py.core.stability import (
    StabilityWarning,
    WarningKind,
    WarnOnce,
    check,
    format_warnings,
    pending_notice,
)

if TYPE_CHECKING:
    from pathlib import Path

QUIET = SystemFacts()
PLAIN = InterpreterFacts()


def kinds(system: SystemFacts = QUIET, interpreter: InterpreterFacts = PLAIN) -> list[WarningKind]:
    return [each.kind for each in check(system, interpreter)]


def only(system: SystemFacts = QUIET, interpreter: InterpreterFacts = PLAIN) -> StabilityWarning:
    (warning,) = check(system, interpreter)
    return warning


def policy(
    *cpus: int, governor: str | None = None, khz: tuple[int, int] | None = None
) -> CpuPolicy:
    low, high = khz or (None, None)
    return CpuPolicy(cpus=cpus or (0,), governor=governor, min_khz=low, max_khz=high)


def test_unknown_facts_are_no_reason_to_warn() -> None:
    """Nothing known, nothing to tell."""
    assert check(QUIET, PLAIN) == ()


def test_a_well_kept_machine_has_no_warnings() -> None:
    """A fixed frequency, no turbo, an idle machine and a plain interpreter are fine."""
    facts = SystemFacts(
        policies=(policy(0, 1, governor="performance", khz=(3_000_000, 3_000_000)),),
        intel_no_turbo=True,
        boost=False,
        online_cpus=2,
        runnable_threads=1,
        cpu_quota=2.0,
    )
    assert check(facts, InterpreterFacts(python_malloc="malloc", usable_cpus=2)) == ()


def test_a_varying_frequency_is_told_with_its_range() -> None:
    """The first CPUs whose frequency varies are named, in MHz."""
    facts = SystemFacts(
        policies=(
            policy(0, khz=(2_000_000, 2_000_000)),
            policy(1, 2, khz=(800_000, 3_500_600)),
            policy(3, khz=(1, 2)),
        )
    )
    warning = only(facts)
    assert (warning.kind, warning.message) == (
        WarningKind.FREQUENCY_SCALING,
        "frequency scaling: CPUs 1-2 may run at 800 to 3,501 MHz",
    )
    assert 'cat "$p"/scaling_max_freq > "$p"/scaling_min_freq' in warning.remedy


@pytest.mark.parametrize("khz", [(5, 5), (6, 5), None])
def test_a_fixed_or_unknown_frequency_is_fine(khz: tuple[int, int] | None) -> None:
    """Equal, senseless and unknown limits are no reason to warn."""
    assert check(SystemFacts(policies=(policy(khz=khz),)), PLAIN) == ()


def test_governors_are_told_with_their_cpus() -> None:
    """CPUs of each governor are named together, those with 'performance' or none are not."""
    facts = SystemFacts(
        policies=(
            policy(0, governor="powersave"),
            policy(1, governor="performance"),
            policy(2, governor="ondemand"),
            policy(3, 4, governor="powersave"),
            policy(5),
        )
    )
    warning = only(facts)
    assert (warning.kind, warning.message) == (
        WarningKind.GOVERNOR,
        (
            "the CPU governor is 'powersave' on CPUs 0, 3-4, 'ondemand' on CPU 2,"
            " where 'performance' would hold the clock steady"
        ),
    )
    assert warning.remedy == (
        "Choose the governor 'performance':"
        " echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    )


@pytest.mark.parametrize(
    ("no_turbo", "boost", "command"),
    [
        (False, None, "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"),
        (False, False, "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"),
        (None, True, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
    ],
)
def test_turbo_is_told_with_the_switch_of_the_vendor(
    no_turbo: bool | None, boost: bool | None, command: str
) -> None:
    """Intel's switch is 1 for off, that of others is 0 for off."""
    warning = only(SystemFacts(intel_no_turbo=no_turbo, boost=boost))
    assert (warning.kind, warning.remedy) == (WarningKind.TURBO, f"Turn turbo off: {command}")


@pytest.mark.parametrize(
    ("no_turbo", "boost"), [(True, None), (True, True), (None, False), (None, None)]
)
def test_turbo_that_is_off_or_unknown_is_fine(no_turbo: bool | None, boost: bool | None) -> None:
    """Where Intel's switch exists, it decides."""
    assert check(SystemFacts(intel_no_turbo=no_turbo, boost=boost), PLAIN) == ()


def test_a_container_is_told_to_change_settings_on_its_host() -> None:
    """Where /sys is read-only the commands work on the host only."""
    facts = SystemFacts(
        policies=(policy(governor="powersave", khz=(1, 2)),), boost=True, settings_read_only=True
    )
    assert [", on the host of this container: " in each.remedy for each in check(facts, PLAIN)] == [
        True
    ] * 3
    own = attrs.evolve(facts, settings_read_only=False)
    assert not any("host" in each.remedy for each in check(own, PLAIN))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (InterpreterFacts(debug_build=True), WarningKind.DEBUG_BUILD),
        (InterpreterFacts(dev_mode=True), WarningKind.DEV_MODE),
        (InterpreterFacts(python_malloc="debug"), WarningKind.DEBUG_ALLOCATOR),
        (InterpreterFacts(python_malloc="malloc_debug"), WarningKind.DEBUG_ALLOCATOR),
        (InterpreterFacts(python_malloc="pymalloc_debug"), WarningKind.DEBUG_ALLOCATOR),
        (InterpreterFacts(python_malloc="mimalloc_debug"), WarningKind.DEBUG_ALLOCATOR),
        (InterpreterFacts(tracers=("trace function x",)), WarningKind.TRACER),
        (InterpreterFacts(tracemalloc=True), WarningKind.TRACEMALLOC),
    ],
)
def test_each_fact_about_the_interpreter_has_its_warning(
    facts: InterpreterFacts, kind: WarningKind
) -> None:
    """One fact, one warning."""
    assert only(interpreter=facts).kind == kind


@pytest.mark.parametrize("value", ["", "malloc", "pymalloc", "mimalloc", "default", "nonsense"])
def test_other_allocators_are_fine(value: str) -> None:
    """Only the allocators that check are slow."""
    assert check(QUIET, InterpreterFacts(python_malloc=value)) == ()


def test_the_message_names_what_was_found() -> None:
    """The allocator and every tracer are named."""
    facts = InterpreterFacts(python_malloc="malloc_debug", tracers=("tool a", "tool b"))
    allocator, tracer = check(QUIET, facts)
    assert (allocator.message, tracer.message) == (
        "PYTHONMALLOC=malloc_debug adds checks to each allocation",
        "code is being watched while it runs: tool a, tool b",
    )


@pytest.mark.parametrize(
    ("runnable", "online", "usable", "warns"),
    [
        (1, 1, 1, False),
        (2, 1, 1, True),
        (2, 2, 2, False),
        (3, 2, 2, True),
        (0, 1, 1, False),
        (None, 1, 1, False),
        (9, None, None, False),
        (3, None, 2, True),
        (2, None, 2, False),
        # Pinned to one CPU of eight: the other busy thread has seven to run on.
        (2, 8, 1, False),
        (9, 8, 1, True),
    ],
)
def test_a_machine_with_more_threads_than_cpus_is_told(
    runnable: int | None, online: int | None, usable: int | None, warns: bool
) -> None:
    """All runnable threads, the measuring one included, need a CPU each."""
    facts = SystemFacts(online_cpus=online, runnable_threads=runnable)
    expected = [WarningKind.LOAD] if warns else []
    assert kinds(facts, InterpreterFacts(usable_cpus=usable)) == expected


@pytest.mark.parametrize(
    ("runnable", "cpus", "message"),
    [
        (2, 1, "2 threads, this one included, want to run, but there is only 1 CPU"),
        (4, 2, "4 threads, this one included, want to run, but there are only 2 CPUs"),
    ],
)
def test_the_load_is_told_in_numbers(runnable: int, cpus: int, message: str) -> None:
    """How many threads there are, and how many CPUs."""
    facts = SystemFacts(online_cpus=cpus, runnable_threads=runnable)
    assert only(facts).message == message


@pytest.mark.parametrize(("quota", "warns"), [(0.5, True), (0.999, True), (1.0, False)])
def test_less_than_one_cpu_is_told(quota: float, warns: bool) -> None:
    """A single thread is never stopped if its group has one CPU."""
    assert kinds(SystemFacts(cpu_quota=quota)) == ([WarningKind.CPU_QUOTA] if warns else [])


def test_the_quota_is_told_in_percent() -> None:
    """How much of a CPU there is."""
    message = "code is paused at times: it may use only 12.5 % of one CPU"
    assert only(SystemFacts(cpu_quota=0.125)).message == message


EVERYTHING = SystemFacts(
    policies=(policy(governor="powersave", khz=(1, 2)),),
    boost=True,
    online_cpus=1,
    runnable_threads=3,
    cpu_quota=0.5,
)
DISTURBED = InterpreterFacts(
    debug_build=True, dev_mode=True, python_malloc="debug", tracers=("x",), tracemalloc=True
)


def test_all_warnings_come_together_in_the_order_of_their_kinds() -> None:
    """No warning hides another, and the order is fixed."""
    assert kinds(EVERYTHING, DISTURBED) == list(WarningKind)


def test_every_warning_has_a_message_and_a_remedy_on_one_line_each() -> None:
    """The text is a list, so that an entry is one line; ASCII goes to any stream."""
    for warning in check(EVERYTHING, DISTURBED):
        for text in (warning.message, warning.remedy):
            assert text == text.strip()
            assert text.isascii()
            assert text.isprintable()
            assert text


@pytest.mark.parametrize(
    ("cpus", "expected"),
    [
        ((3,), "CPU 3"),
        ((1, 0), "CPUs 0-1"),
        ((0, 2, 3, 4, 9, 2), "CPUs 0, 2-4, 9"),
        (tuple(range(0, 16, 2)), "CPUs 0, 2, 4, 6, 8, 10, 12, 14"),
        (tuple(range(0, 40, 2)), "CPUs 0, 2, 4, 6, 8, 10, 12, 14, ..."),
    ],
)
def test_cpus_are_named_as_ranges(cpus: tuple[int, ...], expected: str) -> None:
    """Neighbours make a range, and a long list is cut short."""
    assert stability._cpu_names(cpus) == expected


def test_warnings_are_printed_as_two_lists_and_an_empty_line() -> None:
    """Messages come first, then what helps, each remedy once."""
    warnings = [
        StabilityWarning(WarningKind.GOVERNOR, "one", "do this"),
        StabilityWarning(WarningKind.TURBO, "two", "do that"),
        StabilityWarning(WarningKind.LOAD, "three", "do this"),
    ]
    assert format_warnings(iter(warnings)) == (
        "Warning, results might be unstable:\n* one\n* two\n* three\n\n"
        "Recommendations\n* do this\n* do that\n\n"
    )


def test_no_warnings_are_no_text() -> None:
    """Not even a headline."""
    assert format_warnings(()) == ""


TEXTS = st.text(alphabet="abc", min_size=1, max_size=2)


@given(st.lists(st.builds(StabilityWarning, st.sampled_from(WarningKind), TEXTS, TEXTS)))
def test_every_message_and_each_remedy_once_is_told(warnings: list[StabilityWarning]) -> None:
    """No message is lost, no remedy is repeated."""
    bullets = [line[2:] for line in format_warnings(warnings).split("\n") if line[:2] == "* "]
    messages, remedies = bullets[: len(warnings)], bullets[len(warnings) :]
    assert messages == [each.message for each in warnings]
    assert sorted(remedies) == sorted({each.remedy for each in warnings})


def refuse() -> SystemFacts:
    raise AssertionError("nothing may be read")


def notice(once: WarnOnce, *, suppress: bool = False) -> str:
    return pending_notice(
        suppress=suppress,
        once=once,
        system=lambda: SystemFacts(boost=True),
        interpreter=lambda: InterpreterFacts(dev_mode=True),
    )


def test_the_notice_is_given_once() -> None:
    """The first row has it, the second has not, and facts are not read again."""
    once = WarnOnce()
    expected = format_warnings(check(SystemFacts(boost=True), InterpreterFacts(dev_mode=True)))
    assert (notice(once), notice(once)) == (expected, "")
    assert pending_notice(suppress=False, once=once, system=refuse) == ""


def test_a_suppressed_notice_stays_pending() -> None:
    """Without output nothing is read and nothing counts as told."""
    once = WarnOnce()
    assert pending_notice(suppress=True, once=once, system=refuse) == ""
    assert notice(once) != ""


def test_a_quiet_machine_is_read_once() -> None:
    """That there is nothing to tell is found out once, too."""
    once = WarnOnce()
    assert (
        pending_notice(suppress=False, once=once, system=SystemFacts, interpreter=lambda: PLAIN)
        == ""
    )
    assert notice(once) == ""


def test_by_default_the_process_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an object of one's own there is one for the whole process."""
    fresh = WarnOnce()
    # Other tests may or may not have printed a table, so the state is put back afterwards.
    monkeypatch.setattr(stability.PROCESS_NOTICE, "_permits", fresh._permits)
    facts = SystemFacts(boost=True)
    texts = [pending_notice(suppress=False, system=lambda: facts) for _ in range(2)]
    assert (texts[0][:8], texts[1], fresh.claim()) == ("Warning,", "", False)


def test_the_real_machine_can_be_judged() -> None:
    """The default readers work; what they find depends on the machine."""
    text = pending_notice(suppress=False, once=WarnOnce())
    assert text == "" or text.endswith("\n\n")


def test_one_of_many_threads_gets_the_permit() -> None:
    """Whoever asks first gets it, and nobody else."""
    once = WarnOnce()
    barrier = threading.Barrier(8)
    answers: list[bool] = []

    def ask() -> None:
        barrier.wait()
        answers.append(once.claim())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 7 + [True]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_repeat_the_notice() -> None:
    """What the parent has told is told."""
    once = WarnOnce()
    once.claim()
    child = os.fork()
    if child == 0:
        os._exit(int(once.claim()))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_from_files_to_text(tmp_path: Path) -> None:
    """The parts fit: files as the kernel writes them give the notice."""
    cpu = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq"
    cpu.mkdir(parents=True)
    (cpu / "scaling_governor").write_text("schedutil\n", encoding="ascii")
    text = pending_notice(
        suppress=False,
        once=WarnOnce(),
        system=lambda: read_system(tmp_path, [0]),
        interpreter=lambda: PLAIN,
    )
    assert "* the CPU governor is 'schedutil' on CPU 0, " in text
