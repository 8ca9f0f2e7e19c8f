# SPDX-License-Identifier: Apache-2.0
"""A fuzzer of autograd: random programs, run with pkg and with PyTorch in float64.

    python tests/fuzz/programs.py --programs 20000 --seed 1

Program number n of a seed is made from (seed, n) alone.  Each is run line by line with
both libraries; they must raise at the same lines and agree in values, gradients, what
hooks saw, versions, is_leaf, requires_grad and whether there is a grad_fn.  A program
that differs is made small and printed, with --source as a file for both libraries.
Programs run in child processes with limits of time and memory, so that a crash or a
hang costs one program.  --alone needs no PyTorch: it looks for crashes, hangs, leaks.
"""

import argparse
import contextlib
import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

#: Programs of one child, bytes of address space, seconds for one program and for the
#: start and the end of a child: milliseconds and seconds, but a machine may be busy.
CHUNK, MEMORY, LIMIT, LIMIT_AROUND = 1000, 16 << 30, 40, 120


def number(seed, n):
    """What program n of this seed is made from."""
    return seed * 10_000_000 + n


def child(options):
    """Runs the programs from --child on; a line of JSON for each difference."""
    import programs_run as run
    import programs_shrink as shrink

    import pkg

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")
    faulthandler.enable()
    place = os.open(options.progress, os.O_WRONLY)
    torch = None
    if not options.alone:
        import torch

        torch.set_num_threads(1)
    for n in range(options.child, options.child + options.programs):
        seed = number(options.seed, n)
        watch = run.watches(n)
        os.pwrite(place, b"%15d torch" % n if torch else b"%15d pkg  " % n, 0)
        lines = run.generate(seed, watch, torch or pkg, numbers_only=options.alone)
        theirs = run.replay(lines, torch, watch) if torch else None
        os.pwrite(place, b"%15d pkg  " % n, 0)
        if torch:
            ours = run.replay(lines, pkg, watch)
            found = run.compare(ours, theirs, lines)
            if found:
                lines, found = shrink.shrink(lines, pkg, torch, watch, found, ours)
        else:
            lines, found = shrink.shrink_leak(lines, pkg, watch)
        if found:
            answer = {"n": n, "difference": found[1], "lines": lines}
            print(json.dumps(answer), flush=True)
    os.pwrite(place, b"%15d done " % n, 0)


def where(progress):
    """Program and library that a child is in."""
    words = Path(progress).read_text().split()
    return (int(words[0]), words[1]) if words else (None, "start")


def run_child(options, first, count, progress):
    """One child: (its answers, the program it stopped in, how it ended)."""
    Path(progress).write_text("")
    command = [sys.executable, str(HERE / "programs.py"), "--seed", str(options.seed),
               "--child", str(first), "--programs", str(count),
               "--progress", progress]  # fmt: skip
    command += ["--alone"] * options.alone
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    last, since, end = None, time.monotonic(), None
    while end is None:
        try:
            end = process.wait(0.2)
        except subprocess.TimeoutExpired:
            at = where(progress)
            limit = LIMIT_AROUND if at[1] in ("start", "done") else LIMIT
            if at != last:
                last, since = at, time.monotonic()
            elif time.monotonic() - since > limit:
                process.send_signal(signal.SIGABRT)  # it says where its threads are
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()
                end = "hang"
    answers = [json.loads(line) for line in process.communicate()[0].splitlines()]
    return answers, where(progress), end


def report(answer, options, out):
    """Prints a difference."""
    import programs_shrink as shrink

    print(
        f"--- seed {options.seed}, program {answer['n']}: {answer['difference']}",
        file=out,
    )
    for line in answer["lines"]:
        print(f"    {line}", file=out)
    if options.source:
        for lib in ("pkg", "torch"):
            path = Path(options.source) / f"program_{answer['n']}_{lib}.py"
            path.write_text(shrink.source(answer["lines"], lib))


def fuzz(options, out=sys.stdout):
    """Runs all programs; the number of differences, crashes and hangs of pkg."""
    first, end, wrong, lost = options.first, options.first + options.programs, 0, 0
    unborn = 0  # children, one after another, that did not come to a program
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        progress = str(Path(folder) / "progress")
        while first < end:
            count = min(CHUNK, end - first)
            answers, (at, library), code = run_child(options, first, count, progress)
            wrong += len(answers)
            for answer in answers:
                report(answer, options, out)
            if code == 0:
                first, unborn = first + count, 0
                continue
            if at is None:  # a machine in need of memory or time, or nothing works
                unborn += 1
                if unborn > 3:
                    raise RuntimeError(f"children end with {code} before a program")
                continue
            first, unborn = at + 1, 0
            if library == "torch":
                lost += 1
                continue
            wrong += 1
            print(f"--- seed {options.seed}, program {at}: {library} ended with {code}",
                  file=out)  # fmt: skip
    seconds = time.monotonic() - began
    print(f"seed {options.seed}: {options.programs} programs in {seconds:.0f} s, "
          f"{wrong} differences; PyTorch crashed in {lost}", file=out)  # fmt: skip
    return wrong


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    parser.add_argument("--source", help="folder for failing programs as files")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    chosen = parse()
    if chosen.child is not None:
        child(chosen)
    else:
        sys.exit(1 if fuzz(chosen) else 0)
