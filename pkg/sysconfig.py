# SPDX-License-Identifier: Apache-2.0
"""Where the C++ headers and the library lie, and the flags to compile and link with.

For setup scripts of libraries and programs that use pkg's C++ interface; in a shell

    c++ main.cc $(python -m pkg --cflags --ldflags)
"""

from __future__ import annotations

import os
import sysconfig

__all__ = [
    "get_compat_include", "get_compile_flags", "get_include", "get_lib",
    "get_link_flags",
]  # fmt: skip

# Libraries whose ops compile with headers of ours: folders of cpp/compat.
COMPAT = ("tf1", "torch")
_HERE = os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """Return the folder of the public C++ headers, such as ``tensor/tensor.h``.

    In a source tree, and so after ``pip install -e``, this is the folder ``cpp/``.
    """
    installed = os.path.join(_HERE, "include")
    if os.path.isdir(installed):
        return installed
    return os.path.join(os.path.dirname(_HERE), "cpp")


def get_compat_include(name: str) -> str:
    """Return the folder of headers at another library's paths, for sources of its ops.

    name: "tf1", for ``tensorflow/core/framework/op.h`` and others, or "torch", for
    ``torch/extension.h``.  ValueError for another name.  Give it to the compiler beside
    get_compile_flags().
    """
    if name not in COMPAT:
        raise ValueError(f"expected one of {', '.join(COMPAT)}, got {name!r}")
    return os.path.join(get_include(), "compat", name)


def get_lib() -> str:
    """Return the folder that holds ``libpkg_core.so``."""
    return os.path.join(_HERE, "lib")


def get_compile_flags(style: str = "") -> list[str]:
    """Return the compiler flags that a source including pkg's headers needs.

    style: "tf1" or "torch" for sources of ops in another library's style, see
    get_compat_include(); with "torch" Python's headers are found as well.
    With those of the loops (swig/build/toolchain.py says why), so that a kernel is as
    fast as the same stanza in the core; -O3 is yours to add.
    """
    loops = ["-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
    compat = [f"-I{get_compat_include(style)}"] if style else []
    if style == "torch":  # whose sources may include Python.h
        compat.append(f"-I{sysconfig.get_path('include')}")
    return ["-std=c++20", *loops, *compat, f"-I{get_include()}"]


def get_link_flags() -> list[str]:
    """Return the linker flags for the core; the program finds it where it lies now."""
    return [f"-L{get_lib()}", "-lpkg_core", f"-Wl,-rpath,{get_lib()}"]
