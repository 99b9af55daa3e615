"""The one importer of the native module: whether it is there, and why not.

Everything that needs C asks :func:`compiled` and gets either a :class:`Compiled` or None, in
which case :func:`missing_reason` says why.
"""

from __future__ import annotations

import os
import sys
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ankerl_py.native._native import Epoch, Ffi, Lib, Pairs

__all__ = ["REFUSED_TYPES", "Compiled", "compiled", "missing_reason"]

REFUSED_TYPES: tuple[type, ...] = (CoroutineType, GeneratorType, AsyncGeneratorType)
"""Values that say that the call they came from did no work yet."""

PURE_VARIABLE = "ANKERL_PY_PURE"


@attrs.frozen
class Compiled:
    """The native module, with what has to be made once for its functions."""

    ffi: Ffi
    lib: Lib
    _refused: object = attrs.field(init=False, repr=False, eq=False)
    refused_types: int = attrs.field(init=False, repr=False, eq=False)
    """Address of the list of types that `ap_run_calls` refuses."""

    def __attrs_post_init__(self) -> None:
        addresses = [*map(id, REFUSED_TYPES), 0]
        refused = self.ffi.new("uintptr_t[]", addresses)
        object.__setattr__(self, "_refused", refused)
        object.__setattr__(self, "refused_types", int(self.ffi.cast("uintptr_t", refused)))

    def __reduce__(self) -> tuple[Callable[[], Compiled | None], tuple[()]]:
        """Be copied, and sent to other processes, as whatever native module there is."""
        return (compiled, ())

    def new_epoch(self) -> Epoch:
        """Make the memory that one epoch's clock readings are written to."""
        epoch: Epoch = self.ffi.new("ap_epoch *")
        return epoch

    def new_pairs(self, spans: Sequence[tuple[int, int]], **addresses: int) -> Pairs:
        """Make the description of what `ap_run_pairs` does.

        Args:
            spans: Address and size in bytes of the memory of op itself; the first few are used.
            **addresses: The other fields of ``ap_pairs``, by name; what is missing is 0.

        Returns:
            The description. It does not keep alive what it has the addresses of.
        """
        pairs: Pairs = self.ffi.new("ap_pairs *", addresses)
        for i, (address, size) in enumerate(spans[: len(pairs.spans)]):
            pairs.spans[i].address = address
            pairs.spans[i].size = size
            pairs.num_spans = i + 1
        return pairs


def _load() -> tuple[Compiled | None, str]:
    if os.environ.get(PURE_VARIABLE, "0") not in ("", "0"):
        return None, f"{PURE_VARIABLE} is set"
    if _in_subinterpreter():
        return None, "the native module works in the main interpreter only"
    try:
        from ankerl_py.native._native import ffi, lib  # noqa: PLC0415 (it may be missing)
    except ImportError as error:
        return None, f"the native module was not built at installation, or cannot be used ({error})"
    return Compiled(ffi, lib), ""


def _in_subinterpreter() -> bool:
    """Whether this is no main interpreter; C code would call ops in that one instead.

    From Python 3.12 on, cffi itself refuses to be imported there.
    """
    if sys.version_info >= (3, 12):
        return False
    try:
        import _xxsubinterpreters as interpreters  # type: ignore[import-not-found]  # noqa: PLC0415
    except ImportError:
        return False
    return bool(interpreters.get_current() != interpreters.get_main())


_COMPILED, _MISSING_REASON = _load()


def compiled() -> Compiled | None:
    """Give the native module, or None where it is missing or switched off."""
    return _COMPILED


def missing_reason() -> str:
    """Say why there is no native module; empty if there is one."""
    return _MISSING_REASON
