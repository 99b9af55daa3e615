from __future__ import annotations

import pickle
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.units import (
    MAX_DURATION_NS,
    DurationTextError,
    TimeUnit,
    check_positive,
    check_text,
    duration_ns,
    parse_duration_text,
    shown,
)

EXPONENTS = {"ns": 0, "us": 3, "µs": 3, "μs": 3, "ms": 6, "s": 9}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (0.0, 0),
        (1, 10**9),
        (1.5, 1_500_000_000),
        (0.01, 10_000_000),
        (1e-9, 1),
        (1.5e-9, 2),
        (2.5e-9, 3),
        (0.4999e-9, 0),
        (1e-300, 0),
        (MAX_DURATION_NS // 10**9, MAX_DURATION_NS // 10**9 * 10**9),
        (np.float64(0.002), 2_000_000),
        (np.float32(0.5), 500_000_000),
        (np.int64(3), 3_000_000_000),
        (Fraction(1, 4), 250_000_000),
        (Decimal("0.000000002"), 2),
        (timedelta(milliseconds=10), 10_000_000),
        (timedelta(days=1, seconds=2, microseconds=3), 86_402_000_003_000),
        ("10ms", 10_000_000),
        ("1.5s", 1_500_000_000),
        (" 1.5 s ", 1_500_000_000),
        (".5us", 500),
        ("5µs", 5000),
        ("5 μs", 5000),
    ],
)
def test_duration_in_any_form(value: object, expected: int) -> None:
    """A duration is seconds as any kind of number, a timedelta, or a text with unit."""
    actual = duration_ns(value, "min_epoch_time")  # type: ignore[arg-type]
    assert actual == expected
    assert type(actual) is int


def test_duration_of_pandas_has_nanoseconds() -> None:
    """A timedelta that knows nanoseconds keeps them."""

    class Timedelta(timedelta):
        nanoseconds = 7

    assert duration_ns(Timedelta(microseconds=2), "x") == 2007


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (-1, "-1 is negative"),
        (-1e-9, "-1e-09 is negative"),
        (timedelta(seconds=-1), "is negative"),
        (float("nan"), "nan is not a finite duration"),
        (float("inf"), "inf is not a finite duration"),
        (np.float64("nan"), "is not a finite duration"),
        (1e10, "10000000000.0 is too large"),
        (10**10, "10000000000 is too large"),
        (Fraction(10**400), "is not a finite duration"),
        (timedelta.max, "is too large"),
        ("5", "'5' is missing a time unit - use ns, us, ms or s"),
        ("-1ms", "'-1ms' is not a number"),
        ("10000000000s", "'10000000000s' is too large"),
        ("", "'' is missing a time unit"),
    ],
)
def test_duration_out_of_range(value: object, problem: str) -> None:
    """A duration that cannot be is a ConfigError that shows setting and value."""
    with pytest.raises(ConfigError) as error:
        duration_ns(value, "max_epoch_time")  # type: ignore[arg-type]
    assert f"max_epoch_time: {problem}" in str(error.value) or problem in str(error.value)
    assert str(error.value).startswith("max_epoch_time: ")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        np.bool_(True),
        b"1ms",
        [1],
        np.timedelta64(1, "s"),
        np.timedelta64(5, "ns"),
        np.datetime64(5, "ns"),
        object(),
        np.ones(1),
    ],
)
def test_duration_of_a_wrong_type(value: object) -> None:
    """What is no duration is a ConfigTypeError that tells the forms there are."""
    with pytest.raises(ConfigTypeError) as error:
        duration_ns(value, "min_epoch_time")  # type: ignore[arg-type]
    assert str(error.value).startswith("min_epoch_time: ")
    assert "'10ms'" in str(error.value)


def test_duration_text_error_tells_the_forms() -> None:
    """A text without unit is answered with what can be given instead."""
    with pytest.raises(
        ConfigError, match="seconds as a number, a timedelta, or a text with a unit"
    ):
        duration_ns("10", "min_epoch_time")


@given(
    whole=st.integers(0, 10**9),
    fraction=st.text("0123456789", max_size=30),
    unit=st.sampled_from(sorted(EXPONENTS)),
    space=st.sampled_from(["", " ", "\t "]),
)
def test_duration_text_is_exact(whole: int, fraction: str, unit: str, space: str) -> None:
    """A text is converted in exact arithmetic, halves rounded up."""
    exact = Fraction(int(f"{whole}{fraction}"), 10 ** len(fraction)) * 10 ** EXPONENTS[unit]
    expected = (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)
    assert parse_duration_text(f"{whole}.{fraction}{space}{unit}") == expected


