# SPDX-License-Identifier: Apache-2.0
"""Builds a module of docs/examples, by the kit or by one of its twins of this folder.

    python tests/examples/example_modules.py NAME [kit|pybind11|nanobind]

Prints its folder.  Does nothing when it is up to date.
"""

from __future__ import annotations

import fcntl
import functools
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "docs" / "examples"
sys.path[:0] = [str(ROOT / "swig")]
from kit.build.incremental import BuildError, Runner, Step  # noqa: E402

from twins import kit_environment  # noqa: E402

BINDINGS = ("kit", "pybind11", "nanobind")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
PYTHON = sysconfig.get_path("include")
# What is tested is the border, not how fast it is.  NDEBUG, since what pybind11 asserts
# of a method that is not overridden needs the GIL, which it has released by then.
FLAGS = [
    "-std=c++20",
    "-O0",
    "-DNDEBUG",
    "-g0",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


class Missing(Exception):
    """What is needed is not installed; the text says what."""


@dataclass(frozen=True)
class Example:
    """A library: pkg-config's name for it, Debian's package, a program that uses it."""

    name: str
    library: str
    package: str
    program: str

    @property
    def interface(self) -> Path:
        return EXAMPLES / self.name / f"{self.name}.i"

    @property
    def uses(self) -> Path:
        return EXAMPLES / self.name / self.program

    def source(self, binding: str) -> Path:
        return self.interface if binding == "kit" else twin(self.name, binding)

    def flags(self) -> list[str]:
        """The compiler's and linker's; Missing without the library."""
        if not shutil.which("pkg-config"):
            raise Missing("pkg-config is not installed")
        asked = ["pkg-config", "--cflags", "--libs", self.library]
        done = subprocess.run(asked, capture_output=True, text=True)
        if done.returncode:
            hint = f"apt install {self.package}"
            raise Missing(f"{self.library} is not installed ({hint})")
        return done.stdout.split()


EXAMPLES_BY_NAME = {
    each.name: each
    for each in (
        Example("yamlcpp", "yaml-cpp", "libyaml-cpp-dev", "read_config.py"),
        Example("httplib", "cpp-httplib", "libcpp-httplib-dev", "serve.py"),
    )
}


def twin(name: str, binding: str) -> Path:
    """The source of a module as one writes it with pybind11 or nanobind."""
    return HERE / f"{name}_{binding}.cc"


def folder_of(binding: str) -> Path:
    """Where the modules of a binding lie."""
    return ROOT / "build" / "examples" / f"{binding}-{SUFFIX.split('.')[1]}"


@functools.cache
def build(name: str, binding: str) -> Path | Exception:
    """Brings the module up to date; returns its folder, or why there is none: a
    failure is kept, so that the next test does not try again."""
    folder = folder_of(binding)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with open(folder.with_suffix(".lock"), "w") as lock:  # two test runs take turns
            fcntl.flock(lock, fcntl.LOCK_EX)
            example = EXAMPLES_BY_NAME[name]
            if binding == "kit":
                _wrap(example, folder)
            else:
                compile_module(name, binding, example.flags(), folder)
    except (BuildError, Missing) as error:
        return error
    return folder


def folder_or_skip(name: str, binding: str) -> Path:
    """For a test, which is skipped when what the module needs is not installed."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    found = build(name, binding)
    if isinstance(found, Missing):
        pytest.skip(str(found))
    if isinstance(found, Exception):
        pytest.fail(str(found), pytrace=False)
    return found


def environment(folder: Path) -> dict[str, str]:
    """In which a child imports the module and pkg."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


def _wrap(example: Example, folder: Path) -> None:
    """As a user would; the command looks itself at what has changed."""
    command = [sys.executable, "-m", "pkg", "wrap", str(example.interface)]
    command += ["-I", "/usr/include", *example.flags(), "-O", "0", "--out", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**environment(folder), **kit_environment()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}")


def compile_module(name: str, binding: str, library: list[str], folder: Path) -> None:
    """Of the twin NAME_BINDING.cc; `library` are flags for compiler and linker."""
    includes, support = _tool(binding)
    compiler = [*shlex.split(os.environ.get("CXX", "g++")), *FLAGS]
    for each in (*includes, Path(PYTHON)):
        compiler += ["-isystem", str(each)]
    objects = [_object(twin(name, binding), [*compiler, *WARNINGS, *library], folder)]
    for source in support:  # nanobind demands the flag for its own library
        more = ["-fno-strict-aliasing", "-w"]
        objects.append(_object(source, [*compiler, *more], folder))
    runner = Runner(ROOT, folder, jobs=1)
    runner.run(objects)
    output = folder / f"{name}{SUFFIX}"
    made = [step.output for step in objects]
    link = [*compiler, "-shared", *map(str, made), "-o", str(output), *library]
    runner.run([Step("linked", output.name, link, output, inputs=made)])


def _object(source: Path, compiler: list[str], folder: Path) -> Step:
    output = folder / "obj" / f"{source.stem}.o"
    depfile = output.with_suffix(".d")
    command = [*compiler, "-MMD", "-MF", str(depfile), "-c", str(source)]
    command += ["-o", str(output)]
    return Step("compiled", source.name, command, output, [source], depfile)


def _tool(binding: str) -> tuple[list[Path], list[Path]]:
    """Its headers, and sources of it that are part of each module."""
    if not importlib.util.find_spec(binding):
        raise Missing(f"{binding} is not installed (pip install {binding})")
    tool = importlib.import_module(binding)
    if binding == "pybind11":
        return [Path(tool.get_include())], []
    root = Path(tool.source_dir()).parent
    includes = [Path(tool.include_dir()), root / "ext" / "robin_map" / "include"]
    return includes, [root / "src" / "nb_combined.cpp"]


if __name__ == "__main__":
    found = build(sys.argv[1], *sys.argv[2:] or ["kit"])
    if isinstance(found, Exception):
        sys.exit(str(found))
    print(found)
