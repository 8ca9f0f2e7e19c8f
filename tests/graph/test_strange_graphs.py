# SPDX-License-Identifier: Apache-2.0
"""Random programs of nested loops and choices: what a loop in Python over NumPy gives.

Values from outside are used at every depth, variables are read and assigned in parts,
shapes are empty, of seven dimensions or unknown, symbols in the middle are fed, some of
the results are fetched, and gradients of gradients are those of eager calls.
"""

import random

import numpy as np
import pytest

import pkg
import pkg.graph as pg

SHAPES = [(), (0,), (3,), (2, 3), (2, 0), (1, 2, 1, 1, 2, 1, 1), (1,)]
ONE = {
    "neg": (lambda a: -a,) * 2,
    "sin": (np.sin, lambda a: a.sin()),
    "tanh": (np.tanh, lambda a: a.tanh()),
    "square": (lambda a: a * a,) * 2,
    "number": (lambda a: a * 0.5 + 0.25,) * 2,
    "less its sum": (lambda a: a - a.sum() * 0.1,) * 2,
    "relu": (lambda a: np.where(a > 0, a, 0.0), lambda a: a.relu()),
}
TWO = {
    "add": (lambda a, b: a + b,) * 2,
    "mul": (lambda a, b: a * b,) * 2,
    "max": (np.maximum, pkg.maximum),
    "where": (
        lambda a, b: np.where(a > b, a, b * 0.5),
        lambda a, b: pkg.where(a > b, a, b * 0.5),
    ),
}


def steps(rng, shapes, count, variables, depth=0):
    """Statements that add values to those of these shapes, which grow with them."""
    made = []
    for _ in range(count):
        kind, i = rng.random(), rng.randrange(len(shapes))
        alike = [j for j, shape in enumerate(shapes) if shape == shapes[i]]
        if kind < 0.35:
            made.append(("one", rng.choice(list(ONE)), i))
            shapes.append(shapes[i])
        elif kind < 0.55:
            made.append(("two", rng.choice(list(TWO)), i, rng.choice(alike)))
            shapes.append(shapes[i])
        elif kind < 0.7 and depth < 3:
            begin = [i, rng.choice(alike)][: rng.randint(1, 2)]
            inside = shapes + [shapes[i] for i in begin]
            body = steps(rng, inside, rng.randint(1, 4), variables, depth + 1)
            ends = [latest(inside, shapes[i]) for i in begin]
            made.append(("while", rng.randrange(4), begin, body, ends))
            shapes += [shapes[i] for i in begin]
        elif kind < 0.85 and depth < 3:
            parts = []
            for least in (1, 0):
                inside = list(shapes)
                part = steps(rng, inside, rng.randint(least, 3), variables, depth + 1)
                parts.append((part, latest(inside, shapes[i])))
            made.append(("cond", rng.choice(alike), rng.uniform(-1, 1), parts))
            shapes.append(shapes[i])
        elif variables:
            of_it = [j for j, shape in enumerate(shapes) if shape == (3,)]
            read = kind < 0.9 or not of_it
            value = None if read else rng.choice(of_it)
            made.append(("variable", rng.randrange(variables), value))
            shapes.append((3,))
        else:
            made.append(("one", "tanh", i))
            shapes.append(shapes[i])
    return made


def latest(shapes, shape):
    return max(i for i, other in enumerate(shapes) if other == shape)


def with_values(program, values, variables, which, fed=None):
    """Runs it; `which` function of the tables, `fed` values that replace others."""

    def run(part, values, outermost=False):
        for kind, *rest in part:
            if kind == "one":
                values.append(ONE[rest[0]][which](values[rest[1]]))
            elif kind == "two":
                values.append(TWO[rest[0]][which](values[rest[1]], values[rest[2]]))
            elif kind == "while":
                turns, begin, body, ends = rest
                now = [values[i] for i in begin]
                for _ in range(turns):
                    inside = values + now
                    run(body, inside)
                    now = [inside[i] for i in ends]
                values += now
            elif kind == "cond":
                which_part = 0 if float(values[rest[0]].sum()) < rest[1] else 1
                part, end = rest[2][which_part]
                inside = list(values)
                run(part, inside)
                values.append(inside[end])
            else:
                number, value = rest
                if value is not None:
                    variables[number] = variables[number] * 0.5 + values[value]
                values.append(variables[number])
            if outermost and fed and len(values) - 1 in fed:
                values[-1] = fed[len(values) - 1]
        return values

    return run(program, values, True)


def with_symbols(program, symbols, variables):
    """The same as a graph; the second result must run with it."""

    def ended(inside, ends, needed):
        with pg.control_dependencies(needed):
            return [pg.record(pkg.mul, inside[i], 1.0) for i in ends]

    def add(part, symbols, needed):
        for kind, *rest in part:
            if kind == "one":
                symbols.append(ONE[rest[0]][1](symbols[rest[1]]))
            elif kind == "two":
                symbols.append(TWO[rest[0]][1](symbols[rest[1]], symbols[rest[2]]))
            elif kind == "while":
                made = a_loop(symbols, *rest)
                symbols += made[1:]
                needed.append(made[0].op)
            elif kind == "cond":
                symbols.append(a_choice(symbols, *rest))
                needed.append(symbols[-1].op)
            else:
                variable, value = variables[rest[0]], rest[1]
                if value is None:
                    symbols.append(variable * 1.0)
                else:
                    symbols.append(variable.assign(variable * 0.5 + symbols[value]))
                    needed.append(symbols[-1].op)
        return symbols, needed

    def a_loop(symbols, turns, begin, body, ends):
        def turn(i, *now):
            return (i + 1, *ended(*wanted(body, [*symbols, *now], ends)))

        return pg.while_loop(
            lambda i, *_: i < turns, turn, (0, *(symbols[i] for i in begin)),
            [[], *(None for _ in begin)],
        )  # fmt: skip

    def a_choice(symbols, place, limit, parts):
        one, other = (
            lambda p=p, end=end: ended(*wanted(p, list(symbols), [end]))[0]
            for p, end in parts
        )
        return pg.cond(symbols[place].sum() < limit, one, other)

    def wanted(part, inside, ends):
        _, needed = add(part, inside, [])
        return inside, ends, needed

    return add(program, list(symbols), [])


