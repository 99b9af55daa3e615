from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given

import ankerl_py.config
from ankerl_py.config import MAX_COUNT, Column, Config
from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.units import MAX_DURATION_NS, TimeUnit
from strategies import configs
from support import config_from_set

COUNTS = {
    "epochs": 1,
    "warmup": 0,
    "min_epoch_iterations": 0,
    "epoch_iterations": 0,
    "clock_resolution_multiple": 0,
}


def my_clock() -> int:
    return 0


def test_defaults_are_those_of_nanobench() -> None:
    """The defaults are nanobench's, and the collector is off, the overhead corrected."""
    actual = attrs.asdict(Config(), recurse=False)
    expected = {
        "title": "benchmark",
        "name": "noname",
        "unit": "op",
        "batch": 1.0,
        "complexity_n": None,
        "time_unit": TimeUnit(1e-9, "ns"),
        "relative": False,
        "performance_counters": True,
        "context_items": (),
        "context_columns": (),
        "hidden_columns": frozenset(),
        "epochs": 11,
        "warmup": 0,
        "min_epoch_iterations": 1,
        "epoch_iterations": 0,
        "clock_resolution_multiple": 1000,
        "min_epoch_time_ns": 1_000_000,
        "max_epoch_time_ns": 100_000_000,
        "max_total_time_ns": None,
        "clock": "wall",
        "gc": False,
        "correct_overhead": True,
    }
    assert actual == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": np.str_("x")}, "x"),
        ({"batch": 4}, 4.0),
        ({"batch": Fraction(1, 2)}, 0.5),
        ({"complexity_n": np.float32(2)}, 2.0),
        ({"complexity_n": None}, None),
        ({"time_unit": "ms"}, TimeUnit(1e-3, "ms")),
        ({"time_unit": (60, "min")}, TimeUnit(60.0, "min")),
        ({"relative": np.bool_(True)}, True),
        ({"epochs": np.int64(5)}, 5),
        ({"epochs": MAX_COUNT}, MAX_COUNT),
        ({"min_epoch_iterations": 0}, 1),
        ({"min_epoch_time_ns": MAX_DURATION_NS}, MAX_DURATION_NS),
        ({"context_items": {"a": "b", "c": ""}}, (("a", "b"), ("c", ""))),
        ({"context_items": [["a", "b"], ("c", "d"), ("a", "e")]}, (("a", "e"), ("c", "d"))),
        ({"context_columns": ["a", "b", "a"]}, ("a", "b")),
        (
            {"hidden_columns": ["branchMisses", Column.IPC]},
            frozenset({Column.BRANCH_MISSES, Column.IPC}),
        ),
        ({"clock": np.str_("thread")}, "thread"),
        ({"clock": my_clock}, my_clock),
    ],
)
def test_values_are_converted(changes: dict[str, Any], expected: object) -> None:
    """Each setting takes the forms that mean the same, and holds one plain type."""
    (setting,) = changes
    actual = getattr(Config().replace(**changes), setting)
    assert actual == expected
    assert type(actual) is type(expected)
    assert getattr(Config(**changes), setting) == expected


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"title": ""}, ConfigError, "title: '' is empty or blank"),
        ({"name": " \n"}, ConfigError, "name: ' \\n' is empty or blank"),
        ({"unit": 3}, ConfigTypeError, "unit: 3 is not a text - a str is needed, this is a int"),
        ({"batch": 0}, ConfigError, "batch: 0 cannot be used - a finite number > 0 is needed"),
        ({"batch": -1.5}, ConfigError, "batch: -1.5 cannot be used"),
        ({"batch": float("nan")}, ConfigError, "batch: nan cannot be used"),
        ({"batch": float("inf")}, ConfigError, "batch: inf cannot be used"),
        ({"batch": None}, ConfigTypeError, "batch: None is not a number"),
        ({"batch": True}, ConfigTypeError, "batch: True is not a number"),
        ({"complexity_n": -1.0}, ConfigError, "complexity_n: -1.0 cannot be used"),
        ({"complexity_n": "7"}, ConfigTypeError, "complexity_n: '7' is not a number"),
        ({"time_unit": "min"}, ConfigError, "time_unit: 'min' is not a time unit - use 'ns'"),
        ({"relative": 1}, ConfigTypeError, "relative: 1 is not True or False"),
        ({"performance_counters": None}, ConfigTypeError, "performance_counters: None is not"),
        ({"gc": "off"}, ConfigTypeError, "gc: 'off' is not True or False"),
        ({"correct_overhead": 0}, ConfigTypeError, "correct_overhead: 0 is not True or False"),
        (
            {"context_items": "ab"},
            ConfigTypeError,
            "context_items: 'ab' is not a collection of pairs",
        ),
        (
            {"context_items": ["ab"]},
            ConfigTypeError,
            "context_items: 'ab' is not a pair (name, value)",
        ),
        ({"context_items": [("a",)]}, ConfigTypeError, "context_items: ('a',) is not a pair"),
        (
            {"context_items": {"a": 1}},
            ConfigTypeError,
            "context_items: value 1 of 'a' is not a text",
        ),
        ({"context_items": {"": "x"}}, ConfigError, "context_items: '' is empty or blank"),
        ({"context_columns": "ab"}, ConfigTypeError, "context_columns: 'ab' is not a collection"),
        ({"context_columns": [" "]}, ConfigError, "context_columns: ' ' is empty or blank"),
        ({"context_columns": 1}, ConfigTypeError, "context_columns: 1 is not a collection"),
        (
            {"hidden_columns": "total"},
            ConfigTypeError,
            "hidden_columns: 'total' is not a collection",
        ),
        ({"hidden_columns": Column.TOTAL}, ConfigTypeError, "is not a collection of columns"),
        ({"hidden_columns": ["totals"]}, ConfigError, "hidden_columns: 'totals' is not a column"),
        (
            {"clock": "cpu"},
            ConfigError,
            "clock: 'cpu' is not a clock - clocks are wall, process, thread",
        ),
        (
            {"clock": 1},
            ConfigTypeError,
            "clock: 1 is not a clock - give 'wall', 'process', 'thread'",
        ),
        (
            {"epochs": 0},
            ConfigError,
            f"epochs: 0 is too small - allowed are whole numbers from 1 to {MAX_COUNT}",
        ),
        (
            {"max_epoch_time_ns": MAX_DURATION_NS + 1},
            ConfigError,
            f"is too large - allowed are whole numbers from 0 to {MAX_DURATION_NS} ns",
        ),
        ({"min_epoch_time_ns": -1}, ConfigError, "min_epoch_time_ns: -1 is too small"),
        ({"epoch": 1}, ConfigTypeError, "no such setting: epoch - settings are title, name, unit,"),
    ],
)
def test_bad_values(changes: dict[str, Any], error: type[Exception], text: str) -> None:
    """A value that cannot be used is an error with setting, value, and what is allowed."""
    with pytest.raises(error) as caught:
        Config().replace(**changes)
    assert text in str(caught.value)
    assert " at 0x" not in str(caught.value)
    assert type(caught.value) is error


