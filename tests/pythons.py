# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel and runs the suite on every CPython from 3.11 to 3.14 on this machine.

    python tests/pythons.py [--list] [--keep] [VERSION...] [-- PYTEST ARGUMENTS]

Looks for interpreters on PATH, in pyenv's and uv's folders and by the `py` launcher,
and takes the newest of each version.  For each: a fresh virtual environment, the wheel
of an sdist of this tree, built there, and the tests of that sdist over the wheel's
files.  The suite runs itself on both bindings.  `--list` only says what was found;
VERSION (3.12) picks; what stands after `--` goes to pytest (`-- tests/nn -x`).

Exit status: 0, all that were found pass; 1, one failed; 2, there was none to try.
Takes some twenty minutes for each on two cores.  Not part of pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# This shell's settings, which the new environments must not inherit.
DROPPED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PKG_BUILD_DIR", "PKG_BINDING")

ASK = """
import importlib.util, json, os, sys, sysconfig
header = os.path.join(sysconfig.get_path("include"), "Python.h")
print(json.dumps({
    "name": sys.implementation.name,
    # Behind a shim or a virtual environment stands another file.
    "path": getattr(sys, "_base_executable", "") or sys.executable,
    "version": list(sys.version_info[:3]),
    "final": sys.version_info.releaselevel == "final",
    "free": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "pip": importlib.util.find_spec("ensurepip") is not None,
    "headers": os.path.exists(header),
}))
"""


class Failed(Exception):
    """A step for one interpreter failed; the message holds its output."""


@dataclass(frozen=True)
class Python:
    """An interpreter; `lacks` says why it cannot be used, or is empty."""

    path: Path
    version: tuple[int, int, int]
    final: bool
    lacks: str

    @property
    def minor(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


def candidates() -> list[Path]:
    """Files that may be interpreters, each once."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    folders = [Path(p) for p in os.environ.get("PATH", "").split(os.pathsep) if p]
    folders += sorted(pyenv.glob("versions/*/bin"))
    folders += sorted((home / ".local/share/uv/python").glob("cpython-*/bin"))
    names = ("python3", *(f"python{version}" for version in VERSIONS))
    found = [folder / name for folder in folders for name in names]
    return list(dict.fromkeys(p for p in [*found, *of_launcher()] if p.is_file()))


def of_launcher() -> list[Path]:
    """What the `py` launcher knows, if there is one."""
    if not shutil.which("py"):
        return []
    done = subprocess.run(["py", "--list"], capture_output=True, text=True)
    return [Path(m) for m in re.findall(r"(/\S*python[\d.]*)\s*$", done.stdout, re.M)]


def ask(path: Path) -> Python | None:
    """What the interpreter says of itself; None if it is none that we know."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", ASK], capture_output=True, text=True, timeout=60
        )
        said = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None  # a shim of a version that is not active, for one
    if said["name"] != "cpython" or said["free"]:
        return None
    lacks = [name for name in ("pip", "headers") if not said[name]]
    version = tuple(said["version"])
    return Python(Path(said["path"]), version, said["final"], " and ".join(lacks))


def find() -> dict[str, Python]:
    """The best interpreter of each version: usable, final, newest, first found."""
    best: dict[str, Python] = {}
    for python in filter(None, map(ask, candidates())):
        old = best.get(python.minor)
        if python.minor in VERSIONS and (old is None or rank(python) > rank(old)):
            best[python.minor] = python
    return best


def rank(python: Python) -> tuple[bool, bool, tuple[int, int, int]]:
    return (not python.lacks, python.final, python.version)