@given(st.integers(0, 10**12))
def test_float_seconds_count_as_written(hundredths: int) -> None:
    """A float means the decimal it is written as, as a text of these digits would."""
    text = f"{hundredths}e-11"
    expected = (hundredths + 50) // 100
    assert duration_ns(float(text), "x") == expected


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_an_error(text: str) -> None:
    """Whatever the text, there is a duration in range or a DurationTextError."""
    try:
        result = parse_duration_text(text)
    except DurationTextError:
        return
    assert 0 <= result <= MAX_DURATION_NS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9223372036854775807ns", MAX_DURATION_NS),
        ("9223372036854775807.4ns", MAX_DURATION_NS),
        ("0" * 5000 + "7ns", 7),
        ("0." + "0" * 5000 + "1s", 0),
        ("1." + "0" * 5000 + "s", 10**9),
        ("0.5ns", 1),
        ("0.4" + "9" * 50 + "ns", 0),
    ],
)
def test_extreme_duration_texts(text: str, expected: int) -> None:
    """Any number of digits is fine as long as the value is in range."""
    assert parse_duration_text(text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("9223372036854775807.5ns", "is too large"),
        ("9" * 5000 + "s", "is too large"),
        ("1" + "0" * 19 + "ns", "is too large"),
        ("s", "is not a number"),
        (".s", "is not a number"),
        ("1.2.3s", "is not a number"),
        ("1e3s", "is not a number"),
        ("٣s", "is not a number"),
        ("5\u00a0ms", "is not a number"),
        ("5 min", "is missing a time unit - use ns, us, ms or s"),
    ],
)
def test_bad_duration_texts(text: str, problem: str) -> None:
    """The error tells which of the three things is wrong."""
    with pytest.raises(DurationTextError) as error:
        parse_duration_text(text)
    assert str(error.value) == problem


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ns", TimeUnit(1e-9, "ns")),
        ("us", TimeUnit(1e-6, "us")),
        ("µs", TimeUnit(1e-6, "µs")),
        ("ms", TimeUnit(1e-3, "ms")),
        ("s", TimeUnit(1.0, "s")),
        ((60, "min"), TimeUnit(60.0, "min")),
        ([3600.0, "h"], TimeUnit(3600.0, "h")),
        (TimeUnit(2.0, "x"), TimeUnit(2.0, "x")),
    ],
)
def test_time_unit_in_any_form(value: object, expected: TimeUnit) -> None:
    """A time unit is given by name, as a pair, or as itself."""
    actual = TimeUnit.parse(value)
    assert actual == expected
    assert type(actual.seconds) is float


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ("min", ConfigError, "'min' is not a time unit - use 'ns', 'us', 'ms', 's'"),
        ("MS", ConfigError, "'MS' is not a time unit"),
        ("", ConfigError, "'' is not a time unit"),
        ((0, "x"), ConfigError, "seconds of a time unit: 0 cannot be used"),
        ((1, " "), ConfigError, "name of a time unit: ' ' is empty or blank"),
        (("x", 1), ConfigTypeError, "seconds of a time unit: 'x' is not a number"),
        ((1, 1), ConfigTypeError, "name of a time unit: 1 is not a text"),
        ((1, "x", 2), ConfigTypeError, "is not a time unit - use 'ns'"),
        (None, ConfigTypeError, "None is not a time unit"),
        (1.0, ConfigTypeError, "1.0 is not a time unit"),
    ],
)
def test_bad_time_units(value: object, error: type[Exception], text: str) -> None:
    """What is no time unit is an error that shows the value."""
    with pytest.raises(error) as caught:
        TimeUnit.parse(value)
    assert text in str(caught.value)


def test_time_unit_is_a_value() -> None:
    """Equal units are equal, hash alike and survive pickling."""
    unit = TimeUnit(60, "min")
    assert hash(unit) == hash(TimeUnit(60.0, "min"))
    assert pickle.loads(pickle.dumps(unit)) == unit


@pytest.mark.parametrize(
    "value",
    [1, 1.5, 1e-300, np.float64(2), np.int8(2), Fraction(1, 3), Decimal("0.1"), np.array(3.0)],
)
def test_check_positive_accepts_any_number(value: object) -> None:
    """Numbers of any kind become floats."""
    actual = check_positive(value)
    assert actual == float(value)  # type: ignore[arg-type]
    assert type(actual) is float


@pytest.mark.parametrize(
    "value", [0, -0.0, -1, float("nan"), float("inf"), float("-inf"), 10**400, Decimal("sNaN")]
)
def test_check_positive_refuses_what_is_out_of_range(value: object) -> None:
    """Zero, negative numbers, NaN and infinity are refused, with the value shown."""
    with pytest.raises((ConfigError, ConfigTypeError)) as error:
        check_positive(value)
    assert shown(value) in str(error.value)


@pytest.mark.parametrize(
    "value", [True, np.bool_(1), "1", b"1", bytearray(b"1"), 1j, None, np.ones(1)]
)
def test_check_positive_refuses_other_types(value: object) -> None:
    """Bools and texts are no numbers, even though they can be converted."""
    with pytest.raises(ConfigTypeError, match="is not a number"):
        check_positive(value)


def test_check_positive_refuses_arrays() -> None:
    """An array is no number, not even if it can be converted to one, as in older numpy."""

    class Array:
        ndim = 1

        def __float__(self) -> float:
            return 1.0

    with pytest.raises(ConfigTypeError, match="is not a number"):
        check_positive(Array())


def test_check_text_gives_a_plain_str() -> None:
    """A subclass of str, such as numpy's, becomes a plain one."""
    actual = check_text(np.str_(" x "))
    assert actual == " x "
    assert type(actual) is str


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u2003"])
def test_check_text_refuses_what_cannot_be_seen(text: str) -> None:
    """Empty and blank texts are refused."""
    with pytest.raises(ConfigError, match="empty or blank"):
        check_text(text)


def test_shown_copes_with_anything() -> None:
    """A value is shown cut if long, and by its type if it has no usable repr."""

    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert shown(1) == "1"
    assert shown("x" * 98) == "'" + "x" * 98 + "'"
    assert shown("x" * 200) == "'" + "x" * 96 + "..."
    assert shown(Broken()) == "<Broken>"
    assert shown(10**5000) == "<int>"
