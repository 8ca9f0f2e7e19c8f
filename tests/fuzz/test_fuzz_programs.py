# SPDX-License-Identifier: Apache-2.0
"""Random programs of autograd (tests/fuzz/programs.py), a fixed few of them.

The command of that file runs as many as one likes.
"""

import io

import pytest

import programs  # noqa: E402


def run(*arguments):
    """What a short run finds, as text; empty when nothing differs."""
    out = io.StringIO()
    options = programs.parse(arguments)
    found = programs.fuzz(options, out)
    return out.getvalue() if found else ""


@pytest.mark.parametrize("seed", ["1", "2"])
def test_programs_leave_nothing_behind(seed):
    """No crash, no hang, no tensor or node that lives on.  Needs no PyTorch."""
    assert run("--programs", "300", "--seed", seed, "--alone") == ""


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_programs_do_what_they_do_in_pytorch(seed):
    """Errors, values, gradients, hooks, versions and flags."""
    pytest.importorskip("torch")
    assert run("--programs", "1000", "--seed", seed) == ""


def test_a_difference_is_found_and_made_small():
    """The fuzzer sees what it looks for."""
    torch = pytest.importorskip("torch")
    import programs_run
    import programs_shrink

    class Odd:
        """pkg, but tanh is something else."""

        __name__ = "odd"

        def __getattr__(self, name):
            return getattr(__import__("pkg"), name)

        @staticmethod
        def tanh(x):
            return x.tanh() * 1.5

    lines = ["t0 = leaf((2,), 3, True)", "t1 = t0 * 2", "t2 = lib.tanh(t0)",
             "t3 = t1 + t2", "t3.sum().backward()"]  # fmt: skip
    small, found = programs_shrink.shrink(lines, Odd(), torch, False)
    assert small == [lines[0], lines[2]] and found[1].startswith("values of t2")
    for lib in ("pkg", "torch"):
        compile(programs_shrink.source(small, lib), lib, "exec")
    ours = programs_run.replay(lines, __import__("pkg"), True)
    theirs = programs_run.replay(lines, torch, True)
    assert programs_run.compare(ours, theirs, lines) is None
