"""What a run does before its op without timing it: settings, as one immutable value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from ankerl_py.core.ops import callable_op
from ankerl_py.errors import ConfigError, ConfigTypeError, OpError
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NOTHING_UNTIMED", "Untimed"]

_SETUP_SCOPES: Final = ("epoch", "iteration")
_INPUTS_SCOPES: Final = ("iteration", "batch")


@attrs.frozen
class Untimed:
    """What comes before the op, and when.

    Attributes:
        setup: Called before each epoch or each iteration, or a statement as text; None: nothing.
        setup_scope: "epoch" or "iteration".
        make: Makes a fresh argument of op for each iteration; None: op takes no argument.
        make_scope: "iteration", or "batch": many arguments are made first, and one loop over
            them is timed.
        state: One object that `setup` and op take as their argument, or none.
    """

    setup: Callable[..., object] | str | None = None
    setup_scope: str = "epoch"
    make: Callable[[], object] | None = None
    make_scope: str = "iteration"
    state: tuple[()] | tuple[object] = ()

    @property
    def per_iteration(self) -> bool:
        """Whether something untimed comes before every single iteration."""
        return (self.setup is not None and self.setup_scope == "iteration") or (
            self.make is not None and self.make_scope == "iteration"
        )

    @property
    def batched(self) -> bool:
        """Whether arguments are made for many iterations at a time."""
        return self.make is not None and self.make_scope == "batch"

    @property
    def in_loop(self) -> bool:
        """Whether it is done while the measuring loop runs, and not before it begins."""
        return self.per_iteration or self.batched or isinstance(self.setup, str)

    @property
    def epoch_setup(self) -> Callable[..., object] | None:
        """What is called before each epoch; None if there is nothing, or it is a text."""
        called = self.setup_scope == "epoch" and callable(self.setup)
        return self.setup if called else None  # type: ignore[return-value]

    @property
    def iteration_setup(self) -> Callable[..., object] | None:
        """What is called before each iteration; None if there is nothing, or it is a text."""
        called = self.setup_scope == "iteration" and callable(self.setup)
        return self.setup if called else None  # type: ignore[return-value]

    @property
    def arguments(self) -> int:
        """How many arguments the op is called with."""
        return 1 if self.make is not None or self.state else 0

    def with_setup(self, setup: Any, scope: str) -> Untimed:
        """Set what is called first.

        Raises:
            ConfigError: There is no such scope, or it does not go with the inputs.
            ConfigTypeError: The setup is neither a callable, nor a text, nor None.
            OpError: It cannot be called without arguments.
        """
        _check_scope("setup", scope, _SETUP_SCOPES)
        if setup is not None and not isinstance(setup, str):
            _check_callable("setup", setup, 0, ", a statement as text or None")
        return self._changed(setup=setup, setup_scope=scope)

    def with_inputs(self, make: Any, scope: str) -> Untimed:
        """Set what makes the arguments of op.

        Raises:
            ConfigError: There is no such scope, or it does not go with the setup.
            ConfigTypeError: It is neither a callable nor None.
            OpError: It cannot be called without arguments.
        """
        _check_scope("inputs", scope, _INPUTS_SCOPES)
        if make is not None:
            _check_callable("inputs", make, 0, " or None", lazy=True)
        return self._changed(make=make, make_scope=scope)

    def with_state(self, state: object, setup: Any) -> Untimed:
        """Have a setup before each iteration that takes a state, as the op does.

        Raises:
            ConfigError: There is something untimed already.
            ConfigTypeError: The setup is not callable.
            OpError: It cannot be called with one argument.
        """
        for setting, value in (("setup", self.setup), ("inputs", self.make)):
            if value is not None:
                raise ConfigError(
                    f"run_excluding_setup brings its own setup, but {setting} is set to "
                    f"{shown(value)}, which would never be called - use {setting}(None) first"
                )
        _check_callable("setup", setup, 1)
        return attrs.evolve(self, setup=setup, setup_scope="iteration", state=(state,))

    def check_op(self, op: object) -> None:
        """Refuse an op that does not go with this.

        Raises:
            OpError: It is a statement, which takes no argument, but there is one; or it is none,
                but the setup is a statement, which would have no variables to share with it.
        """
        if isinstance(op, str) and self.arguments:
            raise OpError(
                f"statement {shown(op)} cannot take an argument - give a callable as op, or use "
                "setup with a statement that assigns a variable"
            )
        if isinstance(self.setup, str) and not isinstance(op, str):
            raise OpError(
                f"setup {shown(self.setup)} is a statement, but the op is none, so they share no "
                "variables - give a callable as setup, or a statement as op"
            )

    def _changed(self, **changes: Any) -> Untimed:
        changed = attrs.evolve(self, **changes)
        if changed.batched and changed.per_iteration:
            raise ConfigError(
                "setup with scope 'iteration' and inputs with scope 'batch' exclude each other: "
                "in a batch, nothing comes between two calls of op - use inputs(make, "
                "scope='iteration')"
            )
        return changed


NOTHING_UNTIMED: Final = Untimed()


def _check_scope(setting: str, scope: object, scopes: tuple[str, ...]) -> None:
    if scope not in scopes:
        known = " or ".join(map(repr, scopes))
        raise ConfigError(f"{setting}: scope {shown(scope)} is not one of {known}")


def _check_callable(
    setting: str, value: Any, arguments: int, others: str = "", *, lazy: bool = False
) -> None:
    """Refuse what cannot be called; what else it might be is for the message."""
    if not callable(value):
        raise ConfigTypeError(f"{setting}: {shown(value)} is not a callable{others}")
    try:
        callable_op(value, arguments, lazy=lazy)
    except OpError as error:
        raise OpError(f"{setting}: {error}") from None
