# SPDX-License-Identifier: Apache-2.0
"""Builds border.h's Python module with SWIG or with pybind11; prints its folder.

    python tests/border/build.py [swig|pybind11]

Called by test_border.py and test_swig_faults.py.  Does nothing when all is up to date.
"""

from __future__ import annotations

import fcntl
import importlib
import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "swig" / "build")]
sys.path.insert(0, str(ROOT / "swig"))

from kit.build.incremental import BuildError, Runner, Step  # noqa: E402
from kit.build.options import find_swig  # noqa: E402
from products import GENERATED_FLAGS, SWIG_OPTIONS  # noqa: E402
from toolchain import Config  # noqa: E402

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def load() -> ModuleType:
    """The module by the binding that pkg itself runs on; built when that is needed."""
    if "border" in sys.modules:
        return sys.modules["border"]
    folder = build(os.environ.get("PKG_BINDING") or "swig")
    path = folder / f"border{SUFFIX}"
    spec = importlib.util.spec_from_file_location("border", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["border"] = module
    return module


def build(binding: str) -> Path:
    """Brings the module up to date; returns its folder."""
    folder = ROOT / "build" / "border" / f"{binding}-{SUFFIX.split('.')[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:  # two test runs take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        maker = {"swig": _Swig, "pybind11": _Pybind11}[binding](folder)
        maker.make()
    return folder


class _Maker:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = Config.from_environment(ROOT)
        self.runner = Runner(ROOT, folder, jobs=2, verbose=False)

    def compile(self, source: Path, flags: list[str]) -> Step:
        output = self.folder / f"{source.stem}.o"
        depfile = output.with_suffix(".d")
        includes = [f"-I{HERE}", "-Icpp", "-isystem", sysconfig.get_path("include")]
        return Step(
            verb="compiled",
            label=source.name,
            command=[
                *[*self.config.cxx, *self.config.compile_flags, "-fvisibility=hidden"],
                *[*includes, *flags, "-MMD", "-MF", str(depfile)],
                *["-c", str(source), "-o", str(output)],
            ],
            output=output,
            inputs=[source],
            depfile=depfile,
            identity=self.config.version,
        )

    def finish(self, steps: list[Step], flags: list[str]) -> None:
        objects = [step.output for step in steps]
        output = self.folder / f"border{SUFFIX}"
        command = [*self.config.cxx, "-shared", "-o", str(output), *map(str, objects)]
        command += [*flags, *self.config.link_flags]
        self.runner.run(steps)
        self.runner.run([Step("linked", output.name, command, output, objects)])


class _Pybind11(_Maker):
    def make(self) -> None:
        import pybind11

        flags = ["-isystem", pybind11.get_include()]
        self.finish([self.compile(HERE / "border_pybind11.cc", flags)], [])


class _Swig(_Maker):
    """As the kit builds a module."""

    def make(self) -> None:
        program, version = find_swig()
        generated, wrapper = self.folder / "swig.cc", self.folder / "wrap.cc"
        parsed, depfile = self.folder / "border.xml", generated.with_suffix(".d")
        interface, step = HERE / "border.i", ROOT / "swig/kit/build/step.py"
        command = [program, *SWIG_OPTIONS, f"-I{HERE}", "-MMD", "-MF", str(depfile)]
        command += ["-xmlout", str(parsed), "-outdir", str(self.folder)]
        command += ["-o", str(generated), str(interface)]
        self.runner.run(
            [
                Step(
                    verb="generated",
                    label=generated.name,
                    command=command,
                    output=generated,
                    inputs=[interface],
                    depfile=depfile,
                    identity=f"swig {version}",
                )
            ]
        )
        command = [sys.executable, *map(str, (step, generated, parsed, wrapper))]
        inputs = [*sorted(step.parent.glob("*.py")), generated]
        self.runner.run([Step("rewrote", wrapper.name, command, wrapper, inputs)])
        flags = [*GENERATED_FLAGS, "-Iswig/kit/include"]
        self.finish([self.compile(wrapper, flags)], [])


if __name__ == "__main__":
    try:
        print(build(*sys.argv[1:] or ["swig"]))
    except BuildError as error:
        sys.exit(str(error))
