# SPDX-License-Identifier: Apache-2.0
"""Builds pkg: runs SWIG, compiles cpp/ and swig/, places the products in pkg/.

Run by pip, by `python -m build`, or by hand: `python setup.py build_ext`.  It makes

    pkg/lib/libpkg_core.so        all of cpp/, no Python symbol in it
    pkg/lib/libscipy_openblas.so  a copy of OpenBLAS, opened by the core at first use
    pkg/_pywrap_core*.so          SWIG's wrapper and swig/python/
    pkg/pywrap_core.py            SWIG's shim
    pkg/_pywrap_core.pyi          the extension's names and types
    pkg/_op_types.pyi             the ops' parameters and results, for type checkers

This file is the face towards setuptools.  Metadata: pyproject.toml; commands:
swig/build/products.py; flags and environment variables: swig/build/toolchain.py.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import time
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "swig" / "build"), str(ROOT / "swig")]

from kit.build.incremental import BuildError, Runner, place  # noqa: E402
from products import Products  # noqa: E402
from toolchain import Config, find_openblas  # noqa: E402


class BuildExt(build_ext):
    """Makes the products in build/<config>/, then copies those that changed.

    They go to pkg/ with and without --inplace, so that the repository's root can always
    import what was built; without it they go to setuptools' folder as well.  Sanitizer
    builds go to pkg/ only with --inplace, as a plain python cannot load them.
    """

    user_options = [
        *build_ext.user_options,
        ("core-only", None, "build pkg/lib/ only: no SWIG, no Python extension"),
        ("timings", None, "print what each folder cost in seconds of CPU"),
    ]
    boolean_options = [*build_ext.boolean_options, "core-only", "timings"]

    def initialize_options(self) -> None:
        super().initialize_options()
        self.core_only = False
        self.timings = False
        self._mapping: dict[str, str] = {}

    def run(self) -> None:
        began = time.monotonic()
        # Another tree's folder can be lent: tests/house/test_build.py does.
        build_dir = Path(os.environ.get("PKG_BUILD_DIR") or ROOT / "build").resolve()
        build_dir.mkdir(parents=True, exist_ok=True)
        runner = Runner(
            ROOT,
            build_dir,
            jobs=int(self.parallel or len(os.sched_getaffinity(0))),
            verbose=self.distribution.verbose > 1,
        )
        try:
            # Two builds in one tree (an editor's and a test's) take turns.
            with open(build_dir / ".lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._build(runner)
        except BuildError as err:
            raise CompileError(str(err)) from None
        if self.timings:
            print(runner.timings())
        cpu = sum(runner.cpu_seconds.values())
        waited = time.monotonic() - began
        print(f"{runner.summary()} ({cpu:.0f} s of CPU, waited {waited:.1f} s)")

    def _build(self, runner: Runner) -> None:
        config = Config.from_environment(ROOT)
        products = Products(config, runner, self.distribution.get_version())
        files = products.make(self.core_only)
        openblas, license = find_openblas()
        copies = {"lib/libscipy_openblas.so": openblas}
        copies["lib/LICENSE.openblas.txt"] = license
        for name, source in copies.items():
            place(source, products.folder / name)
        files.update(copies)

        headers = {f"include/{k}": v for k, v in products.headers().items()}
        if self.inplace or not config.sanitizers:
            for name, made in files.items():
                place(made, ROOT / "pkg" / name)
        for name, made in {**files, **headers}.items():
            target = Path(self.build_lib, "pkg", name)
            if not self.inplace:
                place(made, target)
            in_tree = ROOT / "pkg" / name if name in files else made
            self._mapping[str(target)] = os.path.relpath(in_tree, ROOT)

    def get_outputs(self) -> list[str]:
        return list(self._mapping)

    def get_output_mapping(self) -> dict[str, str]:
        """For `pip install -e`: installed files to those of the tree they stand for."""
        return self._mapping if self.inplace else {}


class BuildPy(build_py):
    """Starts from an empty folder, so that no wheel holds a file deleted since."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(Path(self.build_lib, "pkg"), ignore_errors=True)
        super().run()


setup(
    # No sources: BuildExt finds them.  It stands here to give wheels a platform tag.
    ext_modules=[Extension("pkg._pywrap_core", sources=[])],
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
)
