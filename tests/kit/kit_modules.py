# SPDX-License-Identifier: Apache-2.0
"""Builds the module of a theme of tests/kit/cases, by the kit or by pybind11.

    python tests/kit/kit_modules.py THEME [kit|pybind11]

Prints its path.  Does nothing when it is up to date.
"""

from __future__ import annotations

import fcntl
import functools
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CASES = HERE / "cases"
BINDINGS = ("pybind11", "kit")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
sys.path.insert(0, str(ROOT / "tests" / "support"))

from twins import KIT, QUICK, BuildError, kit_environment, twin_command  # noqa: E402

# So many of pybind11's twins are one library: what they instantiate alike, a good third
# of what they take, is made once.  A library may hold several modules.
TOGETHER = 6
# In no namespace of ours, see _group().
APART = re.compile(
    "^(PYBIND11_DECLARE_HOLDER_TYPE|namespace pybind11|template <>)", re.M
)
INCLUDE = re.compile("^#include .*\n", re.M)


def is_there(binding: str) -> bool:
    """Whether the binding's command exists."""
    return binding == "pybind11" or (KIT / "build" / "wrap.py").exists()


@functools.cache
def load(theme: str, binding: str) -> ModuleType | BuildError:
    """The module, built when that is needed, or why it was not: a failure is kept, so
    that the next test does not try again.  No table of sys has it, as there are two of
    a name."""
    try:
        path = build(theme, binding)
    except BuildError as error:
        return error
    spec = importlib.util.spec_from_file_location(theme, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(theme: str, binding: str) -> Path:
    """Brings the module up to date; returns its path."""
    kind = _kind(binding)
    folder = ROOT / "build" / "kit" / f"{kind}-{SUFFIX.split('.')[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    themes = [theme] if binding == "kit" else _group(theme)
    name = "_".join(themes)
    with open(folder / f"{name}.lock", "w") as lock:  # two test runs take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build(themes, name, binding, folder)


def _group(theme: str) -> list[str]:
    """The themes whose twins are compiled with that of this one."""
    sources = sorted(CASES.glob("*_pybind11.cc"))
    names = [p.name.removesuffix("_pybind11.cc") for p in sources]
    names = [n for n in names if not APART.search(_twin(n).read_text("utf-8"))]
    if theme not in names:
        return [theme]
    first = names.index(theme) // TOGETHER * TOGETHER
    return names[first : first + TOGETHER]


def _twin(theme: str) -> Path:
    return CASES / f"{theme}_pybind11.cc"


def _kind(binding: str) -> str:
    """Modules for the sanitizers, or compiled for speed, lie elsewhere: see soak.py."""
    return os.environ.get("KIT_BUILD", binding)


def _build(themes: list[str], name: str, binding: str, folder: Path) -> Path:
    output = folder / f"{name}{SUFFIX}"
    if binding == "kit":
        command, inputs = _kit(name, folder)
    else:
        command, inputs = _pybind11(themes, folder / f"{name}.cc")
    inputs += [CASES / f"{theme}.h" for theme in themes]
    begun = folder / f"{name}.begun"
    if binding == "pybind11":
        command += ["-o", str(begun)]
    record = folder / f"{name}.cmd"
    made = output.stat().st_mtime if output.exists() else 0
    same = record.exists() and record.read_text() == shlex.join(command)
    if same and all(path.stat().st_mtime < made for path in inputs):
        return output
    record.unlink(missing_ok=True)
    more = kit_environment() if binding == "kit" and _kind("kit") == "kit" else {}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if binding == "pybind11" and not done.returncode:
        begun.rename(output)  # at once: another test run may have the old one loaded
    if done.returncode or not output.exists():
        output.unlink(missing_ok=True)
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}")
    record.write_text(shlex.join(command))
    return output


def _kit(theme: str, folder: Path) -> tuple[list[str], list[Path]]:
    """By the documented command."""
    interface = CASES / f"{theme}.i"
    command = [sys.executable, "-m", "pkg", "wrap", str(interface), "-I", str(CASES)]
    command += [QUICK] if _kind("kit") == "kit" else []
    kit = [path for path in KIT.rglob("*") if path.suffix in (".h", ".i", ".py")]
    return [*command, "--out", str(folder)], [interface, *kit]


def _pybind11(themes: list[str], unit: Path) -> tuple[list[str], list[Path]]:
    """The unit is made of the twins: each in a namespace, as it uses that of its theme,
    and before them all that they include."""
    twins = [_twin(theme) for theme in themes]
    texts = [path.read_text("utf-8") for path in twins]
    lines = dict.fromkeys(line for text in texts for line in INCLUDE.findall(text))
    if len(themes) == 1:
        return [*twin_command(), f"-I{CASES}", "-shared", str(twins[0])], twins
    for theme, path in zip(themes, twins, strict=True):
        lines[f'namespace twin_{theme} {{\n#include "{path}"\n}}\n'] = None
    text = "".join(lines)
    if not unit.exists() or unit.read_text("utf-8") != text:
        unit.write_text(text, encoding="utf-8")
    return [*twin_command(), f"-I{CASES}", "-shared", str(unit)], [unit, *twins]


if __name__ == "__main__":
    try:
        print(build(sys.argv[1], *sys.argv[2:] or ["kit"]))
    except BuildError as error:
        sys.exit(str(error))
