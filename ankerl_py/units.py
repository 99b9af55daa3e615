"""Numbers with a unit: how long an epoch may take, and in which unit times are shown.

Also the few checks of plain values that :mod:`ankerl_py.config` shares with :class:`TimeUnit`.
They raise with a message that begins with the value; the caller puts the name of the setting
before it.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import attrs

from ankerl_py.errors import ConfigError, ConfigTypeError

if TYPE_CHECKING:
    from datetime import timedelta

__all__ = [
    "MAX_DURATION_NS",
    "DurationTextError",
    "TimeUnit",
    "check_positive",
    "check_text",
    "duration_ns",
    "is_boolean",
    "parse_duration_text",
    "shown",
]

MAX_DURATION_NS = 2**63 - 1
"""The longest duration in nanoseconds, about 292 years: what fits in a signed 64 bit integer."""

_UNIT_EXPONENTS = {"ns": 0, "us": 3, "µs": 3, "μs": 3, "ms": 6, "s": 9}
"""Power of ten by which a unit exceeds a nanosecond. Micro has two code points in Unicode."""

_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0}

_DURATION_HELP = "give seconds as a number, a timedelta, or a text with a unit such as '10ms'"

_UNIT_HELP = "use 'ns', 'us', 'ms', 's', or a pair such as (60.0, 'min')"

# ASCII only: int() would take digits of any script, and `\s` and str.strip() any white space.
_NUMBER = re.compile(r"(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?")

_ASCII_SPACE = " \t\n\v\f\r"

_SHOWN_LENGTH = 100


class DurationTextError(ValueError):
    """A text is no duration; the message completes the sentence "'5 minutes' ..."."""


def shown(value: object) -> str:
    """Write a value as it is to be shown in an error message.

    Args:
        value: Anything.

    Returns:
        Its ``repr``, cut if it is long, or its type if it has no usable ``repr``.
    """
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 (an error message must not fail, whatever the value does)
        return f"<{type(value).__name__}>"
    if len(text) > _SHOWN_LENGTH:
        text = text[: _SHOWN_LENGTH - 3] + "..."
    return text


def is_boolean(value: object) -> bool:
    """Whether a value is a bool of Python or of numpy, both of which pass for integers."""
    return isinstance(value, bool) or (
        type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")
    )


def check_text(value: object) -> str:
    """Check a text that is shown to people.

    Args:
        value: What a caller gave.

    Returns:
        The text as a plain ``str``.

    Raises:
        ConfigTypeError: It is not a ``str``.
        ConfigError: It is empty or blank.
    """
    if not isinstance(value, str):
        raise ConfigTypeError(
            f"{shown(value)} is not a text - a str is needed, this is a {type(value).__name__}"
        )
    if not value.strip():
        raise ConfigError(f"{shown(value)} is empty or blank - give a text that can be seen")
    return str.__str__(value)  # subclasses of str have their own ways of being printed


def check_positive(value: object) -> float:
    """Check a number that has to be finite and above zero.

    Args:
        value: An int, float, numpy number, ``Fraction`` or ``Decimal``.

    Returns:
        The number as a float.

    Raises:
        ConfigTypeError: It is not a number; bools and texts are not.
        ConfigError: It is zero or negative, infinite, NaN or too large for a float.
    """
    number = _as_float(value)
    if number is None:
        raise ConfigTypeError(f"{shown(value)} is not a number - a finite number > 0 is needed")
    if not 0.0 < number < math.inf:
        raise ConfigError(f"{shown(value)} cannot be used - a finite number > 0 is needed")
    return number


@attrs.frozen
class TimeUnit:
    """A unit in which times are shown. It never changes what is measured, stored or exported."""

    seconds: float
    """Length of the unit in seconds, finite and above 0."""

    name: str
    """What is written behind the number, such as ``"ms"``."""

    def __attrs_post_init__(self) -> None:
        # A converter of attrs would not know the name of the field that it is to complain about.
        for name, check in (("seconds", check_positive), ("name", check_text)):
            try:
                value = check(getattr(self, name))
            except (ConfigError, ConfigTypeError) as error:
                raise type(error)(f"{name} of a time unit: {error}") from None
            object.__setattr__(self, name, value)

    @classmethod
    def parse(cls, value: object) -> TimeUnit:
        """Make a unit from the forms in which a user may name one.

        Args:
            value: ``"ns"``, ``"us"``, ``"ms"`` or ``"s"``; a pair (seconds, name) such as
                ``(60.0, "min")``; or a `TimeUnit`, which is returned as it is.

        Returns:
            The unit.

        Raises:
            ConfigError: There is no unit of that name, or its length is not above 0.
            ConfigTypeError: It has none of the forms.
        """
        if isinstance(value, TimeUnit):
            return value
        if isinstance(value, str):
            seconds = _UNIT_SECONDS.get(value)
            if seconds is None:
                raise ConfigError(f"{shown(value)} is not a time unit - {_UNIT_HELP}")
            return cls(seconds, str.__str__(value))
        if isinstance(value, (tuple, list)) and len(value) == 2:
            return cls(*value)
        raise ConfigTypeError(f"{shown(value)} is not a time unit - {_UNIT_HELP}")


def duration_ns(value: float | timedelta | str, setting: str) -> int:
    """Convert a duration, as a user gives it, to nanoseconds.

    Args:
        value: Seconds as a number, a ``timedelta``, or a text with unit: ``"10ms"``, ``"1.5 s"``,
            ``".5us"``. Numbers count as they are written in decimal, so ``1.5e-9`` is 1.5 ns.
        setting: Name of the setting, for error messages.

    Returns:
        Whole nanoseconds, halves rounded up, from 0 to `MAX_DURATION_NS`.

    Raises:
        ConfigError: The duration is negative, NaN, infinite or too long, or the text is none.
        ConfigTypeError: The value has none of the forms.
    """
    if isinstance(value, str):
        try:
            return parse_duration_text(value)
        except DurationTextError as error:
            raise ConfigError(f"{setting}: {shown(value)} {error} ({_DURATION_HELP})") from None
    result = _timedelta_ns(value)
    if result is None:
        result = _seconds_to_ns(value, setting)
    if result < 0:
        raise ConfigError(f"{setting}: {shown(value)} is negative - a duration is 0 or more")
    if result > MAX_DURATION_NS:
        raise ConfigError(
            f"{setting}: {shown(value)} is too large - the most is {MAX_DURATION_NS} ns (292 years)"
        )
    return result


def parse_duration_text(text: str) -> int:
    """Convert a text such as ``"10ms"`` or ``"1.5 s"`` to nanoseconds, in exact arithmetic.

    Args:
        text: Digits, possibly with a point, then one of the units ns, us, ms, s. White space
            around either is ignored.

    Returns:
        Whole nanoseconds, halves rounded up, from 0 to `MAX_DURATION_NS`.

    Raises:
        DurationTextError: The text is no duration or too long a one. The message says what is
            wrong in nanobench's words, without the text.
    """
    text = text.strip(_ASCII_SPACE)
    unit = next((unit for unit in _UNIT_EXPONENTS if text.endswith(unit)), None)
    if unit is None:
        raise DurationTextError("is missing a time unit - use ns, us, ms or s")
    match = _NUMBER.fullmatch(text[: -len(unit)].rstrip(_ASCII_SPACE))
    whole, fraction = (match["whole"], match["fraction"] or "") if match else ("", "")
    if not whole and not fraction:
        raise DurationTextError("is not a number")
    whole = whole.lstrip("0")
    # Python refuses to convert thousands of digits, but 20 are too many already. Behind the
    # point, the first digit below a nanosecond decides how the rest is rounded.
    exponent = _UNIT_EXPONENTS[unit]
    fraction = fraction[: exponent + 1]
    if len(whole) < 20:
        result = _shift_decimal(int(whole + fraction or "0"), exponent - len(fraction))
        if result <= MAX_DURATION_NS:
            return result
    raise DurationTextError("is too large")


def _as_float(value: object) -> float | None:
    """Give the value as a float, infinity if it is too large for one, None if it is no number."""
    if is_boolean(value) or _is_date_or_time(value) or isinstance(value, (str, bytes, bytearray)):
        return None
    if getattr(value, "ndim", 0):  # before 2.4, numpy converts arrays of one element
        return None
    try:
        return float(value)  # type: ignore[arg-type]  # anything with __float__ will do
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


def _is_date_or_time(value: object) -> bool:
    """Whether a value is of numpy's times, some of which can be converted: to a bare count."""
    return type(value).__module__ == "numpy" and type(value).__name__ in (
        "timedelta64",
        "datetime64",
    )


