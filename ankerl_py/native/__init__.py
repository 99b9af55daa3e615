"""The compiled part: clock reads and the measuring loop in C.

Nothing but :mod:`ankerl_py.backends.compiled` imports from here. The extension module
``_native`` is optional: it is missing where no C compiler was there at installation.

* ``native.cdef``: what Python sees of the C code.
* ``native.c``: the C code.
* ``build.py``: how cffi makes ``_native`` of the two.
* ``_native.pyi``: the types of ``_native``, for type checkers.
"""
