"""Functions whose calls do none of their work: what cannot be measured by calling it."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


async def coroutine() -> None:
    raise AssertionError("nobody awaits it")


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


@types.coroutine
def old_coroutine() -> Any:
    yield 1
