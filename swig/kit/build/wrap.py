# SPDX-License-Identifier: Apache-2.0
"""Makes the Python extension NAME of an interface file NAME.i: the order of the steps.

    swig        NAME.i     -> NAME_swig.cc and NAME.xml, its parse tree
    step.py     both       -> NAME_wrap.cc: classes and calls
    stubs.py    NAME.xml   -> NAME.pyi
    compiler    NAME_wrap.cc and your sources, in parallel -> objects -> NAME.*.so

What is made on the way is kept, and a step is done again only when something that it
reads has changed.  command.py has the command line, extension.py setuptools' face.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import readable
from .incremental import BuildError, Runner, Step, parse_depfile, place
from .options import (
    COMPILE_FLAGS,
    EXTENSION_SUFFIX,
    GENERATED_FLAGS,
    KIT,
    LINK_FLAGS,
    compiler,
    compiler_version,
    find_swig,
    flags,
    includes,
    memory_flags,
)

__all__ = ["Module", "module_name", "wrap"]

MODULE = re.compile(
    r"^[ \t]*%module[ \t]*(?:\((?:[^)\"]|\"[^\"]*\")*\)[ \t]*)?(\w+)", re.MULTILINE
)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
SOURCES = {".cc", ".cpp", ".cxx", ".c++", ".C", ".c"}
LINKED = {".o", ".obj", ".a", ".so", ".dylib"}  # handed to the linker as they are
# A base class of the standard library's gives Python no methods; an instance of a
# template that was made twice is one, and C++ finds the type of a result.
NO_FAULT = r"Warning 401: .*'std::|Warning 404: |Warning 344: "
Strings = Sequence[str]
PROGRAMS = sorted((KIT / "build").glob("*.py"))

# What to write in the interface, by what compilers say of the wrapper.
ADVICE = {
    r"is private within this context|is a private member of": (
        "C++ lets nobody else say what is private: %ignore what gives or takes it, "
        "before the %include."
    ),
    r"deleted function .*unique_ptr|deleted constructor of .*unique_ptr": (
        "An object with a std::unique_ptr in it cannot be copied.  A member that holds "
        "such objects: %immutable Class::member; before the %include."
    ),
}


@dataclass
class Module:
    """What an extension is made of.  Paths are relative to `root`, or absolute."""

    interface: str
    sources: Strings = ()
    root: Path = field(default_factory=Path.cwd)
    include_dirs: Strings = ()
    macros: Strings = ()  # NAME or NAME=VALUE
    library_dirs: Strings = ()
    libraries: Strings = ()
    swig_options: Strings = ()
    compile_args: Strings = ()
    link_args: Strings = ()
    depends: Strings = ()  # files that, when changed, call for all steps again
    cxx: str | None = None
    optimize: str = "2"

    def __post_init__(self) -> None:
        self.name = module_name(self.root / self.interface)
        for path in (*self.sources, *self.depends):
            if not (self.root / path).is_file():
                raise BuildError(f"{path}: no such file")
            if path in self.sources and Path(path).suffix not in SOURCES | LINKED:
                raise BuildError(
                    f"{path}: expected a C++ source ({' '.join(sorted(SOURCES))}) or "
                    f"something to link ({' '.join(sorted(LINKED))})"
                )

    def generate(self, folder: Path, runner: Runner) -> tuple[Path, Path]:
        """Makes NAME_wrap.cc and NAME.pyi in the folder; returns both."""
        program, version = find_swig()
        generated = folder / f"{self.name}_swig.cc"
        tree, depfile = folder / f"{self.name}.xml", folder / f"{self.name}_swig.d"
        command = [program, *flags(), "-interface", self.name, *self._common()]
        command += [*self.swig_options, "-xmlout", str(tree), "-MMD"]
        command += ["-MF", str(depfile), "-outdir", str(folder), "-o", str(generated)]
        step = Step(
            verb="generated",
            label=generated.name,
            command=[*command, self.interface],
            output=generated,
            inputs=[Path(self.interface), *map(Path, self.depends)],
            depfile=depfile,
            identity=f"swig {version}",
            ignored=NO_FAULT,
        )
        if not tree.exists():
            generated.unlink(missing_ok=True)  # both are made by one command
        readable.Headers(folder, runner.root, self.include_dirs).run(step, runner)
        wrapper, stub = folder / f"{self.name}_wrap.cc", folder / f"{self.name}.pyi"
        runner.run(
            [
                self._program("step.py", "rewrote", [generated, tree], wrapper),
                self._program("stubs.py", "wrote", [tree], stub),
            ]
        )
        return wrapper, stub

    def read(self, folder: Path) -> list[str]:
        """What generate() has read, the kit's own programs included."""
        depfile = folder / f"{self.name}_swig.d"
        return [
            *parse_depfile(depfile.read_text(encoding="utf-8")),
            *map(str, PROGRAMS),
        ]

    def build(self, folder: Path, runner: Runner) -> tuple[Path, Path]:
        """Makes the extension and NAME.pyi in the folder; returns both."""
        wrapper, stub = self.generate(folder, runner)
        sources = [path for path in self.sources if Path(path).suffix in SOURCES]
        cxx = compiler(self.cxx)
        version = compiler_version(cxx)
        steps = [
            self._compile(cxx, version, folder, Path(path), []) for path in sources
        ]
        flags = [*GENERATED_FLAGS, *(f"-I{folder}" for folder in includes())]
        flags += ["-isystem", sysconfig.get_path("include")]
        steps.append(self._compile(cxx, version, folder, wrapper, flags))
        try:
            runner.run(steps)
        except BuildError as error:
            said = [
                text for found, text in ADVICE.items() if re.search(found, str(error))
            ]
            raise BuildError("\n".join([str(error), *said])) from None

        output = folder / f"{self.name}{EXTENSION_SUFFIX}"
        linked = [Path(path) for path in self.sources if Path(path).suffix in LINKED]
        inputs = [step.output for step in steps] + linked
        command = [*cxx, *LINK_FLAGS, "-o", str(output), *map(str, inputs)]
        for path in self.library_dirs:
            # Where it was linked it is found when it is imported, too.
            command += [f"-L{path}", f"-Wl,-rpath,{(self.root / path).resolve()}"]
        command += [*(f"-l{name}" for name in self.libraries), *self.link_args]
        command += shlex.split(os.environ.get("LDFLAGS", ""))
        step = Step("linked", output.name, command, output, inputs, identity=version)
        runner.run([step])
        return output, stub

    def _common(self) -> list[str]:
        """Options that SWIG and the compiler have in common."""
        # The wrapper lies elsewhere: headers beside the interface must be named to it.
        beside = os.path.dirname(self.interface) or "."
        return [
            *(f"-I{folder}" for folder in (*self.include_dirs, beside)),
            *(f"-D{macro}" for macro in self.macros),
        ]

    def _compile(
        self, cxx: list[str], version: str, folder: Path, source: Path, extra: Strings
    ) -> Step:
        path = Path(os.path.relpath(self.root / source, self.root))
        if source.is_relative_to(folder):
            path = source.relative_to(folder)
        # As the sources lie, but all below the folder.
        parts = ("up" if part == ".." else part for part in path.parts)
        output = folder.joinpath("obj", *parts).with_name(f"{path.name}.o")
        depfile = output.with_suffix(".d")
        command = [*cxx, *COMPILE_FLAGS, f"-O{self.optimize}", *memory_flags(version)]
        command += [*self._common(), *extra, *self.compile_args]
        command += shlex.split(os.environ.get("CXXFLAGS", ""))
        command += ["-MMD", "-MF", str(depfile), "-c", str(source), "-o", str(output)]
        return Step(
            verb="compiled",
            label=source.name,
            command=command,
            output=output,
            inputs=[source, *map(Path, self.depends)],
            depfile=depfile,
            identity=version,
        )

    def _program(
        self, script: str, verb: str, inputs: list[Path], output: Path
    ) -> Step:
        """A program of this folder, which makes `output` of `inputs`."""
        path = KIT / "build" / script
        command = [sys.executable, str(KIT), path.stem]
        command += [*map(str, inputs), str(output)]
        return Step(verb, output.name, command, output, [*PROGRAMS, *inputs])


