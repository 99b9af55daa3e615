from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.config import MAX_COUNT, Config
from ankerl_py.environment import (
    Environment,
    ErrorReporter,
    apply_config_text,
    parse_config_text,
)
from strategies import configs
from support import check_case, config_from_set, departs, load_cases, settings_of

VARIABLES = ("NANOBENCH_CONFIG", "NANOBENCH_SUPPRESS_WARNINGS", "NANOBENCH_ENDLESS")


@pytest.mark.parametrize("case", load_cases("env_config", "string"))
def test_settings_text_is_read_as_by_nanobench(case: dict[str, Any]) -> None:
    """Settings and error messages are nanobench's."""
    config = config_from_set(case["in"].get("set", []))
    config, errors = apply_config_text(config, case["in"]["config"])
    actual = {"settings": settings_of(config), "errors": list(errors)}
    check_case("env_config", case, actual, case["out"])


@pytest.mark.parametrize("case", load_cases("env_config", "environment"))
def test_environment_is_applied_as_by_nanobench(
    case: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every benchmark gets the settings; errors are written once per process."""
    reporter = ErrorReporter()
    settings = []
    for _ in range(case["in"]["benches"]):
        environment = Environment(case["in"]["env"], reporter)
        config = environment.configure(Config())
        settings.append(settings_of(config_from_set(case["in"].get("set", []), config)))
    actual = {"settings": settings, "stderr": capsys.readouterr().err}
    check_case("env_config", case, actual, case["out"])


def test_departures_are_what_is_better() -> None:
    """Where nanobench is departed from, this is the answer instead."""
    cases = [param.values[0] for param in load_cases("env_config", "string")]
    actual = {
        case["id"]: parse_config_text(case["in"]["config"])
        for case in cases
        if departs("env_config", case)
    }
    assert actual == {
        "env-010-zero": ({}, ("NANOBENCH_CONFIG: 'epochs=0' is too small - use 1 or more",)),
        "env-040-error-space-before-unit": ({"min_epoch_time_ns": 5_000_000}, ()),
        "env-057-error-many-fraction-digits": ({"min_epoch_time_ns": 1_000_000_000}, ()),
    }


@pytest.mark.parametrize(
    ("text", "changes", "errors"),
    [
        ("min_epoch_time=5 ms", {"min_epoch_time_ns": 5_000_000}, []),
        ("max_epoch_time=.5\ts , epochs=7", {"max_epoch_time_ns": 500_000_000, "epochs": 7}, []),
        ("epoch_iterations=3,epochIterations=4", {"epoch_iterations": 4}, []),
        ("clock_resolution_multiple=3", {"clock_resolution_multiple": 3}, []),
        ("min_epoch_iterations=0", {"min_epoch_iterations": 0}, []),
        ("epochs=3,epochs=x", {"epochs": 3}, ["'epochs=x' is not a number"]),
        (
            "min_epoch_time=5",
            {},
            ["'min_epoch_time=5' is missing a time unit - use ns, us, ms or s"],
        ),
        ("epochs=.", {}, ["'epochs=.' is not a number"]),
        ("epochs=1.0", {}, ["'epochs=1.0' is not a whole number"]),
        ("epochs=0.", {}, ["'epochs=0.' is too small - use 1 or more"]),
        ("warmup=.5", {}, ["'warmup=.5' is not a whole number"]),
        ("warmup=" + "0" * 5000 + "5", {"warmup": 5}, []),
        (f"warmup={MAX_COUNT}", {"warmup": MAX_COUNT}, []),
        (f"warmup={MAX_COUNT + 1}", {}, [f"'warmup={MAX_COUNT + 1}' is too large"]),
        ("warmup=" + "9" * 5000, {}, ["'warmup=" + "9" * 5000 + "' is too large"]),
        ("\v\f\r\n\t epochs\v=\f5\r\n", {"epochs": 5}, []),
    ],
)
def test_settings_text(text: str, changes: dict[str, int], errors: list[str]) -> None:
    """Both spellings of keys, spaces before a unit, and any number of digits will do."""
    expected = (changes, tuple(f"NANOBENCH_CONFIG: {error}" for error in errors))
    assert parse_config_text(text) == expected


@pytest.mark.parametrize("key", ["min_epoch_time_ns", "minEpochTime_ns", "title", "Epochs", ""])
def test_unknown_keys(key: str) -> None:
    """Only the seven keys are known; the error lists them in nanobench's spelling."""
    changes, errors = parse_config_text(f"{key}=5")
    assert changes == {}
    (error,) = errors
    assert error == (
        f"NANOBENCH_CONFIG: unknown key '{key}' - valid keys are clockResolutionMultiple, "
        "epochIterations, epochs, maxEpochTime, minEpochIterations, minEpochTime, warmup"
    )


@given(
    configs(),
    st.text()
    | st.lists(
        st.tuples(
            st.sampled_from(["epochs", "warmup", "minEpochTime", "max_epoch_time", "x"]),
            st.sampled_from(["=", "==", " = ", ""]),
            st.text("0123456789.smn -", max_size=6),
        ).map("".join)
    ).map(",".join),
)
def test_any_text_gives_a_config(config: Config, text: str) -> None:
    """Whatever the text, there is a valid config, and an error for each unused entry."""
    changed, errors = apply_config_text(config, text)
    assert changed == config.replace(**parse_config_text(text)[0])
    entries = [entry for entry in text.split(",") if entry.strip(" \t\n\v\f\r")]
    assert len(errors) <= len(entries)
    if len(errors) == len(entries):
        assert changed == config


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, False), ("0", False), ("1", True), ("", True), ("no", True), ("00", True)],
)
def test_suppressed_warnings(value: str | None, expected: bool) -> None:
    """Warnings are suppressed if the variable is set, except to 0."""
    variables = {} if value is None else {"NANOBENCH_SUPPRESS_WARNINGS": value}
    assert Environment(variables).suppress_warnings is expected