@pytest.mark.parametrize("setting", COUNTS)
def test_counts_have_64_bits(setting: str) -> None:
    """Counts go from their minimum to 2**64 - 1."""
    minimum = COUNTS[setting]
    assert getattr(Config().replace(**{setting: MAX_COUNT}), setting) == MAX_COUNT
    assert getattr(Config().replace(**{setting: minimum}), setting) == max(
        minimum, int(setting == "min_epoch_iterations")
    )
    for value, problem in ((minimum - 1, "too small"), (MAX_COUNT + 1, "too large")):
        with pytest.raises(ConfigError, match=rf"^{setting}: {value} is {problem}"):
            Config().replace(**{setting: value})


@pytest.mark.parametrize("setting", [*COUNTS, "min_epoch_time_ns", "max_epoch_time_ns"])
@pytest.mark.parametrize(
    "value",
    [1.0, True, np.bool_(1), "1", None, 1j, np.float64(2), np.timedelta64(1, "s"), np.ones(2)],
)
def test_counts_are_integers(setting: str, value: object) -> None:
    """Only integers count; not bools, integral floats, texts or numpy's times."""
    with pytest.raises(ConfigTypeError, match=rf"^{setting}: .* is not a whole number \(int\)"):
        Config().replace(**{setting: value})


def test_a_clock_is_shown_without_its_address() -> None:
    """A callable that is no clock is named by its type; the name of the setting comes first."""
    with pytest.raises(ConfigTypeError, match=r"^clock: \[\] is not a clock"):
        Config(clock=[])  # type: ignore[arg-type]


def test_several_bad_values_are_told_together() -> None:
    """All settings that cannot be used are in one error, in the order of the fields."""
    with pytest.raises(ConfigError) as error:
        Config().replace(batch=True, epochs=0, name="")
    assert str(error.value) == (
        "3 settings cannot be used:\n"
        "  name: '' is empty or blank - give a text that can be seen\n"
        "  batch: True is not a number - a finite number > 0 is needed\n"
        f"  epochs: 0 is too small - allowed are whole numbers from 1 to {MAX_COUNT}"
    )


def test_several_wrong_types_are_a_type_error() -> None:
    """Only if each of the problems is one of types, the error is."""
    with pytest.raises(ConfigTypeError, match=r"^2 settings cannot be used:"):
        Config(batch=None, epochs=1.0)  # type: ignore[arg-type]


