# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ core, runs SWIG, and places the products in pkg/.

    pkg/lib/libpkg_core.so        the runtime: cpp/**, no Python symbol in it
    pkg/_pywrap_core*.so          swig/python/** and the file SWIG generates
    pkg/pywrap_core.py            the shim SWIG generates

The compiling is in swig/build/compiler.py; metadata is in pyproject.toml.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "swig" / "build"))

import compiler  # noqa: E402  (found through the path above)

EXTENSION = "pkg._pywrap_core"


class BuildExt(build_ext):
    """Compiles into build/, then copies the products to where they are needed."""

    def run(self):
        """Builds everything that is out of date."""
        suffix = Path(self.get_ext_filename(EXTENSION)).name
        products = compiler.build(ROOT, suffix, verbose=self.verbose > 1)
        # A source tree is importable after `build_ext`, with or without --inplace.
        targets = {ROOT / "pkg"}
        if not self.inplace:
            targets.add(Path(self.build_lib) / "pkg")
        for target in targets:
            compiler.place(products, target)
        if not self.inplace and not getattr(self, "editable_mode", False):
            copy_headers(Path(self.build_lib) / "pkg" / "include")

    def get_outputs(self):
        """Files of the last build, for install records."""
        package = Path(self.build_lib) / "pkg"
        return [str(path) for path in package.rglob("*.so*")]

    def get_output_mapping(self):
        """Editable installs use the source tree itself."""
        return {}


class BuildPy(build_py):
    """Leaves out the products of an in-place build; BuildExt puts fresh ones there."""

    def find_data_files(self, package, src_dir):
        """Package data without generated headers and libraries."""
        files = super().find_data_files(package, src_dir)
        generated = (os.sep + "include" + os.sep, os.sep + "lib" + os.sep)
        return [f for f in files if not any(part in f for part in generated)]


def copy_headers(target):
    """Installs the public C++ headers."""
    for header in (ROOT / "cpp").rglob("*.h"):
        place = target / header.relative_to(ROOT / "cpp")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(header, place)


setup(
    ext_modules=[Extension(EXTENSION, sources=[])],
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
)