def _shift_decimal(digits: int, exponent: int) -> int:
    """Compute digits * 10**exponent, halves rounded up."""
    power: int = 10 ** abs(exponent)
    if exponent >= 0:
        return digits * power
    return (2 * digits + power) // (2 * power)


def _timedelta_ns(value: object) -> int | None:
    """Give the nanoseconds of a ``timedelta``, or None if it is none.

    Recognised by its fields, because nothing else here needs the module ``datetime``.
    """
    days, seconds, microseconds = (
        getattr(value, field, None) for field in ("days", "seconds", "microseconds")
    )
    if not (isinstance(days, int) and isinstance(seconds, int) and isinstance(microseconds, int)):
        return None
    nanoseconds = getattr(value, "nanoseconds", 0)  # pandas goes further than the standard library
    return ((days * 86400 + seconds) * 10**6 + microseconds) * 1000 + int(nanoseconds)


def _seconds_to_ns(value: object, setting: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value * 10**9
    number = _as_float(value)
    if number is None:
        raise ConfigTypeError(f"{setting}: {shown(value)} is not a duration - {_DURATION_HELP}")
    if not math.isfinite(number):
        raise ConfigError(f"{setting}: {shown(value)} is not a finite duration - {_DURATION_HELP}")
    # The shortest decimal that gives this float is what the user wrote; its exact binary value
    # may lie on the other side of a half.
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    return _shift_decimal(int(whole + fraction), int(exponent or "0") + 9 - len(fraction))
