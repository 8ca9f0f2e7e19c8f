# SPDX-License-Identifier: Apache-2.0
"""Eight threads use graphs at once: `python tests/graph/soak.py [SECONDS [SEED]]`.

They run, feed, swap weights, assign, time out, cancel, close what runs, and make and
delete sessions, for 60 seconds unless told. Every result must be of one version of the
weights, nothing may hang, stay alive or grow. test_threads.py does it for a moment;
tests/cpp/graph_soak_test.cc is the same in C++, which ThreadSanitizer watches.
"""

from __future__ import annotations

import faulthandler
import gc
import random
import sys
import threading
import time
import traceback
from types import SimpleNamespace

import numpy as np

import pkg
import pkg.graph as pg
from pkg._binding import core
from pkg.graph import errors

THREADS = 8
SIZE = 64
# What a run of a session that another thread closes may raise.
CLOSED = (errors.CancelledError, RuntimeError)


class Model:
    """Weights a, which are v everywhere, and b, which are -v; what is asked of them."""

    def __init__(self) -> None:
        self.graph = pg.Graph()
        with self.graph.as_default():
            self.x = pg.placeholder(pkg.float32, [None], "x")
            self.a = pg.Variable(np.ones(SIZE, "float32"), name="a")
            self.b = pg.Variable(-np.ones(SIZE, "float32"), name="b")
            self.gap = (self.a + self.b).sum() + self.x.sum()
            self.largest = self.a.max()
            total = (self.x * self.x * self.largest).sum()
            (self.slope,) = pg.gradients(total, [self.x])
            self.seen = pg.py_func(lambda v: v + 1, [self.gap], pkg.float32)
            ones = np.ones(SIZE, "float32")
            self.step = pg.group(self.a.assign_add(ones), self.b.assign_sub(ones))
            self.endless = pg.while_loop(
                lambda v: v.sum() < 1e9, lambda v: v * 0.5, [self.a + 0.0]
            )
            self.start = pg.global_variables_initializer()

    def session(self) -> pg.Session:
        """A new one, with weights."""
        made = pg.Session(graph=self.graph)
        made.run(self.start)
        return made


class Soak:
    """One session that all use, until one of them puts another in its place."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.session = model.session()
        self.counts: dict[str, int] = {}

    def read(self, rng: random.Random) -> None:
        """One version, and the answer to this feed."""
        m, n, value = self.model, rng.randrange(1, 5), float(rng.randrange(1, 4))
        fed = np.full(n, value, "float32")
        fetches = {"gap": m.gap, "rest": [m.largest, m.slope]}
        found = self.session.run(fetches, {m.x: fed})
        largest, slope = found["rest"]
        assert found["gap"].item() == n * value, found
        assert slope.tolist() == [2 * value * largest.item()] * n, found

    def call_back(self, rng: random.Random) -> None:
        """A Python function sees the value of the same run."""
        m, value = self.model, float(rng.randrange(1, 4))
        found = self.session.run([m.gap, m.seen], {m.x: [value]})
        assert [t.item() for t in found] == [value, value + 1]

    def swap(self, rng: random.Random) -> None:
        """Other weights, both at once."""
        a = np.full(SIZE, rng.randrange(100), "float32")
        self.session.swap_weights({self.model.a: a, self.model.b: -a})

    def assign(self, rng: random.Random) -> None:
        """Other weights by a run."""
        self.session.run(self.model.step)

    def replace(self, rng: random.Random) -> None:
        """Another session; the old one is closed while others run it."""
        old, self.session = self.session, self.model.session()
        old.close()

    def delete(self, rng: random.Random) -> None:
        """A session that ends with its last reference, without close()."""
        session = self.model.session()
        call = session.make_callable(self.model.gap, [self.model.x])
        del session
        assert call([2.0]).item() == 2

    def time_out(self, rng: random.Random) -> None:
        """A run that has no end."""
        session = self.session
        options = SimpleNamespace(timeout_in_ms=3)
        try:
            session.run(self.model.endless, options=options)
        except errors.DeadlineExceededError:
            return
        raise AssertionError("it ended")

    def close(self, rng: random.Random) -> None:
        """A run without an end, closed by another thread."""
        session = self.model.session()
        timer = threading.Timer(0.002, session.close)
        timer.start()
        try:
            session.run(self.model.endless)
        except CLOSED as error:
            assert "losed" in str(error), error
        timer.join()

    def cancel(self, rng: random.Random) -> None:
        """A run as a task of the scheduler that is cancelled."""
        session = self.model.session()
        work = pkg.scheduler.submit(lambda: session.run(self.model.endless))
        time.sleep(0.001)
        work.cancel()
        error = work.exception(30)
        assert isinstance(error, (pkg.CancelledError, errors.CancelledError)), error

    def wrong(self, rng: random.Random) -> None:
        """A feed that is refused."""
        try:
            self.session.run(self.model.gap, {self.model.x: np.ones((2, 2), "float32")})
        except ValueError:
            return
        raise AssertionError("it was taken")

    def one(self, rng: random.Random) -> None:
        """Something of the above; an error of a session that was closed is none."""
        often = [self.read] * 6 + [self.call_back, self.swap, self.assign] * 2
        rare = [self.replace, self.delete, self.time_out, self.close, self.wrong,
                self.cancel]  # fmt: skip
        act = rng.choice(often + rare)
        try:
            act(rng)
        except CLOSED as error:
            if "losed" not in str(error):
                raise
        self.counts[act.__name__] = self.counts.get(act.__name__, 0) + 1


def one_round(seconds: float, seed: int) -> dict[str, int]:
    """Eight threads for so long, with a graph of theirs; how often each was done."""
    soak, failures = Soak(Model()), []
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        rng = random.Random(seed + number)
        try:
            while time.monotonic() < end and not failures:
                soak.one(rng)
        except BaseException:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    soak.session.close()
    return soak.counts


def alive() -> tuple[int, ...]:
    """Counts of what must not grow."""
    for _ in range(2):
        pkg.synchronize()
        gc.collect()
    return core.live_tensors(), core.live_events(), core.live_nodes()


def resident() -> int:
    """Bytes of memory that the process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def main(seconds: float, seed: int) -> None:
    """Rounds of threads, and what they leave."""
    faulthandler.dump_traceback_later(seconds * 2 + 60, exit=True)
    one_round(min(1.0, seconds), seed)
    before, memory = alive(), 0
    counts: dict[str, int] = {}
    rounds = 4
    for number in range(1, rounds + 1):
        for name, n in one_round(seconds / rounds, seed + 100 * number).items():
            counts[name] = counts.get(name, 0) + n
        end = time.monotonic() + 5  # what threads were about to let go of
        while alive() != before and time.monotonic() < end:
            time.sleep(0.05)
        assert alive() == before, (alive(), before)
        memory = memory or resident()
    grown = (resident() - memory) / 2**20
    assert grown < 32, f"{grown:.1f} MiB more than after the first round"
    assert len(counts) == 10, counts
    shown = ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
    print(f"fine after {seconds:g} s, seed {seed}, {grown:+.1f} MiB: {shown}")


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    main(length, int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
