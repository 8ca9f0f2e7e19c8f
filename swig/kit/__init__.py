# SPDX-License-Identifier: Apache-2.0
"""The kit: a Python module of your own C++ library, made by SWIG.

A short interface file, one command::

    python -m pkg wrap geometry.i geometry.cc

or a setup.py of three lines::

    from setuptools import setup
    from pkg.swigkit import Extension, build_ext
    setup(name="geometry", ext_modules=[Extension("geometry", ["geometry.i"])],
          cmdclass={"build_ext": build_ext})

The kit needs SWIG and a C++ compiler, and neither tensors nor NumPy.  In the source,
docs/wrap_your_library.md is the guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .build.incremental import BuildError as BuildError
from .build.options import (
    cmake_folder as get_cmake_dir,
    flags as get_swig_flags,
    includes as get_includes,
)
from .build.wrap import wrap as wrap

if TYPE_CHECKING:
    from .build.extension import Extension as Extension, build_ext as build_ext

__all__ = [
    "BuildError",
    "Extension",
    "build_ext",
    "get_cmake_dir",
    "get_includes",
    "get_swig_flags",
    "wrap",
]


def __getattr__(name: str) -> object:
    # setuptools takes longer to import than all the rest, and only these two need it.
    if name in ("Extension", "build_ext"):
        from .build import extension

        return getattr(extension, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
