# SPDX-License-Identifier: Apache-2.0
"""Runs the C++ tests, and every call of the binding, under the sanitizers.

    python tests/sanitizers.py [address] [thread] [NAME]
    python tests/sanitizers.py binding [CALLS] [NAME...]
    python tests/sanitizers.py fuzz [OPTIONS of tests/fuzz/ops.py]

`address` is AddressSanitizer, with leaks, and UndefinedBehaviorSanitizer; `thread` is
ThreadSanitizer.  Builds the core for each in its own folder below build/ (incremental;
from clean about two minutes each on two cores), compiles every tests/cpp/*_test.c and
*_test.cc against it and runs it; `address` also runs the scenarios of the clients of
the C surface in tests/c_api, named c_api_ctypes_client and c_api_ctypes_graphs.  A
further argument that is part of a name picks tests, as in
`python tests/sanitizers.py thread scheduler`.
PKG_SOAK_SECONDS=60 lets the threads of graph_soak_test go on for a minute,
PKG_SOAK_LOADS=1000 those of loading_threads_test load as many libraries.

`binding` is AddressSanitizer and UndefinedBehaviorSanitizer under Python:
tests/leaks.py makes CALLS (default 100000) calls of each kind, each byte of them
counted.  `fuzz` is the same two under tests/fuzz/ops.py, default 100,000 calls.

Not part of pytest: from clean it takes about four minutes, `binding` half an hour.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CPP_TESTS = ROOT / "tests" / "cpp"
sys.path[:0] = [str(ROOT / "swig" / "build"), str(ROOT / "swig")]

from toolchain import Config  # noqa: E402

MODES = {"address": "address,undefined", "thread": "thread"}
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1",
    # The chains of free blocks go through memory that the allocator has poisoned.
    "LSAN_OPTIONS": "use_poisoned=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1:history_size=4",
}
# OpenBLAS is not compiled with the thread sanitizer, which then sees races in it.
NO_THREAD = ("autograd_test", "steady_step_test")
# fork() holds all locks; those of a thread that ThreadSanitizer orders are 64 at most.
# It makes a fork() of the probe's vfork().
FORKS = ("scheduler_life_test", "loading_threads_test")
CLIENTS = ("ctypes_client", "ctypes_graphs")  # in tests/c_api
TIME_LIMIT = 600  # seconds for one program; they take a few


def configure(sanitizers: str) -> None:
    """Sets what the build reads."""
    os.environ["PKG_SANITIZE"] = sanitizers
    # The checks lead the compiler to warnings that are wrong; the release build has
    # none.
    os.environ["PKG_WERROR"] = "0"


def build_core(sanitizers: str) -> Config:
    """Brings the core of this configuration up to date."""
    configure(sanitizers)
    config = Config.from_environment(ROOT)
    place = ROOT / "build" / config.name / "unused"  # where setuptools wants copies
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--core-only"]
        + ["--build-lib", str(place)],
        cwd=ROOT,
        check=True,
    )
    return config


def build_package(sanitizers: str) -> Path:
    """The whole package of this configuration; the folder to import it from."""
    configure(sanitizers)
    folder = ROOT / "build" / Config.from_environment(ROOT).name / "python"
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-lib", str(folder)],
        cwd=ROOT,
        check=True,
    )
    return folder


def environment_of_python() -> dict[str, str]:
    """For an interpreter that loads what is compiled for AddressSanitizer."""
    # It is not compiled for it itself: the sanitizer must be there first, and with it
    # the library whose functions for exceptions it replaces.
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    return {
        **OPTIONS,
        **os.environ,
        # What Python keeps for ever is no leak: what grows is, and the programs count.
        "ASAN_OPTIONS": "detect_leaks=0",
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
    }


def check_binding(arguments: list[str]) -> bool:
    """Whether tests/leaks.py passes without a report."""
    print(f"{MODES['address']}: building the package", flush=True)
    folder = build_package(MODES["address"])
    environment = {**environment_of_python(), "PYTHONPATH": str(folder)}
    if not any(argument.isdigit() for argument in arguments):
        arguments = ["100000", *arguments]
    command = [sys.executable, str(ROOT / "tests" / "leaks.py"), *arguments]
    return subprocess.run(command, cwd=folder, env=environment).returncode == 0


def check_fuzz(arguments: list[str]) -> bool:
    """Whether tests/fuzz/ops.py finds nothing, and no sanitizer either."""
    print(f"{MODES['address']}: building the package", flush=True)
    folder = build_package(MODES["address"])
    environment = {**environment_of_python(), "PYTHONPATH": str(folder)}
    # A report ends the child, which names the call; large allocations fail.
    environment["ASAN_OPTIONS"] += (
        ":allocator_may_return_null=1:max_allocation_size_mb=1024"
    )
    environment["UBSAN_OPTIONS"] += ":halt_on_error=1"
    command = [sys.executable, str(ROOT / "tests" / "fuzz" / "ops.py"), "--no-torch"]
    command += ["--calls", "100000", "--time-limit", "60", *arguments]
    return subprocess.run(command, cwd=folder, env=environment).returncode == 0


def compile_test(config: Config, source: Path) -> Path:
    """The program of one test file."""
    folder = ROOT / "build" / config.name
    program = folder / "tests" / source.stem
    program.parent.mkdir(exist_ok=True)
    compiler, flags = config.cxx, config.compile_flags
    if source.suffix == ".c":
        compiler = ["gcc", "-std=c11"]
        flags = [flag for flag in flags if not flag.startswith("-std=")]
    core = [f"-L{folder / 'lib'}", "-lpkg_core", f"-Wl,-rpath,{folder / 'lib'}"]
    builds = [(source, program, ["-lm"])]
    loaded = source.with_name(f"{source.stem}_library.cc")
    if loaded.exists():
        builds.append((loaded, program.with_name(f"{loaded.stem}.so"), ["-shared"]))
    for one, output, options in builds:
        command = [*compiler, *flags, "-Icpp", f"-I{CPP_TESTS}", str(one)]
        command += ["-o", str(output), *config.link_flags, *options, *core]
        subprocess.run(command, cwd=ROOT, check=True)
    return program


def run_test(program: Path) -> bool:
    """Whether a test program passes without a report."""
    environment = {**OPTIONS, **os.environ}
    if program.name in FORKS:
        environment["TSAN_OPTIONS"] += ":detect_deadlocks=0"
    return run_command(program.name, [str(program)], environment)


def run_ctypes_client(config: Config, name: str) -> bool:
    """The same for the scenarios of a client of the C surface in Python."""
    client = ROOT / "tests" / "c_api" / f"{name}.py"
    library = ROOT / "build" / config.name / "lib" / "libpkg_core.so"
    if str(client.parent) not in sys.path:
        sys.path.insert(0, str(client.parent))
    names = [scenario.__name__ for scenario in import_module(name).SCENARIOS]
    command = [sys.executable, str(client), str(library)]
    environment = environment_of_python()
    return all(
        [run_command(f"c_api_{name} {n}", [*command, n], environment) for n in names]
    )


def run_command(name: str, command: list[str], environment: dict[str, str]) -> bool:
    """Whether it passes; prints its output when it does not."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIME_LIMIT,
        )
        passed, output = done.returncode == 0, done.stdout
    except subprocess.TimeoutExpired as err:
        passed, output = False, (err.stdout or b"") + b"\n(time limit)"
    seconds = time.monotonic() - began
    print(f"  {'ok  ' if passed else 'FAIL'} {name} ({seconds:.1f} s)", flush=True)
    if not passed:
        print(output.decode(errors="replace"), flush=True)
    return passed


def main(args: list[str]) -> int:
    """Exit status: 0 when everything is clean."""
    if args[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if args[:1] in (["binding"], ["fuzz"]):
        check = check_binding if args[0] == "binding" else check_fuzz
        passed = check(args[1:])
        print("clean" if passed else "not clean")
        return 0 if passed else 1
    modes = [m for m in MODES if m in args] or list(MODES)
    names = [a for a in args if a not in MODES]
    passed = True
    for mode in modes:
        print(f"{MODES[mode]}: building", flush=True)
        config = build_core(MODES[mode])
        sources = [
            source
            for source in sorted(CPP_TESTS.glob("*_test.c*"))
            if all(name in source.stem for name in names)
            and not (mode == "thread" and source.stem in NO_THREAD)
        ]
        clients = [
            client
            for client in CLIENTS
            if mode == "address" and all(name in f"c_api_{client}" for name in names)
        ]
        if not sources and not clients:
            print(f"no test file's name contains {' and '.join(names)}")
            return 2
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            programs = list(pool.map(partial(compile_test, config), sources))
        # One after another: the tests of the scheduler measure times.
        passed &= all([run_test(program) for program in programs])
        passed &= all([run_ctypes_client(config, client) for client in clients])
    print("clean" if passed else "not clean")
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
