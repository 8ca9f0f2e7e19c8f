# SPDX-License-Identifier: Apache-2.0
"""How each binding of toy.h is built: its tools, its commands, its files.

Used by compare.py.  All C++ is compiled with the same compiler and flags, so that only
the bindings differ; what a tool's manual demands beyond them stands with the variant.
"""

from __future__ import annotations

import importlib.metadata
import os
import resource
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "swig" / "build"), str(ROOT / "swig")]

from kit.build.options import find_swig, includes  # noqa: E402

CXX = shlex.split(os.environ.get("CXX", "g++"))
# -fvisibility=hidden is asked for by pybind11 and nanobind, and is right for all.
FLAGS = "-std=c++20 -O3 -DNDEBUG -fPIC -fvisibility=hidden -pthread -w".split()
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def compile_quickly() -> None:
    """From now on; for tests, which look at no number."""
    FLAGS[FLAGS.index("-O3")] = "-O0"


class Missing(Exception):
    """A tool is not there; the text says which."""


@dataclass
class Variant:
    """One binding.  `module` is imported; `libraries` and `faces` are what ships."""

    name: str
    title: str
    module: str
    source: str  # what one writes, for the page
    folder: Path = Path()
    tool: str = ""
    libraries: list[Path] = field(default_factory=list)
    faces: list[Path] = field(default_factory=list)  # Python files
    once_seconds: float = 0.0  # compiling a tool's support library

    def build(self, folder: Path) -> None:
        """Builds into `folder`, from nothing; raises Missing without the tool."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder, self.libraries, self.faces = folder, [], []
        self.make()

    def make(self) -> None:
        raise NotImplementedError

    def compile(self, *sources: Path | str, flags: list[str] | None = None) -> None:
        """Compiles sources and links them to the extension module."""
        self.link(self.module, *sources, flags=flags)

    def link(
        self, module: str, *sources: Path | str, flags: list[str] | None = None
    ) -> None:
        library = self.folder / f"{module}{SUFFIX}"
        include = [f"-I{HERE}", f"-I{sysconfig.get_path('include')}"]
        run(*CXX, *FLAGS, *include, *(flags or []), "-shared", *sources, "-o", library)
        self.libraries.append(library)

    def copy(self, name: str) -> None:
        self.faces.append(Path(shutil.copy(HERE / name, self.folder / name)))


class OurSwig(Variant):
    """By the kit's command, with the flags of all."""

    def make(self) -> None:
        self.tool = f"swig {find_swig()[1]} + the kit"
        command = [sys.executable, "-m", "pkg", "wrap", HERE / f"{self.module}.i"]
        where = ["--out", self.folder, "--keep", self.folder]
        run(*command, "-I", HERE, "--generate", *where)
        flags = [f"-I{folder}" for folder in includes()]
        self.compile(self.folder / f"{self.module}_wrap.cc", flags=flags)


class StockSwig(Variant):
    def __init__(self, *args: str, options: list[str]) -> None:
        super().__init__(*args)
        self.options = options

    def make(self) -> None:
        program, version = find_swig()
        self.tool = " ".join([f"swig {version}", "-python", "-c++", *self.options])
        wrapper = self.folder / "wrap.cc"
        what = ["-python", "-c++", *self.options, "-doxygen", "-module", self.module]
        where = [f"-I{HERE}", "-outdir", self.folder, "-o", wrapper]
        run(program, *what, *where, HERE / "toy_stock.i")
        self.link(f"_{self.module}", wrapper)
        self.faces.append(self.folder / f"{self.module}.py")


class Pybind11(Variant):
    def make(self) -> None:
        pybind11 = need("pybind11")
        self.tool = version_of("pybind11")
        self.compile(HERE / "toy_pybind11.cc", flags=[f"-I{pybind11.get_include()}"])


class Nanobind(Variant):
    def make(self) -> None:
        need("nanobind")
        self.tool = version_of("nanobind")
        began = cpu_seconds()
        support, flags = nanobind_support(self.folder)
        self.once_seconds = cpu_seconds() - began
        self.compile(HERE / "toy_nanobind.cc", support, flags=flags)


