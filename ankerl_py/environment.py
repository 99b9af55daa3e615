"""The environment variables of nanobench: settings from outside of the program.

======================================  =========================================================
``NANOBENCH_CONFIG``                    settings, such as ``epochs=51,minEpochTime=5ms``
``NANOBENCH_SUPPRESS_WARNINGS``         no warnings, if set to anything but ``0``
``NANOBENCH_ENDLESS``                   name of a benchmark that is to run for ever
======================================  =========================================================
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import attrs

from ankerl_py.config import MAX_COUNT, Config
from ankerl_py.units import DurationTextError, parse_duration_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Environment", "ErrorReporter", "apply_config_text", "parse_config_text"]

_CONFIG = "NANOBENCH_CONFIG"
_SUPPRESS_WARNINGS = "NANOBENCH_SUPPRESS_WARNINGS"
_ENDLESS = "NANOBENCH_ENDLESS"

# Of Unicode's digits and white space only those of ASCII count, as in nanobench.
_ASCII_SPACE = " \t\n\v\f\r"

_COUNT = re.compile(r"(?P<whole>[0-9]*)(?P<fraction>\.[0-9]*)?")


class _EntryError(ValueError):
    """An entry has no usable value; the message completes the sentence "'epochs=x' ..."."""


def _count(text: str) -> int:
    match = _COUNT.fullmatch(text)
    if match is None or text in ("", "."):
        raise _EntryError("is not a number")
    if match["fraction"] not in (None, "."):
        raise _EntryError("is not a whole number")
    digits = match["whole"].lstrip("0")
    # Python refuses to convert thousands of digits.
    number = int(digits or "0") if len(digits) <= len(str(MAX_COUNT)) else MAX_COUNT + 1
    if number > MAX_COUNT:
        raise _EntryError("is too large")
    return number


def _count_above_zero(text: str) -> int:
    number = _count(text)
    if not number:
        raise _EntryError("is too small - use 1 or more")
    return number


def _duration(text: str) -> int:
    try:
        return parse_duration_text(text)
    except DurationTextError as error:
        raise _EntryError(str(error)) from None


_KEYS: dict[str, tuple[str, Callable[[str], int]]] = {
    "clockResolutionMultiple": ("clock_resolution_multiple", _count),
    "epochIterations": ("epoch_iterations", _count),
    "epochs": ("epochs", _count_above_zero),
    "maxEpochTime": ("max_epoch_time_ns", _duration),
    "minEpochIterations": ("min_epoch_iterations", _count),
    "minEpochTime": ("min_epoch_time_ns", _duration),
    "warmup": ("warmup", _count),
}
"""Key in nanobench's spelling: the setting, and how its value is read."""

_ALL_KEYS = _KEYS | {
    setting.removesuffix("_ns"): (setting, read) for setting, read in _KEYS.values()
}
"""The same, with snake_case keys as well."""


def parse_config_text(text: str) -> tuple[dict[str, int], tuple[str, ...]]:
    """Read settings in the form ``epochs=51, minEpochTime=5ms``.

    Args:
        text: Entries ``key=value``, separated by commas. Keys are in camelCase, as in nanobench,
            or in snake_case; durations need a unit (ns, us, ms, s). The last of equal keys wins.

    Returns:
        The settings, as arguments for `Config.replace`, and one message for each entry that could
        not be used, in order.
    """
    changes: dict[str, int] = {}
    errors = []
    for entry in text.split(","):
        stripped = entry.strip(_ASCII_SPACE)
        if not stripped:
            continue
        key, equals, value = (part.strip(_ASCII_SPACE) for part in stripped.partition("="))
        if not equals:
            errors.append(f"{_CONFIG}: '{stripped}' is not a key=value pair")
        elif key not in _ALL_KEYS:
            errors.append(
                f"{_CONFIG}: unknown key '{key}' - valid keys are {', '.join(sorted(_KEYS))}"
            )
        else:
            setting, read = _ALL_KEYS[key]
            try:
                changes[setting] = read(value)
            except _EntryError as error:
                errors.append(f"{_CONFIG}: '{key}={value}' {error}")
    return changes, tuple(errors)


def apply_config_text(config: Config, text: str) -> tuple[Config, tuple[str, ...]]:
    """Change a configuration by settings in the form ``epochs=51, minEpochTime=5ms``.

    Args:
        config: The configuration to start from.
        text: See `parse_config_text`.

    Returns:
        The changed configuration, and one message for each entry that could not be used. The
        other entries still apply.
    """
    changes, errors = parse_config_text(text)
    return config.replace(**changes), errors


class ErrorReporter:
    """Writes errors to ``sys.stderr``, each one only the first time."""

    __slots__ = ("_reported",)

    def __init__(self) -> None:
        self._reported: dict[str, object] = {}

    def report(self, errors: Iterable[str]) -> None:
        """Write those of the errors that were not written before, one a line.

        Args:
            errors: Messages. A stderr that is missing, closed or failing is no reason to fail:
                the messages are lost then.
        """
        mine = object()
        # setdefault is atomic, so one of several threads writes.
        new = [error for error in errors if self._reported.setdefault(error, mine) is mine]
        if not new or sys.stderr is None:
            return
        try:
            sys.stderr.write("".join(f"{error}\n" for error in dict.fromkeys(new)))
            sys.stderr.flush()
        except (OSError, ValueError):
            pass


_PROCESS_REPORTER = ErrorReporter()


@attrs.frozen(eq=False)
class Environment:
    """A view of the environment variables; they are read at the time of use."""

    variables: Mapping[str, str] | None = None
    """Where the variables are; None: ``os.environ``."""

    reporter: ErrorReporter = attrs.field(default=_PROCESS_REPORTER, repr=False)
    """Who is told about errors in ``NANOBENCH_CONFIG``; by default one for the whole process."""

    @property
    def suppress_warnings(self) -> bool:
        """Whether warnings are not wanted: the variable is set, and not to ``0``."""
        return self._get(_SUPPRESS_WARNINGS) not in (None, "0")

    @property
    def endless_name(self) -> str | None:
        """The name of the benchmark that is to run for ever; None if there is none."""
        return self._get(_ENDLESS)

    @property
    def config_errors(self) -> tuple[str, ...]:
        """One message for each entry of ``NANOBENCH_CONFIG`` that cannot be used."""
        return parse_config_text(self._get(_CONFIG) or "")[1]

    def config_overrides(self) -> dict[str, int]:
        """Give the settings in ``NANOBENCH_CONFIG``, as arguments for `Config.replace`."""
        return parse_config_text(self._get(_CONFIG) or "")[0]

    def configure(self, config: Config) -> Config:
        """Apply ``NANOBENCH_CONFIG`` to a configuration, and report its errors.

        Args:
            config: The defaults.

        Returns:
            The defaults, changed by those entries that can be used.
        """
        text = self._get(_CONFIG)
        if not text:
            return config
        config, errors = apply_config_text(config, text)
        self.reporter.report(errors)
        return config

    def _get(self, name: str) -> str | None:
        return (os.environ if self.variables is None else self.variables).get(name)