def test_endless_name() -> None:
    """The variable names the benchmark."""
    assert Environment({}).endless_name is None
    assert Environment({"NANOBENCH_ENDLESS": "x y"}).endless_name == "x y"


def test_environment_is_read_at_the_time_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without variables of its own, an environment follows os.environ."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    environment = Environment()
    assert environment.configure(Config()) == Config()
    assert environment.config_overrides() == {}
    monkeypatch.setenv("NANOBENCH_CONFIG", "epochs=5,warmup=x")
    monkeypatch.setenv("NANOBENCH_ENDLESS", "x")
    monkeypatch.setenv("NANOBENCH_SUPPRESS_WARNINGS", "1")
    assert environment.config_overrides() == {"epochs": 5}
    assert environment.config_errors == ("NANOBENCH_CONFIG: 'warmup=x' is not a number",)
    assert environment.endless_name == "x"
    assert environment.suppress_warnings is True


def test_empty_variables_are_not_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A given mapping counts, even if there is nothing in it."""
    monkeypatch.setenv("NANOBENCH_CONFIG", "epochs=5")
    assert Environment({}).configure(Config()) == Config()


def test_errors_are_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Each message is written the first time only, also when it comes twice at once."""
    reporter = ErrorReporter()
    reporter.report(["a", "b", "a"])
    assert capsys.readouterr().err == "a\nb\n"
    reporter.report(["b", "c"])
    assert capsys.readouterr().err == "c\n"
    reporter.report([])
    assert capsys.readouterr().err == ""


class FullDisk:
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise AssertionError


def test_a_failing_stderr_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a usable stderr the messages are lost, and nothing else."""
    closed = open(os.devnull, "w")  # noqa: PTH123, SIM115 (closed on purpose)
    closed.close()
    for stream in (None, closed, FullDisk()):
        monkeypatch.setattr(sys, "stderr", stream)
        ErrorReporter().report(["a"])


def test_errors_are_once_per_process() -> None:
    """By default all environments of a process share what was reported."""
    code = (
        "from ankerl_py.config import Config\n"
        "from ankerl_py.environment import Environment\n"
        "for _ in range(3): config = Environment().configure(Config())\n"
        "print(config)\n"
    )
    env = os.environ | {"NANOBENCH_CONFIG": "epochs=x,warmup=2,bogus"}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout == "Config(warmup=2)\n"
    assert run.stderr == (
        "NANOBENCH_CONFIG: 'epochs=x' is not a number\n"
        "NANOBENCH_CONFIG: 'bogus' is not a key=value pair\n"
    )
