"""The cffi extension, which may be missing: everything else is in pyproject.toml.

``ANKERL_PY_NATIVE`` in the environment of the build: ``require`` makes a failing compiler an
error (for wheels and CI), ``skip`` builds without the extension.
"""

import os

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

NATIVE = os.environ.get("ANKERL_PY_NATIVE", "optional")
if NATIVE not in ("optional", "require", "skip"):
    raise SystemExit(f"ANKERL_PY_NATIVE is {NATIVE!r}, not one of optional, require, skip")


class BuildPython(build_py):
    """Leave out the module that builds the extension: nothing calls it after installation."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[:2] != ("ankerl_py.native", "build")]


class BuildExtension(build_ext):
    """Make extensions optional: a failing compiler is a warning of setuptools then."""

    def finalize_options(self):
        super().finalize_options()
        for extension in self.extensions:
            extension.optional = NATIVE == "optional"


class BuildWheel(bdist_wheel):
    """Tag the wheel abi3 if its extension is: then it serves all later Pythons, too."""

    def finalize_options(self):
        extensions = self.distribution.ext_modules or []
        if extensions and all(e.py_limited_api for e in extensions):
            self.py_limited_api = "cp310"
        super().finalize_options()


setup(
    cffi_modules=[] if NATIVE == "skip" else ["ankerl_py/native/build.py:ffibuilder"],
    cmdclass={"build_ext": BuildExtension, "build_py": BuildPython, "bdist_wheel": BuildWheel},
)
