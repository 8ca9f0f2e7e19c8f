# SPDX-License-Identifier: Apache-2.0
"""setuptools: an Extension of an interface file, and the command that builds it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import setuptools
from setuptools.command import build_ext as original
from setuptools.errors import CompileError

from .incremental import BuildError, place
from .options import EXTENSION_SUFFIX
from .wrap import Module, make

__all__ = ["Extension", "build_ext"]


class Extension(setuptools.Extension):  # type: ignore[misc,unused-ignore]
    """As setuptools' own; exactly one of the sources is the interface file NAME.i.

    `name` may have a package before it, "shapes.geometry"; its last part is what
    `%module` says.  `optimize` is the compiler's level, "2" when not said.
    """

    def __init__(
        self, name: str, sources: list[str], optimize: str = "2", **keywords: Any
    ) -> None:
        interfaces = [path for path in sources if str(path).endswith(".i")]
        if len(interfaces) != 1:
            raise ValueError(
                f"[Extension] expected one interface file (.i) in the sources of "
                f"{name!r}, got {interfaces or 'none'} in {sources}"
            )
        super().__init__(name, [str(path) for path in sources], **keywords)
        self.interface = str(interfaces[0])
        self.optimize = optimize


class build_ext(original.build_ext):  # type: ignore[misc,unused-ignore]
    """Builds those Extensions with the kit, all others as setuptools does."""

    def build_extension(self, ext: setuptools.Extension) -> None:
        """Makes the module and its stub."""
        if not isinstance(ext, Extension):
            super().build_extension(ext)
            return
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        keep = Path(self.build_temp).resolve() / ext.name
        try:
            module = self._module(ext)
            if module.name != ext.name.rpartition(".")[2]:
                raise BuildError(
                    f"{ext.interface}: expected '%module "
                    f"{ext.name.rpartition('.')[2]}', as the Extension is named, "
                    f"got '%module {module.name}'"
                )
            verbose = getattr(self.distribution, "verbose", 1) > 1
            jobs = self.parallel if isinstance(self.parallel, int) else None
            make(module, target.parent, keep, jobs=jobs or None, verbose=verbose)
        except BuildError as err:
            raise CompileError(str(err)) from None

    def _module(self, ext: Extension) -> Module:
        include_dirs = [*ext.include_dirs, *(self.include_dirs or [])]
        undefined = [f"-U{name}" for name in ext.undef_macros]
        rpath = [f"-Wl,-rpath,{path}" for path in ext.runtime_library_dirs]
        return Module(
            interface=ext.interface,
            sources=[
                *(path for path in ext.sources if path != ext.interface),
                *ext.extra_objects,
            ],
            include_dirs=[str(path) for path in include_dirs],
            macros=[
                name if value is None else f"{name}={value}"
                for name, value in ext.define_macros
            ],
            library_dirs=[*ext.library_dirs, *(self.library_dirs or [])],
            libraries=[*ext.libraries, *(self.libraries or [])],
            swig_options=[*ext.swig_opts],
            compile_args=[
                *undefined,
                *(["-g"] if self.debug else []),
                *ext.extra_compile_args,
            ],
            link_args=[*rpath, *ext.extra_link_args],
            depends=[*ext.depends],
            optimize=ext.optimize,
        )

    def get_outputs(self) -> list[str]:
        """The stubs too, so that they are installed and removed with the modules."""
        outputs: list[str] = super().get_outputs()
        return [*outputs, *(_stub(path) for path in outputs if self._ours(path))]

    def get_output_mapping(self) -> dict[str, str]:
        """For `pip install -e`: what is built to where it lies in the source."""
        mapping: dict[str, str] = super().get_output_mapping()
        stubs = {_stub(a): _stub(b) for a, b in mapping.items() if self._ours(a)}
        return {**mapping, **stubs}

    def copy_extensions_to_source(self) -> None:
        """Of an editable installation: the stubs go beside the sources, too."""
        super().copy_extensions_to_source()
        for built, target in self.get_output_mapping().items():
            if built.endswith(".pyi"):
                place(Path(built), Path(target))

    def _ours(self, path: str) -> bool:
        names = (e.name for e in self.extensions if isinstance(e, Extension))
        return path in {self._built(name) for name in names}

    def _built(self, name: str) -> str:
        return os.path.join(str(self.build_lib), str(self.get_ext_filename(name)))


def _stub(extension: str) -> str:
    """NAME.pyi beside NAME.cpython-....so."""
    return extension.removesuffix(EXTENSION_SUFFIX) + ".pyi"
