# SPDX-License-Identifier: Apache-2.0
"""Builds a module of docs/walkthrough/stages, by the kit or by its pybind11 twin.

    python tests/walkthrough/stages.py NAME [kit|pybind11]

Then runs the sample of this stage.  What is up to date is not built again.  The kit's
are built by the command of their page, but QUICK and with headers that are read once,
which takes half as long: what is tested is what they do.  measure.py takes them as
they are by default.

    python tests/walkthrough/stages.py --pages

Puts the stages' files into the pages that show them.
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

import pkg.sysconfig

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "tests" / "support"))

from twins import QUICK, BuildError, kit_environment, twin_command  # noqa: E402

SAMPLES = ROOT / "docs" / "walkthrough" / "samples"
STAGES = ROOT / "docs" / "walkthrough" / "stages"
SHARED = STAGES / "shared"
# Where the suite runs on the pybind11 variant of pkg, the kit's were there before.
BINDINGS = ("pybind11",) if os.environ.get("PKG_BINDING") else ("pybind11", "kit")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
# Which sources of stages/shared a stage is made of, besides its own.
LATER = ["device", "job_queue", "later"]
SHARES = {
    "pydemo": [],
    "pydemo_int": [],
    "myops": ["device", "job_queue"],
    "myops_dispatch_cpu": [],
    "overload_ops_sync": [],
    "overload_ops_async": LATER,
    "overload_ops_queue": LATER,
    "overload_ops_pool": LATER,
    "scalar_mul_grad_class": [],
}
NAMES = list(SHARES)
NEEDS_NO_CORE = ("pydemo", "pydemo_int")
# As the pages write the core's folders, and where they are: a wheel has its own.
CORE = {"cpp": pkg.sysconfig.get_include(), "pkg/lib": pkg.sysconfig.get_lib()}
# Of the stages' own sources, which pybind11's modules share.
FLAGS = ["-std=c++20", "-O1", "-g0", "-fPIC", "-pthread", "-fvisibility=hidden"]
FLAGS += ["-Wall", "-Wextra", "-Werror"]


quick = True  # how the kit's are built, see above


def folder_of(binding: str) -> Path:
    """Where the modules of a binding lie."""
    kind = binding if quick else f"{binding}-fast"
    return ROOT / "build" / "stages" / f"{kind}-{SUFFIX.split('.')[1]}"


def load(name: str, binding: str) -> ModuleType:
    """The module, built when that is needed; in no table of sys, as there are two."""
    found = _load(name, binding)
    if isinstance(found, BuildError):
        raise found
    loaded[name, binding] = found
    return found


loaded: dict[tuple[str, str], ModuleType] = {}


@functools.cache
def _load(name: str, binding: str) -> ModuleType | BuildError:
    try:
        folder = build(name, binding)
    except BuildError as error:
        return error
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}{SUFFIX}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(name: str, binding: str) -> Path:
    """Brings the module up to date; returns its folder."""
    folder = folder_of(binding)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "w") as lock:  # two test runs take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        if binding == "kit":
            _run(_kit(name, folder), kit_environment() if quick else {})
        else:
            _pybind11(name, folder)
    return folder


def path(*folders: str | Path) -> dict[str, str]:
    """The environment in which a child imports stages from these folders."""
    home = Path(pkg.__file__).parents[1]
    return {"PYTHONPATH": os.pathsep.join(map(str, [*folders, home]))}


def sources(name: str) -> list[str]:
    """Those of a stage, as its page names them."""
    own = f"docs/walkthrough/stages/{name}/{name}.cc"
    shared = [f"docs/walkthrough/stages/shared/{each}.cc" for each in SHARES[name]]
    return [own, *shared]


def sample(name: str) -> Path:
    """The article's program that runs on this stage."""
    (path,) = SAMPLES.glob(f"[0-9][0-9]_{name}.py")
    return path


def page_command(name: str) -> list[str]:
    """What a page tells to type, in the folder of the project."""
    interface = f"docs/walkthrough/stages/{name}/{name}.i"
    command = ["python", "-m", "pkg", "wrap", interface, *sources(name)]
    if name in NEEDS_NO_CORE:
        return command
    command += ["-I", "docs/walkthrough/stages"]
    return [*command, "-I", "cpp", "-L", "pkg/lib", "-l", "pkg_core"]


def _kit(name: str, folder: Path) -> list[str]:
    """As a user would: wrap looks itself at what has changed."""
    command = [CORE.get(word, word) for word in page_command(name)]
    command += [QUICK] if quick else []
    return [sys.executable, *command[1:], "--out", str(folder)]


def _pybind11(name: str, folder: Path) -> None:
    """Links objects, of which several stages have some."""
    includes = [f"-I{STAGES}", f"-I{CORE['cpp']}"]
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    twins = HERE / "twins" / "pybind11"
    common = [*SHARED.iterdir(), *twins.glob("*.h")]
    objects = []
    for source in sources(name):
        command = [*compiler, *FLAGS, *includes, "-c", source]
        near = (ROOT / source).parent.iterdir()
        objects.append(_object(command, Path(source).stem, folder, [*common, *near]))
    twin = twins / f"{name}.cc"
    read = [*common, *(STAGES / name).iterdir(), twin]
    command = [*twin_command(), *includes, "-c", str(twin)]
    objects.append(_object(command, f"{name}.twin", folder, read))
    module = folder / f"{name}{SUFFIX}"
    link = [*compiler, "-shared", "-pthread", *map(str, objects)]
    link += pkg.sysconfig.get_link_flags()
    _make(link, module, objects)


def _object(command: list[str], name: str, folder: Path, read: list[Path]) -> Path:
    output = folder / f"{name}.o"
    with open(folder / f"{name}.o.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make(command, output, read)
    return output


def _make(command: list[str], output: Path, read: list[Path]) -> None:
    """Runs the command for what is older than anything of `read`.  The new file takes
    the old one's place at once: another test run may have that loaded, or link it."""
    record, text = output.with_name(f"{output.name}.cmd"), shlex.join(command)
    if output.exists() and record.exists() and record.read_text() == text:
        made = output.stat().st_mtime
        if all(path.stat().st_mtime < made for path in read):
            return
    record.unlink(missing_ok=True)
    begun = output.with_name(f"{output.name}.begun")
    _run([*command, "-o", str(begun)])
    begun.rename(output)
    record.write_text(text)


def _run(command: list[str], more: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **path(), **(more or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}")


def write_pages() -> None:
    """Blocks marked `whole: FILE` become the file."""
    block = re.compile(r"(<!-- whole: (\S+) -->\n```\w*\n).*?(?=^```$)", re.S | re.M)
    for page in SAMPLES.parent.glob("*.md"):
        old = page.read_text(encoding="utf-8")
        new = block.sub(lambda m: m[1] + (ROOT / m[2]).read_text(encoding="utf-8"), old)
        if new != old:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--pages"]:
        sys.exit(write_pages())
    try:
        folder = build(sys.argv[1], *sys.argv[2:] or ["kit"])
    except BuildError as error:
        sys.exit(str(error))
    program = [sys.executable, str(sample(sys.argv[1]))]
    sys.exit(subprocess.run(program, env={**os.environ, **path(folder)}).returncode)
