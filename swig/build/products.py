# SPDX-License-Identifier: Apache-2.0
"""How the libraries are made from cpp/ and swig/: the commands and their order.

Called by setup.py, which puts the products in their places.  Everything is made in
build/<config>/: obj/ (objects), gen/ (SWIG's output), lib/ (the core, OpenBLAS) and the
extension beside lib/, so that it can be loaded from there too.
"""

from __future__ import annotations

import hashlib
import json
import sys
import sysconfig
from pathlib import Path

from kit.build.incremental import BuildError, Runner, Step, parse_depfile
from kit.build.options import find_swig
from toolchain import FULL, Config, git_version
from units import LESS, is_optimised_less, is_whole, units_of

# Without -nogil, which tells a free-threaded interpreter that no lock is needed: see
# docs/architecture.md, "The GIL".
SWIG_OPTIONS = (
    "-python -c++ -noproxy -doxygen -Werror "
    "-DSWIGWORDSIZE64 -Iswig -Iswig/kit/include -Icpp"
).split()
# For SWIG's output only: it does not meet our warning level, and we cannot mend it.
GENERATED_FLAGS = ["-w"]
# Type stubs, and the programs of this folder that ask them of the extension.
STUBS = {"_pywrap_core.pyi": "stubs.py", "_op_types.pyi": "op_stubs.py"}
# Headers that are read once for many files.  A layer of the core has those that it may
# include all of (tests/house/test_house.py), so that no file compiles by chance.
PRECOMPILED = {
    "core": ["dispatcher/library.h"],
    "tensor": ["tensor/tensor.h"],
    "scheduler": ["scheduler/runtime.h"],
    "binding": [
        "python/tensor/py_tensor.h",
        "dispatcher/dispatcher.h",
        "scheduler/scheduler.h",
    ],
}
# GCC's bug 105651 (of "text" + string, as -Wrestrict is) comes through where standard
# headers are precompiled.
PRECOMPILED_FLAGS = ["-Winvalid-pch", "-Wno-stringop-overflow", "-Wno-array-bounds"]
PRECOMPILED_LAYERS = {
    "tensor": "tensor",
    "scheduler": "scheduler",
    **dict.fromkeys(
        "dispatcher ops kernels framework autograd graph collectives c_api".split(),
        "core",
    ),
}
EXTENSION = f"_pywrap_core{sysconfig.get_config_var('EXT_SUFFIX')}"


