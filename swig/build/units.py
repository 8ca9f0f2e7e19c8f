# SPDX-License-Identifier: Apache-2.0
"""Which sources are compiled together, in one run of the compiler, and which are
optimised less.

What several files of a folder instantiate alike is then made once, which takes a third
off a build from clean.  A file is edited alone: once one of a unit is newer than what
was made of it, and as long as build/ has objects of its files, they are compiled alone.
"""

from __future__ import annotations

from pathlib import Path

from kit.build.incremental import Step

# Not those with loops over elements (kernels, ops/pointwise): they are what takes the
# time there, and are all different.
FOLDERS = [
    *("cpp/autograd", "cpp/base", "cpp/c_api", "cpp/collectives", "cpp/dispatcher"),
    *("cpp/framework", "cpp/graph", "cpp/scheduler", "cpp/tensor", "cpp/ops/create"),
    *("cpp/ops/index", "cpp/ops/linalg", "cpp/ops/nn", "cpp/ops/reduce"),
    "cpp/ops/shape",
    *("swig/python", "swig/python/autograd"),
    *("swig/python/scheduler", "swig/python/tensor"),
]
# The one has flags of its own, which tell it about the build; the other, loops.
APART = {"cpp/base/build_info.cc", "cpp/collectives/reduce.cc"}
# Folders that are optimised less (toolchain.py), which takes two thirds of the time.
# They have no loops over elements, and are not on the way of an op that is called, of
# backward() or of a session's run.
LESS = ("cpp/c_api", "cpp/collectives")
LARGEST = 8  # files of a unit, so that two processors have work until the end


def is_optimised_less(source: Path) -> bool:
    """Whether it is, as its folder is, or a unit of it."""
    return source.parent.as_posix() in LESS and source.as_posix() not in APART


def units_of(sources: list[Path]) -> dict[str, list[Path]]:
    """The units by name, such as "cpp/graph/unit1"; other sources are in none."""
    units = {}
    for folder in FOLDERS:
        files = [s for s in sources if s.parent.as_posix() == folder]
        files = [s for s in files if s.as_posix() not in APART]
        count = -(-len(files) // LARGEST)
        for i in range(count):
            members = files[i * len(files) // count : (i + 1) * len(files) // count]
            if len(members) > 1:
                units[f"{folder}/unit{i + 1}"] = members
    return units


def is_whole(unit: Step, members: list[Step], root: Path) -> bool:
    """Whether to compile the unit, rather than its members each alone."""
    if any(member.output.exists() for member in members):
        return False
    if not unit.output.exists():
        return True
    made = unit.output.stat().st_mtime_ns
    sources = [root / member.inputs[0] for member in members]
    return all(source.stat().st_mtime_ns <= made for source in sources)
