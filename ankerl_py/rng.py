"""The random number generator of nanobench: small, fast, and the same sequence bit for bit.

It is RomuDuoJr (Overton 2020, https://www.romu-random.org/), seeded by SplitMix64. Good for
shuffling and for test data that is the same in every run; nothing for secrets.
"""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

__all__ = ["Rng", "splitmix64"]

_MASK = 2**64 - 1

_MULTIPLIER = 15241094284759029579


def splitmix64(state: int) -> tuple[int, int]:
    """Do one step of SplitMix64, the generator that spreads a seed over a state.

    Args:
        state: Any unsigned 64 bit integer.

    Returns:
        The next state, and the random value, an unsigned 64 bit integer.
    """
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    value = state
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return state, value ^ (value >> 31)


class Rng:
    """A generator of 64 bit random numbers.

    Calling it gives the next number. Equal seeds give equal sequences, here and in nanobench.
    Not thread-safe.
    """

    __slots__ = ("_x", "_y")

    def __init__(self, seed: int | None = None) -> None:
        """Seed a generator.

        Args:
            seed: An unsigned 64 bit integer; None: the system's randomness.

        Raises:
            ConfigError: The seed does not fit in 64 bits.
            ConfigTypeError: The seed is no integer.
        """
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        state, self._x = splitmix64(_checked(seed, "seed", _MASK))
        _, self._y = splitmix64(state)
        for _ in range(10):
            self()

    @classmethod
    def from_state(cls, x: int, y: int) -> Rng:
        """Make a generator that goes on from a `state`.

        Args:
            x: First half of the state, an unsigned 64 bit integer.
            y: The other half.

        Returns:
            The generator.

        Raises:
            ConfigError: A half does not fit in 64 bits, or both are 0: this generator could never
                give anything but 0 (nanobench lets it).
            ConfigTypeError: A half is no integer.
        """
        rng = cls.__new__(cls)
        rng.state = x, y
        return rng

    @classmethod
    def from_data(cls, data: Sequence[int]) -> Rng:
        """Make a generator that goes on from a `state` which was saved as a list.

        Args:
            data: The two halves of the state.

        Returns:
            The generator.

        Raises:
            ConfigError: There are not exactly two numbers, or they are no `state`.
            ConfigTypeError: They are no integers.
        """
        if len(data) != 2:
            raise ConfigError(f"Rng: needed exactly 2 entries in data, but got {len(data)}")
        return cls.from_state(*data)

    @property
    def state(self) -> tuple[int, int]:
        """The whole state, for `from_state`; setting it lets this generator go on from there."""
        return self._x, self._y

    @state.setter
    def state(self, state: tuple[int, int]) -> None:
        x, y = (_checked(half, name, _MASK) for half, name in zip(state, "xy", strict=True))
        if not (x or y):
            raise ConfigError("state: (0, 0) would only ever give 0 - one half has to be above 0")
        self._x, self._y = x, y

    def __call__(self) -> int:
        """Give the next number.

        Returns:
            An unsigned 64 bit integer.
        """
        x = self._x
        y = (self._y - x) & _MASK
        self._x = (_MULTIPLIER * self._y) & _MASK
        self._y = ((y << 27) | (y >> 37)) & _MASK
        return x

    def bounded(self, n: int) -> int:
        """Give a random number below a limit.

        Args:
            n: The limit, an unsigned 32 bit integer.

        Returns:
            An integer from 0 to n - 1; 0 if n is 0. Exactly uniform only for powers of two.

        Raises:
            ConfigError: The limit does not fit in 32 bits.
            ConfigTypeError: The limit is no integer.
        """
        n = _checked(n, "n", 2**32 - 1)
        return ((self() & 0xFFFFFFFF) * n) >> 32

    def uniform01(self) -> float:
        """Give a random float.

        Returns:
            A number from 0.0 to below 1.0, a multiple of 2**-52.
        """
        return (self() >> 12) * 2.0**-52

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Bring the items into a random order, in place.

        Args:
            items: A list, or anything else with a length whose items can be set by index.
        """
        end = len(items)
        while end > 1:
            random = self()
            # Each half of the 64 bits places one item.
            for half in (random & 0xFFFFFFFF, random >> 32):
                chosen = (half * end) >> 32
                end -= 1
                items[end], items[chosen] = items[chosen], items[end]

    def copy(self) -> Rng:
        """Make an independent generator with the same state."""
        return type(self).from_state(self._x, self._y)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.from_state({self._x}, {self._y})"


def _checked(value: int, name: str, maximum: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ConfigTypeError(f"{name}: {shown(value)} is not a whole number (int)") from None
    if not 0 <= number <= maximum:
        raise ConfigError(f"{name}: {shown(value)} is not in the range 0 to {maximum}")
    return number
