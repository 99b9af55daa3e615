"""The exceptions of this package, in one tree.

::

    AnkerlPyError
    ├── ConfigError (ValueError)       a setting has a value that cannot be used
    ├── ConfigTypeError (TypeError)    a setting has a value of the wrong type
    ├── OpError (TypeError)            what was given to be measured cannot be measured
    ├── StatementError (ValueError)    a statement given as text cannot be compiled
    ├── ClockError (RuntimeError)      a clock gives no usable times
    ├── OutputError (OSError)          the table could not be written
    ├── SlowerError (AssertionError)   something is slower than it was allowed to be
    └── UnknownContextError (KeyError) a context variable was asked for that was never set

Each one also derives from the built-in exception that a caller would expect, so that
``except ValueError`` works as well. Messages show the offending value.
"""

from __future__ import annotations

__all__ = [
    "AnkerlPyError",
    "ClockError",
    "ConfigError",
    "ConfigTypeError",
    "OpError",
    "OutputError",
    "SlowerError",
    "StatementError",
    "UnknownContextError",
]


class AnkerlPyError(Exception):
    """Base of all exceptions that this package raises on purpose."""


class ConfigError(AnkerlPyError, ValueError):
    """A setting has a value that cannot be used."""


class ConfigTypeError(AnkerlPyError, TypeError):
    """A setting has a value of the wrong type."""


class OpError(AnkerlPyError, TypeError):
    """What was given to be measured is nothing that can be measured this way."""


class StatementError(AnkerlPyError, ValueError):
    """A statement given as text cannot be compiled into a measuring loop."""


class ClockError(AnkerlPyError, RuntimeError):
    """A clock gives no usable times: not an integer, or running backwards."""


class OutputError(AnkerlPyError, OSError):
    """The table could not be written to its stream; the results are stored all the same."""


class SlowerError(AnkerlPyError, AssertionError):
    """Something is slower than it was allowed to be."""


class UnknownContextError(AnkerlPyError, KeyError):
    """A context variable was asked for that was never set."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, which would put quotes around the message.
        return str(self.args[0]) if self.args else ""
