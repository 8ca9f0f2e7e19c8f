# SPDX-License-Identifier: Apache-2.0
"""The command line of the kit: `wrap`, and the steps that wrap.py runs by themselves.

``python -m pkg wrap`` has the same arguments: pkg/cli/ takes them from here.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from .incremental import BuildError, write_depfile
from .wrap import Module, make

__all__ = ["add_arguments", "main", "run"]

STEPS = ("step", "stubs")  # each is a module here, whose main() takes arguments
LEVELS = ("0", "1", "2", "3", "s", "g", "fast")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `wrap`."""
    parser.add_argument("interface", metavar="NAME.i", help="the interface file")
    parser.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="C++ sources, objects, libraries"
    )
    for option, name, text in (
        ("-I", "include_dirs", "folder of headers, for SWIG and the compiler"),
        ("-D", "macros", "NAME or NAME=VALUE, for both"),
        ("-L", "library_dirs", "folder of libraries, also when the module is loaded"),
        ("-l", "libraries", "library to link with"),
    ):
        metavar = {"-D": "NAME", "-l": "LIBRARY"}.get(option, "FOLDER")
        parser.add_argument(
            option, dest=name, action="append", default=[], metavar=metavar, help=text
        )
    parser.add_argument(
        "--out",
        default=".",
        metavar="FOLDER",
        help="for the module and its .pyi (default: the current folder)",
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="for what is made on the way (default: build/NAME below --out)",
    )
    parser.add_argument("--cxx", metavar="COMMAND", help="the compiler, else CXX")
    parser.add_argument(
        "-O", dest="optimize", default="2", choices=LEVELS, help="default: 2"
    )
    parser.add_argument(
        "--swig-option",
        dest="swig_options",
        action="append",
        default=[],
        metavar="OPTION",
        help="one more option for SWIG, as --swig-option=-w315",
    )
    parser.add_argument("-j", "--jobs", type=int, help="commands at a time")
    parser.add_argument(
        "--generate",
        action="store_true",
        help="write NAME_wrap.cc and NAME.pyi only, for a build system that compiles",
    )
    parser.add_argument(
        "--depfile", metavar="FILE", help="with --generate: write what it depends on"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="show each command and why it is run"
    )


def run(args: argparse.Namespace) -> None:
    """Runs `wrap`; BuildError when something failed."""
    module = Module(
        interface=args.interface,
        sources=args.sources,
        include_dirs=args.include_dirs,
        macros=args.macros,
        library_dirs=args.library_dirs,
        libraries=args.libraries,
        swig_options=args.swig_options,
        cxx=args.cxx,
        optimize=args.optimize,
    )
    out = Path(args.out).resolve()
    keep = Path(args.keep).resolve() if args.keep else out / "build" / module.name
    made = make(module, out, keep, args.jobs, args.verbose, args.generate)
    if args.depfile:
        read = module.read(keep)
        write_depfile(Path(args.depfile), made[0], [module.root / p for p in read])
    for path in made:
        print(path)


def parse(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None
) -> argparse.Namespace:
    """As parse_args; sources of `wrap` may stand among options, as with compilers."""
    args, rest = parser.parse_known_args(arguments)
    wrong = [text for text in rest if text.startswith("-") or args.command != "wrap"]
    if wrong:
        parser.error(f"unrecognized arguments: {' '.join(wrong)}")
    if rest:
        args.sources += rest
    return args


def main(arguments: Sequence[str]) -> int:
    """The command line; returns the exit code."""
    if arguments and arguments[0] in STEPS:
        step = importlib.import_module(f".{arguments[0]}", __package__)
        return int(step.main(list(arguments[1:])))
    parser = argparse.ArgumentParser(prog="python -m pkg.swigkit", description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    add_arguments(commands.add_parser("wrap", help="make a Python module of NAME.i"))
    try:
        run(parse(parser, arguments))
    except BuildError as err:
        print(f"pkg.swigkit: error: {err}", file=sys.stderr)
        return 2
    return 0
