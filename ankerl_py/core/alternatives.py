"""What a comparison is asked to compare: names, ops, and the settings of each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import CodeType, MethodType
from typing import TYPE_CHECKING, Any, Final

from ankerl_py.core.pairing import Precision
from ankerl_py.errors import ConfigError, ConfigTypeError, OpError
from ankerl_py.units import duration_ns, is_boolean, shown

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from datetime import timedelta

    from ankerl_py.config import Config
    from ankerl_py.core.loops import Loop

__all__ = ["alternative_configs", "cost_kind", "named_ops", "precision_of"]

_HELP: Final = 'give names and ops in turn, compare("a", f, "b", g), or a mapping of names to ops'

_STARS: Final = 0x04 | 0x08
"""Flags of code that takes any number of arguments, as in the inspect module."""


def named_ops(names_and_ops: Sequence[Any]) -> dict[str, Any]:
    """Sort out what was given to be compared.

    Args:
        names_and_ops: Names and ops in turn, or one mapping of names to ops.

    Returns:
        The ops by their names, the baseline first.

    Raises:
        OpError: There are fewer than two, or a name comes without an op.
        ConfigError: Two have the same name.
        ConfigTypeError: A name is no text.
    """
    if len(names_and_ops) == 1 and isinstance(names_and_ops[0], Mapping):
        pairs = list(names_and_ops[0].items())
    elif len(names_and_ops) % 2:
        raise OpError(f"compare: {len(names_and_ops)} arguments are no pairs - {_HELP}")
    else:
        pairs = list(zip(names_and_ops[::2], names_and_ops[1::2], strict=True))
    ops: dict[str, Any] = {}
    for name, op in pairs:
        if not isinstance(name, str):
            raise ConfigTypeError(f"compare: {shown(name)} stands where a name should - {_HELP}")
        if name in ops:
            raise ConfigError(f"compare: there are two alternatives with the name {shown(name)}")
        ops[name] = op
    if len(ops) < 2:
        raise OpError(f"compare: it takes two alternatives or more, not {len(ops)} - {_HELP}")
    return ops


def alternative_configs(
    config: Config,
    names: Sequence[str],
    unit: str | Mapping[str, str] | None = None,
    batch: float | Mapping[str, float] | None = None,
) -> list[Config]:
    """Make the settings of each alternative.

    Args:
        config: The settings that they share.
        names: Their names.
        unit: The unit of all of them, or of each by its name; None: that of the settings.
        batch: The same for the batch. Names that are missing keep what the settings say.

    Returns:
        One for each, in order.

    Raises:
        ConfigError: A mapping has a name that is none of an alternative, or a value cannot be used.
        ConfigTypeError: A value has the wrong type.
    """
    changes: dict[str, dict[str, object]] = {name: {"name": name} for name in names}
    for setting, value in (("unit", unit), ("batch", batch)):
        if value is None:
            continue
        given: Mapping[str, object] = (
            value if isinstance(value, Mapping) else dict.fromkeys(names, value)
        )
        unknown = [name for name in given if name not in changes]
        if unknown:
            known = ", ".join(map(repr, names))
            raise ConfigError(
                f"{setting}: {shown(unknown[0])} is no alternative - they are {known}"
            )
        for name, each in given.items():
            changes[name][setting] = each
    return [config.replace(**changes[name]) for name in names]


def precision_of(until: float | None, time_budget: float | timedelta | str) -> Precision | None:
    """Make the rule by which an adaptive comparison stops.

    Args:
        until: Below how many percent of width all intervals should get; None: it is not adaptive.
        time_budget: When to stop at the latest.

    Returns:
        The rule, or None.

    Raises:
        ConfigError: A number is out of its range.
        ConfigTypeError: A value has the wrong type.
    """
    if until is None:
        return None
    if is_boolean(until) or not isinstance(until, (int, float)):
        raise ConfigTypeError(f"until: {shown(until)} is no number of percent")
    if not 0.0 < until < 1e6:  # not for NaN, too
        raise ConfigError(f"until: {shown(until)} is no width in percent - give e.g. 1.0")
    return Precision(float(until), duration_ns(time_budget, "time_budget"))


def cost_kind(op: object, loop: Loop) -> Hashable:
    """Tell which ops cost the harness the same, so that they can share one overhead.

    Args:
        op: A callable or a statement as text.
        loop: The loop over it.

    Returns:
        Something that is equal for ops whose empty twins are the same.
    """
    kind: tuple[Hashable, ...] = (type(loop).__name__, loop.kind)
    if isinstance(op, str):
        return kind
    while isinstance(op, (partial, MethodType)):
        if isinstance(op, partial):
            kind += ("partial", len(op.args), len(op.keywords))
            op = op.func
        else:
            op = op.__func__
    function = op if hasattr(op, "__code__") else getattr(type(op), "__call__", None)  # noqa: B004
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        kind += (
            code.co_argcount,
            code.co_kwonlyargcount,
            code.co_flags & _STARS,
            len(code.co_freevars),
        )
    return kind
