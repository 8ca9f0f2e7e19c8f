# SPDX-License-Identifier: Apache-2.0
"""Makes a failing program of autograd small, and prints it for both libraries."""

from programs_prelude import SOURCE
from programs_run import compare, leaks, replay


def shrink_by(lines, fails):
    """The program without lines that it fails without."""
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(lines))):
            fewer = lines[:i] + lines[i + 1 :]
            if fails(fewer):
                lines, changed = fewer, True
    return lines


def difference_of(lines, ours, theirs, watch):
    """How the libraries differ over the program."""
    runs = replay(lines, ours, watch), replay(lines, theirs, watch)
    if any(isinstance(error, NameError) for error in runs[1].outcomes):
        return None
    return compare(*runs, lines)


def kind(found):
    """What sort of difference it is; the smaller program must have the same."""
    return None if found is None else found[1].split(":")[0].split(" of ")[0]


def shrink(lines, ours, theirs, watch, seen=None, first=None):
    """The smallest program found with a difference of the same kind, and that.

    None where PyTorch's second answer is that of our first run: threads of PyTorch
    lose gradients that are kept by retain_grad().
    """
    found = difference_of(lines, ours, theirs, watch)
    if found is None:
        if first and compare(first, replay(lines, theirs, watch), lines) is None:
            return lines, None
        return lines, (len(lines), f"by chance: not seen again: {seen and seen[1]}")
    lines = lines[: found[0] + 1]
    lines = shrink_by(
        lines, lambda p: kind(difference_of(p, ours, theirs, watch)) == kind(found)
    )
    return lines, difference_of(lines, ours, theirs, watch)


def shrink_leak(lines, pkg, watch):
    """The smallest program found that leaves something behind, and what."""
    if not any(leaks(lines, pkg, watch)):
        return lines, None
    lines = shrink_by(lines, lambda fewer: any(leaks(fewer, pkg, watch)))
    return lines, (len(lines), f"leaks {leaks(lines, pkg, watch)}")


def source(lines, lib):
    """The program as a file of its own."""
    steps = "".join(
        f"try:\n    {line}\nexcept Exception as error:\n"
        f"    print({line!r}, repr(error))\n"
        for line in lines
    )
    show = (
        "for name, value in list(globals().items()):\n"
        "    if name[0] == 't' and name[1:].isdigit() and value is not None:\n"
        "        print(name, numbers(value), value.requires_grad, value._version,\n"
        "              numbers(value.grad) if value.is_leaf else '')\nprint(log)\n"
    )
    return f"import {lib} as lib\n\n{SOURCE}\n{steps}{show}"
