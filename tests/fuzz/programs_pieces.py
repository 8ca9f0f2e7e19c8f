# SPDX-License-Identifier: Apache-2.0
"""What the lines of a random program are made of: names, shapes and operands."""

SHAPES = [
    (), (1,), (2,), (3,), (4,), (2, 3), (3, 2), (2, 1), (1, 3), (2, 2), (0,), (2, 0),
    (0, 3), (2, 2, 2), (1, 2, 3), (2, 1, 2, 1), (1, 2, 1, 2, 1), (2, 1, 1, 1, 1, 2, 1),
    (1, 1, 2, 1, 1, 2, 1, 1), (1, 2, 1, 1, 1, 1, 2, 1, 1),
]  # fmt: skip
UNARY = [
    "sin", "cos", "tanh", "sigmoid", "neg", "relu", "abs", "square", "exp", "clone",
    "erf",
]  # fmt: skip
IN_PLACE = ["sin_", "tanh_", "sigmoid_", "neg_", "relu_", "exp_", "zero_", "square_"]


def base_of(tensor):
    """What a view shows."""
    return getattr(tensor, "_base", None)


def of_pair(tensor):
    """Whether a Function of several results made it."""
    return tensor.grad_fn is not None and "Pair" in tensor.grad_fn.name()


def broadcast(a, b):
    """Whether the two shapes broadcast."""
    return all(x == y or 1 in (x, y) for x, y in zip(a[::-1], b[::-1]))


class Pieces:
    """Picks among the tensors of a run: `names` are those of the program so far."""

    def __init__(self, rng, names, numbers_only):
        # Whether in-place lines write numbers only: y.add_(y * a) makes a cycle of y
        # and the node that saved it, which lives on, as in PyTorch.
        self.numbers_only = numbers_only
        self.rng = rng
        self.names = names
        self.count = 0

    def fresh(self):
        """A name not used before."""
        self.count += 1
        return f"t{self.count - 1}"

    def tensors(self):
        """Names of the tensors there are."""
        return [n for n in self.names if n[0] == "t" and n[1:].isdigit()
                and self.names[n] is not None]  # fmt: skip

    def pick(self, test=lambda t: True):
        """A tensor that passes, late ones more often; None where there is none."""
        found = [n for n in self.tensors() if test(self.names[n])]
        if not found:
            return None
        at = max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))
        return found[at]

    def pick_alone(self, test=lambda t: True):
        """A tensor that is no view and has none: docs/differences.md, "views"."""
        bases = [base_of(self.names[n]) for n in self.tensors()]
        return self.pick(
            lambda t: base_of(t) is None and not any(t is b for b in bases) and test(t)
        )

    def shape(self, name):
        return tuple(self.names[name].shape)

    def number(self):
        return round(self.rng.uniform(-1.5, 1.5), 2)

    def like(self, name):
        """Another operand for this tensor: a tensor that broadcasts, or a number."""
        shape = self.shape(name)
        other = self.pick(lambda t: broadcast(tuple(t.shape), shape))
        return other if other and self.rng.random() < 0.8 else str(self.number())

    def written(self, name):
        """What may be written to this tensor."""
        other = self.like(name)
        if other[0] == "t" and (self.numbers_only or self.clashes(name, other)):
            return str(self.number()) if self.numbers_only else f"{other}.clone()"
        return other

    def clashes(self, name, other):
        """Whether they share memory, whose order of reads and writes is left open."""
        if name == other:
            return False
        a, b = self.names[name], self.names[other]
        roots = [t if base_of(t) is None else base_of(t) for t in (a, b)]
        # detach() has no base.
        return roots[0] is roots[1] or roots[0].data_ptr() == roots[1].data_ptr()

    def dim(self, name):
        return self.rng.randrange(-len(self.shape(name)), len(self.shape(name)))

    def leaf(self):
        shape = self.rng.choice(SHAPES)
        if self.tensors() and self.rng.random() < 0.5:
            shape = self.shape(self.pick())
        seed, grad = self.rng.randrange(1000), self.rng.random() < 0.75
        return f"{self.fresh()} = leaf({shape}, {seed}, {grad})"