def run(*command: object, cwd: Path) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def environment() -> dict[str, str]:
    kept = {name: v for name, v in os.environ.items() if name not in DROPPED}
    # An sdist takes warnings for warnings; here they are errors, as in this tree.
    return {**kept, "PKG_WERROR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def requirements() -> list[str]:
    """What pkg[test] needs, build requirements included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["test"]]


class Suite:
    """The tests of an sdist over the wheel of one interpreter; objects are shared."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        self.arguments = arguments

    def run(self, python: Python) -> tuple[bool, str]:
        """Whether it passes, and pytest's last line or what went wrong before."""
        place = self.folder / python.minor
        try:
            inside = self.prepare(python, place)
        except Failed as error:
            print(error)
            return False, "no tests: " + str(error).partition("\n")[0][:60]
        print(f"-- {python.minor}: running the tests", flush=True)
        command = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        with subprocess.Popen(
            [str(part) for part in [*command, *self.arguments]],
            cwd=self.tree,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as tests:
            last = ""
            for line in tests.stdout:
                print(line, end="", flush=True)
                last = line.strip() or last
        return tests.returncode == 0, last.strip("= ")

    def prepare(self, python: Python, place: Path) -> Path:
        """Environment, sdist, wheel; returns the environment's interpreter."""
        print(f"-- {python.minor}: {python} at {python.path}", flush=True)
        run(python.path, "-m", "venv", place / "venv", cwd=self.folder)
        inside = place / "venv" / "bin" / "python"
        run(inside, "-m", "pip", "install", "-q", *requirements(), cwd=self.folder)
        print(f"-- {python.minor}: building the wheel", flush=True)
        options = ["egg_info", "--egg-base", place, "sdist", "-d", place]
        run(inside, "setup.py", "-q", *options, cwd=ROOT)
        (sdist,) = place.glob("*.tar.gz")
        self.unpack(sdist)
        options = ["--no-build-isolation", "--no-deps"]
        run(inside, "-m", "pip", "wheel", *options, "-w", place, ".", cwd=self.tree)
        (wheel,) = place.glob("*.whl")
        run(inside, "-m", "pip", "install", "--no-deps", wheel, cwd=self.folder)
        # The suite imports from its own tree: there lies what the wheel holds, no more.
        shutil.rmtree(self.tree / "pkg")
        run(inside, "-m", "zipfile", "-e", wheel, self.tree, cwd=self.folder)
        return inside

    def unpack(self, sdist: Path) -> None:
        """A fresh tree, but the objects of the last one, or of this repository."""
        objects = self.tree / "build" / "release"
        kept = objects if objects.exists() else ROOT / "build" / "release"
        aside = self.folder / "release"
        if kept.exists():
            shutil.copytree(kept, aside)
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir()
        run("tar", "-xzf", sdist, "--strip-components=1", cwd=self.tree)
        if aside.exists():
            shutil.copytree(aside, objects)
            shutil.rmtree(aside)


def show(found: dict[str, Python], versions: list[str]) -> list[Python]:
    """Says what there is; those that can be used."""
    for version in versions:
        python = found.get(version)
        text = "not found" if python is None else f"{python} at {python.path}"
        if python is not None and python.lacks:
            text += f": left out, it has no {python.lacks}"
        print(f"{version:6}{text}", flush=True)
    chosen = [found[version] for version in versions if version in found]
    return [python for python in chosen if not python.lacks]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--list", action="store_true", help="only say what was found")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    own, rest = sys.argv[1:split], sys.argv[split + 1 :]
    options = parser.parse_args(own)
    versions = options.versions or list(VERSIONS)
    wrong = sorted(set(versions) - set(VERSIONS))
    if wrong:
        parser.error(f"expected some of {', '.join(VERSIONS)}, got {', '.join(wrong)}")
    chosen = show(find(), versions)
    if options.list or not chosen:
        return 0 if chosen else 2
    folder = Path(tempfile.mkdtemp(prefix="pkg-pythons-"))
    suite, rows = Suite(folder, rest), []
    try:
        for python in chosen:
            begin = time.monotonic()
            passed, text = suite.run(python)
            rows.append((python, passed, text, time.monotonic() - begin))
    finally:
        if options.keep:
            print(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{'Python':9}{'result':8}{'minutes':>7}  pytest")
    for python, passed, text, seconds in rows:
        result = "passed" if passed else "FAILED"
        print(f"{python!s:9}{result:8}{seconds / 60:7.1f}  {text}")
    for version in versions:
        if version not in {python.minor for python in chosen}:
            print(f"{version:9}not run")
    return 0 if all(passed for _, passed, _, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