class Cython(Variant):
    def make(self) -> None:
        need("Cython")
        self.tool = version_of("Cython")
        source = self.folder / "toy_cython.cpp"
        cython = [sys.executable, "-m", "cython", "-3", "--cplus"]
        run(*cython, HERE / "toy_cython.pyx", "-o", source)
        self.compile(source)


class Cffi(Variant):
    def make(self) -> None:
        need("cffi")
        self.tool = version_of("cffi")
        source = self.folder / "_toy_cffi.c"
        run(sys.executable, HERE / "toy_cffi_build.py", HERE / "toy_c.h", source)
        compiled = self.folder / "_toy_cffi.o"
        include = [f"-I{HERE}", f"-I{sysconfig.get_path('include')}"]
        flags = [flag for flag in FLAGS if not flag.startswith("-std")]
        # C, by the same compiler.
        run(*CXX, "-x", "c", *flags, *include, "-c", source, "-o", compiled)
        self.link("_toy_cffi", compiled, HERE / "toy_c.cc")
        self.copy("toy_cffi.py")


class Ctypes(Variant):
    def make(self) -> None:
        self.tool = f"ctypes of Python {sys.version.split()[0]}"
        library = self.folder / "libtoy_c.so"
        run(*CXX, *FLAGS, f"-I{HERE}", "-shared", HERE / "toy_c.cc", "-o", library)
        self.libraries.append(library)
        self.copy("toy_ctypes.py")


class ByHand(Variant):
    def make(self) -> None:
        self.tool = f"CPython {sys.version.split()[0]}"
        self.compile(HERE / "toy_capi.cc")


def all_variants() -> list[Variant]:
    """Every binding that is compared, in the page's order."""
    return [
        OurSwig("swig_ours", "SWIG, ours", "toy_swig_ours", "toy_swig_ours.i"),
        StockSwig("swig_default", "SWIG, default", "toy_swig_default", "toy_stock.i",
                  options=[]),
        StockSwig("swig_builtin", "SWIG -builtin", "toy_swig_builtin", "toy_stock.i",
                  options=["-builtin"]),
        Pybind11("pybind11", "pybind11", "toy_pybind11", "toy_pybind11.cc"),
        Nanobind("nanobind", "nanobind", "toy_nanobind", "toy_nanobind.cc"),
        Cython("cython", "Cython", "toy_cython", "toy_cython.pyx"),
        Cffi("cffi", "cffi (API)", "toy_cffi", "toy_c.{h,cc}, toy_cffi.py"),
        Ctypes("ctypes", "ctypes", "toy_ctypes", "toy_c.{h,cc}, toy_ctypes.py"),
        ByHand("capi", "C API by hand", "toy_capi", "toy_capi.cc"),
    ]  # fmt: skip


def nanobind_support(folder: Path) -> tuple[Path, list[str]]:
    """nanobind's own library as an object, and the flags of what is linked with it."""
    nanobind = need("nanobind")
    root = Path(nanobind.source_dir()).parent
    include = [f"-I{nanobind.include_dir()}", f"-I{root}/ext/robin_map/include"]
    support = folder / "libnanobind.o"
    python = f"-I{sysconfig.get_path('include')}"
    # -fno-strict-aliasing is nanobind's own demand for its library.
    command = [*CXX, *FLAGS, *include, python, "-fno-strict-aliasing"]
    command += ["-DNB_COMPACT_ASSERTIONS", "-c", root / "src/nb_combined.cpp"]
    run(*command, "-o", support)
    compact = ["-DNB_COMPACT_ASSERTIONS", "-ffunction-sections", "-fdata-sections"]
    return support, [*include, *compact, "-Wl,--gc-sections"]


def need(name: str) -> object:
    try:
        return __import__(name)
    except ImportError:
        raise Missing(f"{name} is not installed (pip install {name.lower()})") from None


def version_of(package: str) -> str:
    return f"{package} {importlib.metadata.version(package)}"


def run(*command: object) -> None:
    """Runs a command that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(words)}\n{done.stdout}")


def cpu_seconds() -> float:
    """Processor time of the commands run so far: hardly changed by other load."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
