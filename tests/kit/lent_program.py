# SPDX-License-Identifier: Apache-2.0
"""Random programs over cases/lent.h: owners, what lies in them, and what ends it.

    python tests/kit/lent_program.py SEED STEPS

What was ended raises one of ERRORS.  Any other end, or a report of AddressSanitizer
where the module was built for it (soak.py says how), is a fault.  Prints how often what
happened.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import random
import sys
from typing import Any

from kit_modules import BuildError, load

ERRORS = (
    *(ValueError, TypeError, BufferError, RuntimeError),
    *(AttributeError, IndexError, StopIteration, KeyError),
)
PARTS = ("part", "middle", "own", "small", "side", "deleted")
METHODS = ("ref", "pointer", "release", "itself", "get", "this_side")


class Program:
    """One run."""

    def __init__(self, m: Any, seed: int) -> None:
        self.m, self.random = m, random.Random(seed)
        self.owners: list[Any] = []
        self.lent: list[Any] = []
        self.happened: collections.Counter[str] = collections.Counter()
        lent, chance = self.lent, self.random.random

        class DerivedBox(m.Box):
            """Python's own class."""

        class DerivedGuest(m.Guest):
            """Keeps what it is lent."""

            def number(self) -> int:
                return 5

            def see(self, middle: Any) -> None:
                lent.append(middle.part)

            def change(self, middle: Any) -> None:
                lent.append(middle if chance() < 0.5 else middle.part)

        class Both(m.Side, m.Box):
            """Of two bases."""

            def __init__(self) -> None:
                m.Side.__init__(self)
                m.Box.__init__(self)

        self.guest = DerivedGuest
        self.classes = [*[m.Box] * 3, m.Small, m.Open, m.Guest]
        self.classes += [DerivedBox, DerivedGuest, Both]
        self.takers = [
            *(m.take, m.take_plain, m.fail, m.take_guest, m.keep_guest),
            *(lambda o: m.take_more(o, 1), lambda o: m.take_more(o, "x")),
            *(lambda o: m.take_part(o, 1), lambda o: m.take_part(o, "x")),
            *(lambda o: m.take_small(o, 1), lambda o: m.take_small(o, "x")),
            *(lambda o: m.take_open(o, 1), lambda o: m.take_open(o, "x")),
            *(lambda o: m.take_side(o, 1), lambda o: m.take_side(o, "x")),
            lambda o: m.take_several([o, m.Box()], 1),
            lambda o: m.take_several([m.Box(), o, o], 1),
            lambda o: m.take_several([o], "x"),
            lambda o: self.any_of(self.owners).give(o),
            lambda o: self.owners.append(m.pass_on(o)),
        ]

    def any_of(self, *lists: list[Any]) -> Any:
        return self.random.choice([one for each in lists for one in each])

    def make(self) -> None:
        self.owners.append(self.random.choice(self.classes)())

    def look(self) -> None:
        """Gets something of an owner, or of what is lent itself."""
        one = self.any_of(self.owners, self.lent)
        ways = [lambda name=name: getattr(one, name) for name in PARTS]
        ways += [lambda name=name: getattr(one, name)() for name in METHODS]
        ways.append(lambda: one.several[0])
        ways.append(lambda: next(iter(one.by_part())))
        ways.append(lambda: self.m.either(one, self.any_of(self.owners)))
        ways.append(lambda: memoryview(one))
        if not isinstance(one, memoryview):
            ways.append(lambda: iter(one))
        self.lent.append(self.random.choice(ways)())

    def use(self) -> None:
        """Reads memory that may not be there any more."""
        m, one = self.m, self.any_of(self.owners, self.lent)
        if isinstance(one, memoryview):
            assert one[3] == 2
        elif isinstance(one, m.Part):
            one.x += 1
            assert one.text == "p" * 100
        elif isinstance(one, m.Middle):
            assert one.part.text == "p" * 100
        elif isinstance(one, m.Box):
            assert one.part.text == "p" * 100
            assert one.own is None or one.own.text == "p" * 100
        elif isinstance(one, m.Small):
            one.x += 1
            assert one.itself().x == one.x
        elif isinstance(one, m.Open):
            one.name = one  # a ring
            assert one.small.x
        elif isinstance(one, m.Guest):
            assert one.number() in (1, 5)
            assert one.get().text == "p" * 100
        elif hasattr(one, "__next__"):
            self.lent.append(next(one))

    def take(self) -> None:
        self.random.choice(self.takers)(self.any_of(self.owners, self.lent))

    def take_twice(self) -> None:
        """Its own object goes, it gets another one, and that is not taken."""
        m, box = self.m, self.any_of(self.owners)
        ways = [lambda: m.take(box), lambda: m.replace(box), lambda: m.fail(box)]
        ways += [lambda: box.__init__(), lambda: m.take_more(box, "x")]
        for way in self.random.choices(ways, k=4):
            with contextlib.suppress(*ERRORS):
                way()

    def assign(self) -> None:
        """To members that own what they point to."""
        m, box = self.m, self.any_of(self.owners)
        way = self.random.randrange(5)
        if way == 0:
            box.own = self.random.choice([None, m.Part()])
        elif way == 1:
            box.own = self.any_of(self.lent)
        elif way == 2:
            box.deleted = self.random.choice([None, m.Part(), self.any_of(self.lent)])
        elif way == 3:
            box.several = self.random.choice([[], [m.Part(), m.Part()]])
        else:
            box.several = [m.Part(), self.any_of(self.lent), self.any_of(self.lent)]

    def call_back(self) -> None:
        m, lent = self.m, self.lent

        def keep(box: Any) -> None:
            lent.append(self.random.choice([box.part, box, iter(box)]))

        def fails(box: Any) -> None:
            lent.append(box.own)
            raise KeyError("fails")

        self.random.choice(
            [
                lambda: m.lend_box(keep),
                lambda: m.lend_box(fails),
                lambda: m.visit(self.guest()),
                lambda: m.lend(lambda middle: lent.append(middle.part)),
                lambda: m.lend(lent.append),
                lambda: self.any_of(self.owners).__init__(),
                gc.collect,
                m.end_guest,
            ]
        )()

    def drop(self) -> None:
        for some in (self.owners, self.lent):
            if some and self.random.random() < 0.7:
                del some[self.random.randrange(len(some))]

    def run(self, steps: int) -> None:
        weights = {
            self.make: 2, self.look: 6, self.use: 8, self.take: 3, self.take_twice: 1,
            self.assign: 2, self.call_back: 1, self.drop: 4,
        }  # fmt: skip
        for _ in range(steps):
            (step,) = self.random.choices(list(weights), list(weights.values()))
            said = "done"
            try:
                step()
            except ERRORS as error:
                said = type(error).__name__
            self.happened[f"{step.__name__}: {said}"] += 1
            if len(self.lent) > 60:
                self.lent.clear()
            if len(self.owners) > 30:
                self.owners.clear()
        self.m.end_guest()
        self.owners.clear()
        self.lent.clear()
        gc.collect()


def main() -> None:
    seed, steps = map(int, sys.argv[1:])
    module = load("lent", "kit")
    if isinstance(module, BuildError):
        raise module
    program = Program(module, seed)
    program.run(steps)
    print(f"seed {seed}:", *sorted(program.happened.items()))


if __name__ == "__main__":
    main()