def module_name(interface: Path) -> str:
    """NAME of the line `%module NAME`."""
    try:
        text = interface.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BuildError(f"{interface}: no such file") from None
    except (OSError, UnicodeDecodeError) as err:
        raise BuildError(f"{interface}: cannot be read: {err}") from None
    found = MODULE.search(COMMENT.sub(" ", text))
    if found is None:
        raise BuildError(f"{interface}: expected a line '%module NAME', found none")
    return found[1]


def make(
    module: Module,
    out: Path,
    keep: Path,
    jobs: int | None = None,
    verbose: bool = False,
    generate: bool = False,
) -> tuple[Path, Path]:
    """Makes the extension, or only its source, and NAME.pyi; places both in `out`."""
    keep.mkdir(parents=True, exist_ok=True)
    jobs = jobs or len(os.sched_getaffinity(0))
    runner = Runner(module.root, keep, jobs=jobs, verbose=verbose)
    with open(keep / ".lock", "w") as lock:  # two builds in one folder take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        maker = module.generate if generate else module.build
        made, stub = maker(keep, runner)
        places = (out / made.name, out / stub.name)
        for source, target in zip((made, stub), places):
            place(source, target)
    return places


def wrap(
    interface: str | os.PathLike[str],
    sources: Sequence[str | os.PathLike[str]] = (),
    *,
    out: str | os.PathLike[str] = ".",
    keep: str | os.PathLike[str] | None = None,
    include_dirs: Strings = (),
    macros: Strings = (),
    library_dirs: Strings = (),
    libraries: Strings = (),
    swig_options: Strings = (),
    compile_args: Strings = (),
    link_args: Strings = (),
    cxx: str | None = None,
    optimize: str = "2",
    jobs: int | None = None,
    verbose: bool = False,
) -> Path:
    """Make the extension of an interface file; return its path.

    NAME.pyi is placed beside it.  `keep` is the folder for what is made on the way, by
    default build/NAME below `out`; what has not changed since is not made again.
    BuildError has the command that failed, and what it said.
    """
    module = Module(
        interface=os.fspath(interface),
        sources=[os.fspath(path) for path in sources],
        include_dirs=include_dirs,
        macros=macros,
        library_dirs=library_dirs,
        libraries=libraries,
        swig_options=swig_options,
        compile_args=compile_args,
        link_args=link_args,
        cxx=cxx,
        optimize=optimize,
    )
    target = Path(out).resolve()
    folder = Path(keep).resolve() if keep else target / "build" / module.name
    return make(module, target, folder, jobs, verbose)[0]
