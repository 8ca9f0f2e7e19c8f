# SPDX-License-Identifier: Apache-2.0
"""What a call of a custom op costs: ``python tests/benchmarks/custom_ops.py``.

A library in PyTorch's style (custom_ops.cc) is built and loaded.  Its op does nothing,
so a call of it through the dispatcher, with C++ types and boxed, is compared with the
function called directly; then the same from Python, beside an op that is registered as
the core's are; one that makes its result, as a kernel in TensorFlow's style
(custom_ops_tf.cc) without and with the wrapper that is generated for it, beside one as
the core's; and an op whose kernel is a Python function, beside that function.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from harness import run

import pkg

HERE = Path(__file__).parent


def build(source, style, folder):
    """The library of a file of this folder, for sources in that style."""
    library = Path(folder) / f"{source}.so"
    flags = [*pkg.sysconfig.get_compile_flags(), *pkg.sysconfig.get_link_flags()]
    include = f"-I{pkg.sysconfig.get_compat_include(style)}"
    command = ["g++", "-O2", "-fPIC", "-shared", HERE / f"{source}.cc", "-o", library]
    subprocess.run([*command, include, *flags], check=True)
    return library


def load():
    """The ops of custom_ops.cc, and the module of custom_ops_tf.cc."""
    with tempfile.TemporaryDirectory() as folder:
        pkg.ops.load_library(build("custom_ops", "torch", folder))
        module = pkg.load_op_library(build("custom_ops_tf", "tf1", folder))
    return pkg.ops.custom_ops_benchmark, module


def in_cpp(ops, x):
    """Nanoseconds of a call: direct, typed, boxed; each the best of several rounds."""
    return dict(zip(("direct", "typed", "boxed"), ops.nanoseconds(x, x).tolist()))


def main(table):
    """The calls in C++ as they are, those of Python beside their peers."""
    (ops, module), x = load(), pkg.ones(4)
    times = in_cpp(ops, x)
    for kind, limit in (("typed", 15), ("boxed", 60)):
        above = times[kind] - times["direct"]
        print(
            f"C++, {kind}: {times[kind]:.1f} ns, {above:.1f} ns above a direct call "
            f"({times['direct']:.1f} ns); at most {limit} wanted",
            file=sys.stderr,
        )
    table.compare(
        "an op of a library",
        lambda: ops.keep(x, x, 0.5),
        {"built in": lambda: ops.native(x, x, 0.5)},
    )
    raw = pkg.framework.raw_op("tf::BenchmarkMake")
    table.compare(
        "a kernel in TensorFlow's style",
        lambda: raw(x, x),
        {"built in": lambda: ops.make(x, x, 0.5)},
    )
    table.compare(
        "the same by its generated wrapper",
        lambda: module.benchmark_make(x, x, 0.5),
        {"built in": lambda: ops.make(x, x, 0.5)},
    )
    above = 1e3 * (table.rows[-1]["ours_us"] - table.rows[-1]["peer_us"])
    print(
        f"TensorFlow's style: {above:.0f} ns above a built-in op; at most 100 wanted",
        file=sys.stderr,
    )

    @pkg.library.custom_op("custom_ops_benchmark::python", mutates_args=())
    def python(x: pkg.Tensor) -> pkg.Tensor:
        return x.neg()

    call = pkg.ops.custom_ops_benchmark.python
    table.compare("an op in Python", lambda: call(x), {"function": lambda: x.neg()})


if __name__ == "__main__":
    run(main)
