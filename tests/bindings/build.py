# SPDX-License-Identifier: Apache-2.0
"""Compiles the pybind11 variant; prints the folder for PKG_BINDING_PATH.

    PKG_BINDING=pybind11 PKG_BINDING_PATH=$(python tests/bindings/build.py) python ...

Called by the tests and benchmarks that need the variant, and by hand.  A file is
compiled again when the command or the contents of anything it includes from this
repository changed, so the cache outlives checkouts that only touch times.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULE = "_pybind_core"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")

# As pybind11's guide and CMake module have it.
FLAGS = ["-g0", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-pthread"]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-restrict", "-Winvalid-pch"]
# Read once for all files that begin with it; without it they take a third longer.
COMMON = "bind.h"
# The files are compiled in so many runs of the compiler: what they instantiate alike is
# then made that often.  Two with the same name of their own are never in one.
UNITS = 4


class BuildError(Exception):
    """A command failed; the message holds the command and its output."""


def build(optimise: str = "-O1") -> Path:
    """Brings the variant up to date; returns the folder that holds the module.

    Benchmarks take -O3, which the SWIG binding has; it compiles half as long again.
    """
    folder = _folder(optimise)
    sources = sorted(HERE.glob("*.cc"))
    units = [_unit(folder, i, sources[i::UNITS]) for i in range(UNITS)]
    return _library(units, f"{MODULE}{SUFFIX}", optimise).parent


def build_probe() -> Path:
    """Brings the contract test's helper library up to date; returns its path."""
    return _library([HERE / "probes" / "probe.cc"], "probe.so", "-O1")


def _folder(optimise: str) -> Path:
    folder = ROOT / "build" / "pybind" / (SUFFIX.split(".")[1] + optimise)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _unit(folder: Path, number: int, sources: list[Path]) -> Path:
    """A file that includes these."""
    unit = folder / f"unit{number}.cc"
    _write(unit, "".join(f'#include "{path}"\n' for path in (HERE / COMMON, *sources)))
    return unit


def _write(file: Path, text: str) -> None:
    """Whole at once, as another run may be reading it."""
    if not file.exists() or file.read_text() != text:
        begun = file.with_name(f"{file.name}.{os.getpid()}")
        begun.write_text(text)
        begun.rename(file)


def _library(sources: Iterable[Path], name: str, optimise: str) -> Path:
    folder = _folder(optimise)
    # Two test runs in one tree take turns.
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources = list(sources)
        if any(_begins_with_common(source) for source in sources):
            _precompile(folder, optimise)
        with ThreadPoolExecutor(max_workers=2) as pool:
            compiled = pool.map(lambda s: _compile(s, folder, optimise), sources)
            objects = list(compiled)
        _link(sorted(objects), folder / name)
    return folder / name


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX", "g++"))


def _begins_with_common(source: Path) -> bool:
    if Path(_compiler()[0]).name == "ccache":
        return False  # it keeps no file that was made with a precompiled header
    return f'#include "{HERE / COMMON}"' in source.read_text(encoding="utf-8")


def _precompile(folder: Path, optimise: str) -> None:
    header = folder / COMMON
    _write(header, f'#include "{HERE / COMMON}"\n')
    target = folder / f"{COMMON}.gch"
    _run_compiler(header, target, optimise, ["-x", "c++-header"], [])


def _compile(source: Path, folder: Path, optimise: str) -> Path:
    target = folder / f"{source.stem}.o"
    flags, read = [], []
    if _begins_with_common(source):
        flags = ["-include", str(folder / COMMON)]
        # What that was made from, which the compiler does not tell again.
        read = [(folder / f"{COMMON}.gch.json").read_text()]
    _run_compiler(source, target, optimise, flags, read)
    return target


def _run_compiler(
    source: Path, target: Path, optimise: str, flags: list[str], read: list[str]
) -> None:
    import pybind11

    import pkg.sysconfig

    depfile = target.with_suffix(".d")
    # -isystem: their headers neither warn nor count among the dependencies (-MMD).
    system = [pybind11.get_include(), sysconfig.get_path("include")]
    command = [*_compiler(), *pkg.sysconfig.get_compile_flags(), *FLAGS, optimise]
    command += WARNINGS
    command += [part for path in system for part in ("-isystem", path)]
    command += ["-MMD", "-MF", str(depfile), *flags]
    command += ["-c", str(source), "-o", str(target)]
    versions = [pybind11.__version__, sys.version, _version_of_compiler(), *read]
    _run_if_stale(command, versions, target, lambda: _dependencies(depfile))


def _link(objects: list[Path], target: Path) -> None:
    import pkg.sysconfig

    command = [*_compiler(), "-shared", "-pthread", "-o", str(target)]
    command += [*map(str, objects), *pkg.sysconfig.get_link_flags()]
    _run_if_stale(command, [], target, lambda: objects)


def _run_if_stale(command, versions, target: Path, inputs) -> None:
    """Runs the command unless its record says that nothing it read has changed.

    `inputs` is a function, as a compiler only tells afterwards what it read.
    """
    record = target.with_name(target.name + ".json")
    if target.exists() and record.exists():
        old = json.loads(record.read_text())
        same = old["command"] == command and old["versions"] == versions
        if same and all(_digest(Path(p)) == d for p, d in old["inputs"].items()):
            return
    record.unlink(missing_ok=True)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}")
    print(f"built {target.name}", file=sys.stderr, flush=True)
    digests = {str(path): _digest(path) for path in inputs()}
    new = {"command": command, "versions": versions, "inputs": digests}
    record.write_text(json.dumps(new, indent=1))


def _version_of_compiler() -> str:
    command = [*_compiler(), "--version"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.split(
        "\n"
    )[0]


def _dependencies(depfile: Path) -> list[Path]:
    """The files of a make rule; no name of ours has a space."""
    _, _, names = depfile.read_text().replace("\\\n", " ").partition(": ")
    return [Path(name) for name in names.split()]


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "gone"


if __name__ == "__main__":
    # The flags come from pkg itself, which must not look for what is not built yet.
    os.environ.pop("PKG_BINDING", None)
    sys.path.insert(0, str(ROOT))
    try:
        print(build())
    except BuildError as error:
        sys.exit(str(error))
