# SPDX-License-Identifier: Apache-2.0
"""The command line: arguments and errors.  Each subcommand has its file.

A fault of the user (wrong argument, damaged file, folder or output that cannot be
written) is one line on stderr and exit code 2; a traceback is a fault of ours.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from .._binding import core
from ..swigkit.build import command
from .errors import UserError, reason

__all__ = ["main"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of usage and line."""
        print(f"pkg: error: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


FLAGS = {
    "--cflags": "flags of a source that includes pkg's headers",
    "--ldflags": "flags to link with the core",
    "--includes": "the headers' folder alone, as -I",
    "--ext-suffix": "the suffix of this Python's extension modules",
    "--swig-flags": "the kit's options for SWIG; -interface NAME comes after them",
    "--swig-includes": "the folders of swigkit.i and the kit's headers alone, as -I",
    "--cmake-dir": "the folder of SwigKit.cmake and PkgOps.cmake",
    "--version": "the version of pkg",
}


def _flag(option: str) -> str:
    """What one of FLAGS prints."""
    import sysconfig as python

    from .. import __version__, swigkit, sysconfig

    return {
        "--cflags": " ".join(sysconfig.get_compile_flags()),
        "--ldflags": " ".join(sysconfig.get_link_flags()),
        "--includes": f"-I{sysconfig.get_include()}",
        "--ext-suffix": str(python.get_config_var("EXT_SUFFIX")),
        "--swig-flags": " ".join(swigkit.get_swig_flags()),
        "--swig-includes": " ".join(f"-I{path}" for path in swigkit.get_includes()),
        "--cmake-dir": swigkit.get_cmake_dir(),
        "--version": __version__,
    }[option]


def _compat(name: str) -> str:
    """What --compat-include prints."""
    from .. import sysconfig

    try:
        return sysconfig.get_compat_include(name)
    except ValueError as err:
        raise argparse.ArgumentTypeError(str(err)) from None


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text}")
    return value


def _positive_float(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text}")
    return value


def _hosts(text: str) -> dict[str, int]:
    from ..distributed.launching import parse_hosts

    try:
        return parse_hosts(text)
    except ValueError as err:
        raise argparse.ArgumentTypeError(str(err)) from None


def _seed(text: str) -> int:
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise argparse.ArgumentTypeError(f"expected a 64-bit integer, got {text}")
    return value


_positive.__name__ = _seed.__name__ = (
    "int"  # argparse shows the name: "invalid int value: 'x'"
)
_positive_float.__name__ = "float"


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m pkg",
        description="Handwritten digits on the pkg tensor runtime, facts about it, and "
        "Python modules of C++ libraries.",
    )
    flags = parser.add_argument_group(
        "for compilers", "print what a C++ library or extension needs, in this order"
    )
    for option, text in FLAGS.items():
        flags.add_argument(
            option, dest="flags", action="append_const", const=option, help=text
        )
    flags.add_argument(
        "--compat-include",
        dest="flags",
        action="append",
        type=_compat,
        metavar="NAME",
        help="the folder of headers at the paths of tf1 or torch",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    train = commands.add_parser("train", help="train a network on handwritten digits")
    train.add_argument("--model", choices=["mlp", "cnn"], default="mlp")
    train.add_argument("--epochs", type=_positive, help="passes over the data")
    train.add_argument("--batch-size", type=_positive, default=32)
    train.add_argument("--lr", type=_positive_float, default=3e-3, help="learning rate")
    train.add_argument("--seed", type=_seed, default=0)
    train.add_argument(
        "--out", default=".", metavar="FOLDER", help="for the weights and the curve"
    )
    train.add_argument("--no-plot", action="store_true", help="do not write the curve")

    predict = commands.add_parser("predict", help="draw digits with predictions")
    predict.add_argument("--weights", required=True, metavar="FILE", help="from train")
    predict.add_argument("--count", type=_positive, default=5, help="digits to draw")
    predict.add_argument("--seed", type=_seed, default=0, help="which digits")

    commands.add_parser("info", help="print facts about this build and machine")

    generate = commands.add_parser(
        "gen-ops", help="write the Python wrappers of a library of ops"
    )
    generate.add_argument("library", metavar="LIB.so", help="it is loaded")
    generate.add_argument("-o", "--out", required=True, metavar="FILE.py")
    generate.add_argument("--pyi", action="store_true", help="and FILE.pyi, the types")
    generate.add_argument(
        "--style", choices=["pkg", "tf"], default="pkg",
        help="tf: calls are operations of the graph, as in pkg.compat.v1",
    )  # fmt: skip

    new_op = commands.add_parser(
        "new-op", help="begin an op of your own: source, build, gradient and test"
    )
    new_op.add_argument("name", metavar="NAME", help="such as zero_out")
    new_op.add_argument("--style", choices=["tf", "torch", "pkg"], default="tf")
    new_op.add_argument("--out", default=".", metavar="FOLDER", help="gets NAME/")

    launch = commands.add_parser("launch", help="run a program on many processes")
    launch.add_argument(
        "-np", "--num-proc", dest="np", type=_positive, required=True, metavar="N",
        help="how many",
    )  # fmt: skip
    launch.add_argument(
        "-H", "--hosts", type=_hosts, metavar="HOST:SLOTS,...", help="where"
    )
    launch.add_argument(
        "--grace", type=_positive_float, default=10.0, metavar="SECONDS",
        help="until the others are ended after one has failed",
    )  # fmt: skip
    launch.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="PROGRAM ...", help="and arguments"
    )

    wrap = commands.add_parser("wrap", help="make a Python module of a C++ library")
    command.add_arguments(wrap)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    try:
        _check_environment()
        _run(argv)
        sys.stdout.flush()
    except UserError as err:
        print(f"pkg: error: {err}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("pkg: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `python -m pkg info | head -1`
        _drop_output()
        return 141
    except OSError as err:
        if err.filename is not None:
            raise  # of a file: commands make those a UserError
        _drop_output()
        print(f"pkg: error: cannot write the output: {reason(err)}", file=sys.stderr)
        return 2
    return 0


def _run(argv: Sequence[str] | None) -> None:
    parser = _parser()
    args = command.parse(parser, argv)
    if args.flags and not args.command:
        print(" ".join(_flag(f) if f in FLAGS else f for f in args.flags))
        return
    if args.flags or not args.command:
        parser.error("expected one COMMAND, or flags for compilers")
    module = args.command.replace("-", "_")
    importlib.import_module(f".{module}", __name__).run(args)


def _check_environment() -> None:
    # PKG_NUM_THREADS is read when the pool begins, in whatever call needs it first.
    try:
        core.num_threads()
    except ValueError as err:
        atexit.unregister(core.shutdown)  # without a pool it would say so again
        raise UserError(reason(err)) from err


def _drop_output() -> None:
    # What stands in the buffer would fail once more at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