def test_errors_have_no_other_error_behind_them() -> None:
    """The traceback shows one error, not the inner workings of the check."""
    for changes in ({"epochs": "x"}, {"epochs": 0, "batch": 0}, {"time_unit": (0, "x")}):
        with pytest.raises((ConfigError, ConfigTypeError)) as error:
            Config().replace(**changes)
        assert error.value.__suppress_context__ or error.value.__context__ is None


def test_replace_leaves_the_original_alone() -> None:
    """A changed copy is another object; what is not named stays."""
    before = Config(epochs=3, title="t")
    after = before.replace(epochs=4)
    assert before == Config(epochs=3, title="t")
    assert after == Config(epochs=4, title="t")
    assert before.replace() == before


def test_config_cannot_be_changed() -> None:
    """Setting a field is refused."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Config().epochs = 3  # type: ignore[misc]


def test_context_is_a_fresh_dict() -> None:
    """Changing the dict changes nothing else."""
    config = Config(context_items=(("a", "b"),))
    config.context["c"] = "d"
    assert config.context == {"a": "b"}


@given(configs())
def test_config_is_a_value(config: Config) -> None:
    """A config equals its copies and its unpickled self, hashes alike, and is valid as it is."""
    for other in (pickle.loads(pickle.dumps(config)), copy.deepcopy(config), config.replace()):
        assert other == config
        assert hash(other) == hash(config)


@given(configs())
def test_repr_can_be_evaluated(config: Config) -> None:
    """The repr is the call that makes the config."""
    names = {"Config": Config, "Column": Column, "TimeUnit": TimeUnit}
    assert eval(repr(config), names) == config


def test_repr_shows_what_differs() -> None:
    """Settings that have their default are left out."""
    assert repr(Config()) == "Config()"
    config = Config(epochs=3, hidden_columns=frozenset({Column.IPC}), title="x")
    assert repr(config) == "Config(title='x', hidden_columns=frozenset({Column.IPC}), epochs=3)"


@pytest.mark.parametrize("column", Column)
def test_columns_are_found_by_both_spellings(column: Column) -> None:
    """A column has its name in snake_case and in camelCase, and is found by itself."""
    first, *others = column.value.split("_")
    camel = first + "".join(other.title() for other in others)
    assert Column.parse(column.value) is column
    assert Column.parse(camel) is column
    assert Column.parse(column) is column
    assert f"{column}" == str(column) == column.value


def test_unknown_columns() -> None:
    """The error lists all columns."""
    with pytest.raises(ConfigError) as error:
        Column.parse("Total")
    assert str(error.value) == (
        "'Total' is not a column - columns are relative, complexity_n, time_per_unit, "
        "unit_per_second, error, instructions, cycles, ipc, branches, branch_misses, total"
    )
    with pytest.raises(ConfigTypeError, match="1 is not a column"):
        Column.parse(1)


def test_config_from_the_vectors_settings() -> None:
    """The helper of the vector tests knows every setting that the vectors have."""
    config = config_from_set(
        [
            ["title", "t"],
            ["unit", "u"],
            ["name", "n"],
            ["batch", 2.0],
            ["complexityN", 3.0],
            ["timeUnit", 1e-3, "ms"],
            ["relative", True],
            ["performanceCounters", False],
            ["context", "gone", "x"],
            ["clearContext"],
            ["context", "a", "b"],
            ["contextColumn", "gone"],
            ["clearContextColumns"],
            ["contextColumn", "a"],
            ["contextColumn", "a"],
            ["hideColumn", "timePerUnit"],
            ["hideColumn", "total"],
            ["showColumn", "total"],
            ["epochs", "5"],
            ["minEpochTime_ns", "7"],
            ["output", None],
        ]
    )
    assert config == Config(
        title="t",
        unit="u",
        name="n",
        batch=2.0,
        complexity_n=3.0,
        time_unit=TimeUnit(1e-3, "ms"),
        relative=True,
        performance_counters=False,
        context_items=(("a", "b"),),
        context_columns=("a",),
        hidden_columns=frozenset({Column.TIME_PER_UNIT}),
        epochs=5,
        min_epoch_time_ns=7,
    )


def test_nothing_heavy_is_imported() -> None:
    """The base layer needs attrs, and nothing else that would slow down every start."""
    # An empty package in place of ours, so that only the named modules are imported.
    code = (
        "import attrs, math, sys, types\n"
        "package = sys.modules['ankerl_py'] = types.ModuleType('ankerl_py')\n"
        "package.__path__ = [sys.argv[1]]\n"
        "before = set(sys.modules)\n"
        "import ankerl_py.config, ankerl_py.environment, ankerl_py.rng, ankerl_py.core.schedule\n"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('ankerl_py')))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(Path(ankerl_py.config.__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.split() == []
