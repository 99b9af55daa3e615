"""How cffi makes the extension module ``ankerl_py.native._native``; used by ``setup.py``."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent

# The limited API is what lets one wheel serve all later Pythons. Its version must be given
# here: cffi's own default is an older one, which has no PyObject_CallNoArgs.
# Free-threaded Pythons have no limited API yet.
LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

# One translation unit, in this order: later parts use the types and helpers of earlier ones.
PARTS = ("native", "pairs")


def _text(ending: str) -> str:
    return "\n".join((HERE / f"{part}.{ending}").read_text(encoding="utf-8") for part in PARTS)


ffibuilder = FFI()
ffibuilder.cdef(_text("cdef"))
ffibuilder.set_source(
    "ankerl_py.native._native",
    _text("c"),
    py_limited_api=LIMITED_API,
    define_macros=[("Py_LIMITED_API", "0x030A0000")] if LIMITED_API else [],
)
