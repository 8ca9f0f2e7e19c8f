# SPDX-License-Identifier: Apache-2.0
"""Which compiler, flags and outside tools the build uses.

Called by setup.py.  The environment chooses: CXX, CXXFLAGS and LDFLAGS as everywhere;
PKG_DEBUG=1 (-O1 -g); PKG_SANITIZE=address,undefined or thread; PKG_WERROR=0 or 1;
PKG_PCH=0 (no precompiled headers, and each source alone).
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kit.build.incremental import BuildError
from kit.build.options import compiler_version, memory_flags

SANITIZERS = ("address", "undefined", "thread")

# Of loops over elements.  Errno and floating-point traps are not read anywhere; with
# them GCC would vectorise much less.  pkg.sysconfig gives these to authors of ops.
LOOP_FLAGS = [
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fopenmp-simd",  # reductions in lanes; the pragma alone, no OpenMP
]
# -fno-semantic-interposition lets calls inside the library go straight.
COMMON_FLAGS = [
    "-std=c++20",
    "-fPIC",
    *LOOP_FLAGS,
    "-fno-semantic-interposition",
    "-pthread",
    # GCC keeps pairs of int32 in MMX registers, which leaves those of x87 unusable.
    *(["-mno-mmx"] if platform.machine() == "x86_64" else []),
]
# The optimisation, and that of the sources which need less of it (units.py).  CXXFLAGS
# come after either.
FULL, LESS = "-O3", ["-O1", "-finline-small-functions", "-fpartial-inlining"]
WARNINGS = ["-Wall", "-Wextra", "-Wno-restrict"]


@dataclass(frozen=True)
class Config:
    """One way to compile.  Each has its own folder below build/, called `name`."""

    name: str
    cxx: list[str]
    version: str
    compile_flags: list[str]
    link_flags: list[str]
    sanitizers: list[str]
    precompiles: bool  # headers, which takes a third off a build from clean
    together: bool  # compiles sources, see units.py

    def flags(self, less: bool) -> list[str]:
        """compile_flags, for some sources with less optimisation: not in builds for
        debugging or without precompiled headers, nor by Clang, which has other
        options."""
        if not less or not self.precompiles:
            return self.compile_flags
        at = self.compile_flags.index(FULL)
        return [*self.compile_flags[:at], *LESS, *self.compile_flags[at + 1 :]]

    @classmethod
    def from_environment(cls, root: Path) -> Config:
        env = os.environ
        debug = env.get("PKG_DEBUG", "0") not in ("", "0")
        sanitizers = sorted(s for s in env.get("PKG_SANITIZE", "").split(",") if s)
        for name in sanitizers:
            if name not in SANITIZERS:
                raise BuildError(
                    f"PKG_SANITIZE: expected some of {', '.join(SANITIZERS)}, "
                    f"got {name!r}"
                )
        if debug or sanitizers:
            optimise = ["-O1", "-g", "-fno-omit-frame-pointer"]
        else:
            optimise = [FULL, "-g0", "-DNDEBUG"]
        checks = []
        if sanitizers:
            checks = [f"-fsanitize={','.join(sanitizers)}", "-fno-sanitize-recover=all"]
        # A released source must also install with a compiler that has new warnings.
        released = (root / "PKG-INFO").exists()
        strict = env.get("PKG_WERROR", "0" if released else "1") not in ("", "0")
        cxx = shlex.split(env.get("CXX", "g++"))
        version = compiler_version(cxx)
        # Not in builds for debugging, which so find a source that leans on a header
        # without including it.
        together = env.get("PKG_PCH", "1") not in ("", "0")
        together &= not debug and not sanitizers
        precompiles = together and "clang" not in version
        if precompiles and Path(cxx[0]).name == "ccache":
            # Else it takes no file that uses them, or takes it as new in each tree:
            # Products writes the digests that stand for them.
            env.setdefault("CCACHE_SLOPPINESS", "pch_defines,time_macros")
            env.setdefault("CCACHE_PCH_EXTSUM", "1")
        parts = (["debug"] if debug else []) + sanitizers
        return cls(
            name="-".join(parts) or "release",
            cxx=cxx,
            version=version,
            compile_flags=[
                *COMMON_FLAGS,
                *optimise,
                *checks,
                *memory_flags(version),
                *WARNINGS,
                *(["-Werror"] if strict else []),
                *shlex.split(env.get("CXXFLAGS", "")),
            ],
            link_flags=[*checks, "-pthread", *shlex.split(env.get("LDFLAGS", ""))],
            sanitizers=sanitizers,
            precompiles=precompiles,
            together=together,
        )


def find_openblas() -> tuple[Path, Path]:
    """OpenBLAS's library and license in the PyPI package scipy-openblas32."""
    try:
        import scipy_openblas32
    except ImportError:
        raise BuildError(
            "the build needs the PyPI package scipy-openblas32, which is not "
            "installed. Run: python -m pip install scipy-openblas32"
        ) from None
    folder = Path(scipy_openblas32.get_lib_dir())
    libraries = sorted(folder.glob("libscipy_openblas*.so*"))
    if not libraries:
        raise BuildError(f"expected libscipy_openblas*.so in {folder}, found none")
    for file in importlib.metadata.files("scipy-openblas32") or []:
        if file.name.upper().startswith("LICENSE"):
            return libraries[0], Path(file.locate())
    raise BuildError("expected a LICENSE file in scipy-openblas32, found none")


def git_version(root: Path) -> str:
    """The commit the tree is at; empty outside git."""
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""