def close(got, want, **about):
    want = np.asarray(want)
    assert tuple(got.shape) == want.shape, about
    np.testing.assert_allclose(
        got.detach().numpy(), want, rtol=1e-7, atol=1e-7, err_msg=str(about)
    )


class Case:
    """A program in a graph, its inputs and variables."""

    def __init__(self, seed, variables):
        rng, self.numbers = random.Random(seed), np.random.default_rng(seed)
        shapes = [rng.choice(SHAPES) for _ in range(rng.randint(1, 4))] + [(3,)]
        self.n_inputs = len(shapes)
        self.inputs = [self.numbers.uniform(-1, 1, shape) for shape in shapes]
        self.begin = [self.numbers.uniform(-1, 1, 3) for _ in range(variables)]
        known = rng.choice(["sizes", "ranks", "nothing"])
        self.placeholders = [
            pg.placeholder(
                pkg.float64,
                {"sizes": shape, "ranks": [None] * len(shape), "nothing": None}[known],
            )
            for shape in shapes
        ]
        self.variables = [pg.Variable(value) for value in self.begin]
        self.program = steps(rng, list(shapes), rng.randint(3, 9), variables)
        self.symbols, self.needed = with_symbols(
            self.program, self.placeholders, self.variables
        )
        self.feeds = dict(zip(self.placeholders, self.inputs))
        self.rng = rng

    def check(self, got, variables, fed=None):
        wanted = with_values(self.program, list(self.inputs), variables, 0, fed)
        for i, (one, other) in enumerate(zip(got, wanted, strict=True)):
            close(one, other, value=i, fed=fed)
        return wanted


@pytest.mark.parametrize("seed", range(25))
def test_variables_in_parts(seed):
    """The second run goes on with what the first has left."""
    with pg.Graph().as_default(), pg.Session() as session:
        case = Case(seed, variables=2)
        session.run(pg.global_variables_initializer())
        now = [value.copy() for value in case.begin]
        for _ in range(2):
            case.check(session.run([case.symbols, case.needed], case.feeds)[0], now)
            for variable, value in zip(case.variables, now):
                close(session.run(variable), value, variable=variable.name)


@pytest.mark.parametrize("seed", range(100, 125))
def test_values_feeds_and_fetches(seed):
    """All, some, and all with another value in the place of one."""
    with pg.Graph().as_default(), pg.Session() as session:
        case = Case(seed, variables=0)
        for _ in range(2):
            wanted = case.check(session.run(case.symbols, case.feeds), [])
        picks = [case.rng.randrange(len(wanted)) for _ in range(2)]
        some = session.run([case.symbols[i] for i in picks], case.feeds)
        for i, got in zip(picks, some):
            close(got, wanted[i], fetched=i)
        place = next(
            i
            for i in range(case.n_inputs, len(wanted))
            if len(case.symbols[i].op.outputs) == 1
        )
        other = case.numbers.uniform(-1, 1, wanted[place].shape)
        feeds = {**case.feeds, case.symbols[place]: other}
        case.check(session.run(case.symbols, feeds), [], {place: other})


@pytest.mark.parametrize("seed", range(200, 220))
def test_gradients_and_theirs(seed):
    with pg.Graph().as_default(), pg.Session() as session:
        case = Case(seed, variables=0)
        leaves = [pkg.tensor(value).requires_grad_() for value in case.inputs]
        eager = with_values(case.program, list(leaves), [], 1)

        def loss(values):
            return values[-1].sum() + (values[len(values) // 2] ** 2).sum()

        wanted = pkg.autograd.grad(
            loss(eager), leaves, create_graph=True, allow_unused=True
        )
        made = pg.gradients(loss(case.symbols), case.placeholders)
        check_gradients(session, case, made, wanted)
        both = [
            (g, w)
            for g, w in zip(made, wanted)
            if g is not None and w is not None and w.requires_grad
        ]
        if both:
            penalty = sum((w * w).sum() for _, w in both)
            wanted = pkg.autograd.grad(penalty, leaves, allow_unused=True)
            made = pg.gradients(sum((g * g).sum() for g, _ in both), case.placeholders)
            check_gradients(session, case, made, wanted)


def check_gradients(session, case, made, wanted):
    got = iter(session.run([g for g in made if g is not None], case.feeds))
    for i, (symbol, want) in enumerate(zip(made, wanted, strict=True)):
        if symbol is None:
            assert want is None or not want.detach().numpy().any(), i
            continue
        want = np.zeros_like(case.inputs[i]) if want is None else want.detach().numpy()
        close(next(got), want, gradient=i)