class Products:
    """Makes the products of one configuration; `runner` counts what was done."""

    def __init__(self, config: Config, runner: Runner, version: str) -> None:
        self.config = config
        self.runner = runner
        self.version = version
        self.root = runner.root
        self.folder = runner.build_dir / config.name

    def make(self, core_only: bool) -> dict[str, Path]:
        """Brings everything up to date; file names below pkg/ to the files made."""
        core = self.folder / "lib" / "libpkg_core.so"
        cpp = [s for s in self._sources("cpp") if "tests" not in s.parts]
        self._precompile([n for n in PRECOMPILED if n != "binding" or not core_only])
        core_objects = [self._compile_core(s) for s in cpp]
        binding_objects = []
        if not core_only:
            wrapper = self._generate()
            hand_written = self._sources("swig/python")
            binding_objects = [self._compile_binding(s) for s in hand_written]
            binding_objects.append(self._compile_binding(wrapper, GENERATED_FLAGS))
        self._write_compile_commands(core_objects + binding_objects)
        core_objects = self._together(core_objects)
        binding_objects = self._together(binding_objects)
        self.runner.run(core_objects + binding_objects)

        # The linker takes an inline function from the first object that has it.
        core_objects.sort(key=lambda step: FULL not in step.command)
        self._link(
            core,
            core_objects,
            ["-Wl,-soname,libpkg_core.so", "-Wl,--no-undefined"]
            + ["-Wl,-Bsymbolic-functions", "-lpthread", "-ldl"],
        )
        products = {"lib/libpkg_core.so": core}
        if not core_only:
            extension = self.folder / EXTENSION
            self._link(
                extension, binding_objects, ["-Wl,-rpath,$ORIGIN/lib"], library=core
            )
            products[EXTENSION] = extension
            products["pywrap_core.py"] = wrapper.with_name("pywrap_core.py")
            if not self.config.sanitizers:  # a plain python cannot load those
                for stub, script in STUBS.items():
                    sources = [extension]
                    if script == "stubs.py":
                        sources.insert(0, wrapper.with_name("pywrap_core.xml"))
                    products[stub] = self._run("wrote", script, sources, stub)
        return products

    def headers(self) -> dict[str, Path]:
        """The public headers: file names below pkg/include/ to files of the tree."""
        cpp = self.root / "cpp"
        names = [path.relative_to(cpp) for path in sorted(cpp.rglob("*.h"))]
        return {n.as_posix(): cpp / n for n in names if "tests" not in n.parts}

    def _sources(self, folder: str) -> list[Path]:
        files = sorted((self.root / folder).rglob("*.cc"))
        return [path.relative_to(self.root) for path in files]

    def _generate(self) -> Path:
        """Runs SWIG and the kit's step; returns the wrapper, the shim beside it."""
        interface = Path("swig/pywrap_core.i")
        if not (self.root / interface).exists():
            raise BuildError(
                f"{interface} is missing, so there is no Python extension to build. "
                "Pass --core-only to build libpkg_core.so alone."
            )
        program, version = find_swig()
        folder = self.folder / "gen"
        output, parsed = folder / "pywrap_core_swig.cc", folder / "pywrap_core.xml"
        depfile = output.with_suffix(".d")
        step = Step(
            verb="generated",
            label=output.name,
            command=[
                *[program, *SWIG_OPTIONS, "-MMD", "-MF", str(depfile)],
                *["-xmlout", str(parsed), "-outdir", str(folder)],
                *["-o", str(output), str(interface)],
            ],
            output=output,
            inputs=[interface],
            depfile=depfile,
            identity=f"swig {version}",
        )
        self.runner.run([step])
        program = Path("swig/kit/build/step.py")
        wrapper, shim = folder / "pywrap_core_wrap.cc", folder / "pywrap_core.py"
        files = map(str, (output, parsed, wrapper, shim))
        inputs = [*sorted(program.parent.glob("*.py")), output]
        command = [sys.executable, str(program), *files]
        self.runner.run([Step("rewrote", wrapper.name, command, wrapper, inputs)])
        return wrapper

    def _run(self, verb: str, script: str, sources: list[Path], product: str) -> Path:
        """Runs a program of swig/build, which makes gen/`product` of the sources."""
        program = Path("swig/build") / script
        kit = sorted((self.root / "swig/kit/build").glob("*.py"))
        output = self.folder / "gen" / product
        step = Step(
            verb=verb,
            label=product,
            command=[sys.executable, str(program), *map(str, sources), str(output)],
            output=output,
            inputs=[program, *kit, *sources],
        )
        self.runner.run([step])
        return output

    def _together(self, steps: list[Step]) -> list[Step]:
        """These steps, those of units as one step each."""
        if not self.config.together:
            return steps
        by_source = {step.inputs[0]: step for step in steps}
        for name, sources in units_of(list(by_source)).items():
            members = [by_source[source] for source in sources]
            unit = self._unit(Path(f"{name}.cc"), sources)
            if is_whole(unit, members, self.root):
                steps = [step for step in steps if step not in members[1:]]
                steps[steps.index(members[0])] = unit
        return steps

    def _unit(self, name: Path, sources: list[Path]) -> Step:
        """Compiles a file that includes these, as the command line of each would."""
        file = self.folder / "units" / name
        lines = [f'#include "{Path(*source.parts[1:])}"\n' for source in sources]
        _write(file, "".join(lines))
        core = name.parts[0] == "cpp"
        step = (self._compile_core if core else self._compile_binding)(name)
        step.command[step.command.index(str(name))] = str(file)
        step.inputs[:1] = [file, *sources]
        return step

    def _compile_core(self, source: Path) -> Step:
        # Default visibility: exception classes, registries and templates' statics must
        # be one in the whole process, whichever library throws or registers.
        flags = self._build_info() if source.name == "build_info.cc" else []
        headers = PRECOMPILED_LAYERS.get(source.parts[1], "")
        return self._compile(source, "obj", [*self._flags("core"), *flags], headers)

    def _compile_binding(self, source: Path, extra: list[str] | None = None) -> Step:
        flags = [*self._flags("binding"), *(extra or [])]
        # SWIG's output begins with definitions that headers look at.
        headers = "" if extra else "binding"
        return self._compile(source, f"obj/{EXTENSION}", flags, headers)

    def _flags(self, part: str) -> list[str]:
        if part != "binding":
            return ["-DPKG_BUILDS_CORE"]
        python = sysconfig.get_path("include")
        kit = "-Iswig/kit/include"
        return ["-fvisibility=hidden", "-Iswig", kit, "-isystem", python]

    def _compile(
        self, source: Path, folder: str, flags: list[str], headers: str = ""
    ) -> Step:
        label = source.name if source.is_absolute() else source.as_posix()
        inputs = [source]
        less = is_optimised_less(source)
        if headers and self.config.precompiles:
            header = self._precompiled(headers, less)
            flags = [*flags, "-include", str(header), *PRECOMPILED_FLAGS]
            inputs.append(header.with_suffix(".h.gch"))  # the depfile does not have it
        output = self.folder / folder / f"{label}.o"
        return self._step("compiled", label, inputs, output, flags, less)

    def _step(
        self,
        verb: str,
        label: str,
        inputs: list[Path],
        output: Path,
        flags: list[str],
        less: bool,
    ) -> Step:
        depfile = output.with_suffix(".d")
        return Step(
            verb=verb,
            label=label,
            command=[
                *[*self.config.cxx, *self.config.flags(less), *flags, "-Icpp"],
                *["-MMD", "-MF", str(depfile), "-c", str(inputs[0]), "-o", str(output)],
            ],
            output=output,
            inputs=inputs,
            depfile=depfile,
            identity=self.config.version,
        )

    def _precompiled(self, name: str, less: bool) -> Path:
        """The file that begins what is compiled so: the compiler takes what it made of
        a header with the same optimisation only."""
        return self.folder / "pch" / f"{name}{'_less' if less else ''}.h"

    def _precompile(self, names: list[str]) -> None:
        """Makes pch/NAME.h and what the compiler makes of it."""
        if not self.config.precompiles:
            return
        steps = []
        less_too = {PRECOMPILED_LAYERS[Path(folder).parts[1]] for folder in LESS}
        wanted = [(name, False) for name in names]
        for name, less in [*wanted, *((name, True) for name in sorted(less_too))]:
            header = self._precompiled(name, less)
            lines = [f'#include "{file}"\n' for file in PRECOMPILED[name]]
            _write(header, "".join(lines))
            output = header.with_suffix(".h.gch")
            flags = [*self._flags(name), "-x", "c++-header"]
            step = self._step("precompiled", header.name, [header], output, flags, less)
            step.environment["CCACHE_DISABLE"] = "1"  # it is large, and soon made
            steps.append(step)
        self.runner.run(steps)
        for step in steps:
            self._write_sum(step)

    def _write_sum(self, step: Step) -> None:
        """What ccache takes in place of a precompiled header, which is never made twice
        the same: a digest of its command and of the files that it was made from."""
        while True:
            digest = hashlib.sha256(step.record.read_bytes())
            for name in parse_depfile(step.depfile.read_text(encoding="utf-8")):
                digest.update((self.root / name).read_bytes())
            # A file saved meanwhile may be in the one as it was, in the other as it is.
            if not self.runner.changed_meanwhile(step):
                break
            self.runner.run([step])
        path = step.output.with_name(step.output.name + ".sum")
        if not path.exists() or path.read_text() != digest.hexdigest():
            path.write_text(digest.hexdigest())

    def _build_info(self) -> list[str]:
        """What cpp/base/build_info.cc tells about the build, for that file only."""
        values = {
            "PKG_VERSION_STRING": self.version,
            "PKG_BUILD_FLAGS": " ".join(self.config.compile_flags),
            "PKG_BUILD_SANITIZERS": ",".join(self.config.sanitizers),
            "PKG_BUILD_GIT_VERSION": git_version(self.root),
        }
        return [f"-D{name}={json.dumps(value)}" for name, value in values.items()]

    def _link(
        self,
        output: Path,
        objects: list[Step],
        flags: list[str],
        library: Path | None = None,
    ) -> None:
        inputs = [step.output for step in objects] + ([library] if library else [])
        step = Step(
            verb="linked",
            label=output.name,
            command=[
                *[*self.config.cxx, "-shared", "-o", str(output), *map(str, inputs)],
                *[*flags, *self.config.link_flags],
            ],
            output=output,
            inputs=inputs,
            identity=self.config.version,
        )
        self.runner.run([step])

    def _write_compile_commands(self, steps: list[Step]) -> None:
        """For editors: clangd --compile-commands-dir=build/release."""
        entries = [
            {
                "directory": str(self.root),
                "file": str(step.inputs[0]),
                "arguments": step.command,
            }
            for step in steps
        ]
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "compile_commands.json"
        path.write_text(json.dumps(entries, indent=1), encoding="utf-8")


def _write(file: Path, text: str) -> None:
    """Gives the file this text, and leaves one alone that has it."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
