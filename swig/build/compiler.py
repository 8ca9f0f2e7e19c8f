# SPDX-License-Identifier: Apache-2.0
"""A small incremental compiler driver for setup.py.

Each object is rebuilt when its source, a header it includes (gcc's -MMD) or its command
line changed; objects are compiled in parallel.  PKG_DEBUG=1 builds -O1 -g;
PKG_SANITIZE=address,undefined or thread builds with sanitizers, in a folder of its own.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SWIG_VERSION = "4.5.1"
BLAS = "libscipy_openblas.so"


class BuildError(SystemExit):
    """Ends the build with a message instead of a traceback."""

    def __init__(self, message):
        super().__init__("pkg build: " + message)


def base_flags():
    """Compile flags of all our code."""
    flags = ["-std=c++20", "-fPIC", "-fno-math-errno", "-fno-trapping-math"]
    flags += ["-Wall", "-Wextra", "-Werror"]
    debug = os.environ.get("PKG_DEBUG") == "1"
    sanitize = os.environ.get("PKG_SANITIZE")
    flags += ["-O1", "-g"] if debug or sanitize else ["-O3", "-g0"]
    if sanitize:
        flags += [f"-fsanitize={sanitize}", "-fno-omit-frame-pointer"]
    return flags


class Compiler:
    """Compiles and links into one build folder."""

    def __init__(self, root, verbose):
        self.root = root
        self.verbose = verbose
        self.cxx = shlex.split(os.environ.get("CXX", "g++"))
        self.flags = base_flags()
        sanitize = os.environ.get("PKG_SANITIZE")
        self.link_flags = [f"-fsanitize={sanitize}"] if sanitize else []
        key = " ".join(self.cxx + self.flags)
        self.dir = root / "build" / ("obj-" + hashlib.sha1(key.encode()).hexdigest()[:8])
        self.compiled = []

    def run(self, command):
        """Runs one command from the root; its output is shown when it fails."""
        if self.verbose:
            print(shlex.join(command), flush=True)
        done = subprocess.run(
            command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            sys.stdout.write(done.stdout.decode(errors="replace"))
            raise BuildError("failed: " + shlex.join(command))

    def compile(self, jobs):
        """Compiles (source, extra flags) pairs; returns the objects."""
        objects, todo = [], []
        for source, extra in jobs:
            relative = os.path.relpath(source, self.root).replace(os.sep, "__")
            target = self.dir / (relative.replace("build__", "") + ".o")
            command = self.cxx + self.flags + extra
            command += ["-MMD", "-c", str(source), "-o", str(target)]
            objects.append(target)
            if not self.is_current(target, command):
                todo.append((target, command))
        self.dir.mkdir(parents=True, exist_ok=True)
        # The longest first, so that no core idles at the end.
        todo.sort(key=lambda job: -os.path.getsize(job[1][-3]))
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for _ in pool.map(self.compile_one, todo):
                pass
        return objects

    def compile_one(self, job):
        """Compiles one object and records the command that made it."""
        target, command = job
        stamp = target.with_suffix(".cmd")
        stamp.unlink(missing_ok=True)
        print("compile", os.path.relpath(command[-3], self.root), flush=True)
        self.run(command)
        stamp.write_text(shlex.join(command))
        self.compiled.append(target)

    def is_current(self, target, command):
        """Whether the object is newer than all it was made from."""
        stamp, deps = target.with_suffix(".cmd"), target.with_suffix(".d")
        if not (target.exists() and stamp.exists() and deps.exists()):
            return False
        if stamp.read_text() != shlex.join(command):
            return False
        made = target.stat().st_mtime_ns
        names = shlex.split(deps.read_text().partition(":")[2].replace("\\\n", " "))
        try:
            return all((self.root / name).stat().st_mtime_ns <= made for name in names)
        except OSError:
            return False

    def link(self, objects, target, extra):
        """Links a shared library when an object or the command changed."""
        command = self.cxx + ["-shared", "-o", str(target)]
        command += [str(o) for o in objects] + self.link_flags + extra
        stamp = target.with_name(target.name + ".cmd")
        newest = max(o.stat().st_mtime_ns for o in objects)
        fresh = target.exists() and target.stat().st_mtime_ns >= newest
        if fresh and stamp.exists() and stamp.read_text() == shlex.join(command):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        print("link", target.name, flush=True)
        self.run(command)
        stamp.write_text(shlex.join(command))


def run_swig(root, build_dir):
    """Generates the wrapper and the shim; returns (wrapper, shim)."""
    try:
        import swig
    except ImportError:
        raise BuildError(
            f"the PyPI package swig=={SWIG_VERSION} is needed: pip install "
            f"swig=={SWIG_VERSION}"
        ) from None
    executable = [sys.executable, "-c", "import swig; swig.swig()"]
    if not hasattr(swig, "swig"):
        executable = [shutil.which("swig") or "swig"]
    version = subprocess.run(executable + ["-version"], stdout=subprocess.PIPE)
    if f"SWIG Version {SWIG_VERSION}" not in version.stdout.decode():
        raise BuildError(f"SWIG {SWIG_VERSION} is needed, found: {version.stdout!r}")
    interface = root / "swig" / "pywrap_core.i"
    out = build_dir / "swig"
    out.mkdir(parents=True, exist_ok=True)
    wrapper = out / "pywrap_core_wrap.cc"
    inputs = [Path(__file__), *(root / "swig").glob("*.i"), *(root / "cpp").rglob("*.h")]
    if not wrapper.exists() or wrapper.stat().st_mtime_ns < max(
        path.stat().st_mtime_ns for path in inputs
    ):
        command = executable + ["-python", "-c++", "-builtin", "-doxygen", "-Werror"]
        command += ["-DSWIGWORDSIZE64", "-interface", "_pywrap_core"]
        command += [f"-I{root / 'swig'}", f"-I{root / 'cpp'}"]
        command += ["-outdir", str(out), "-o", str(wrapper), str(interface)]
        print("swig pywrap_core.i", flush=True)
        done = subprocess.run(command, cwd=root)
        if done.returncode:
            wrapper.unlink(missing_ok=True)
            raise BuildError("swig failed: " + shlex.join(command))
    return wrapper, out / "pywrap_core.py"


def find_blas():
    """The OpenBLAS library of the scipy-openblas32 package."""
    try:
        import scipy_openblas32
    except ImportError:
        raise BuildError(
            "the PyPI package scipy-openblas32 is needed: pip install scipy-openblas32"
        ) from None
    return Path(scipy_openblas32.get_lib_dir()) / BLAS


def build_info_flags(compiler):
    """Facts of this build, for cpp/base/build_info.cc alone."""
    scope = {}
    exec((compiler.root / "pkg" / "_version.py").read_text(), scope)
    flags = " ".join(compiler.flags)
    return [
        f'-DPKG_VERSION_STRING="{scope["__version__"]}"',
        f'-DPKG_BUILD_FLAGS="{flags}"',
    ]


def build(root, extension_name, verbose=False):
    """Builds all that is out of date; returns the products by their place in pkg/."""
    compiler = Compiler(root, verbose)
    include = f"-I{root / 'cpp'}"
    python = f"-I{sysconfig.get_paths()['include']}"
    wrapper, shim = run_swig(root, root / "build")

    core_jobs = []
    for source in sorted((root / "cpp").rglob("*.cc")):
        extra = [include]
        if source.name == "build_info.cc":
            extra += build_info_flags(compiler)
        core_jobs.append((source, extra))
    hidden = [include, f"-I{root / 'swig' / 'python'}", python, "-fvisibility=hidden"]
    binding_jobs = [(s, hidden) for s in sorted((root / "swig/python").glob("*.cc"))]
    # SWIG's own code does not meet our warning level.
    binding_jobs.append((wrapper, hidden + ["-w"]))

    objects = compiler.compile(core_jobs + binding_jobs)
    core = compiler.dir / "libpkg_core.so"
    extension = compiler.dir / extension_name
    n_core = len(core_jobs)
    compiler.link(
        objects[:n_core], core, ["-Wl,-soname,libpkg_core.so", "-ldl", "-lpthread"]
    )
    compiler.link(
        objects[n_core:],
        extension,
        [f"-L{compiler.dir}", "-lpkg_core", "-Wl,-rpath,$ORIGIN/lib"],
    )
    print(f"{len(compiler.compiled)} object(s) compiled")
    blas = find_blas()
    return {
        f"lib/{core.name}": core,
        f"lib/{BLAS}": blas,
        extension.name: extension,
        "pywrap_core.py": shim,
    }


def place(products, package):
    """Copies products that changed into a package folder."""
    for name, source in products.items():
        target = package / name
        if target.exists():
            old, new = target.stat(), source.stat()
            if old.st_mtime_ns == new.st_mtime_ns and old.st_size == new.st_size:
                continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # A running process may have the old file mapped: replace it, never write to it.
        temporary = target.with_name(target.name + ".new")
        shutil.copy2(source, temporary)
        os.replace(temporary, target)
