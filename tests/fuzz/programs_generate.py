# SPDX-License-Identifier: Apache-2.0
"""Random programs of autograd: one statement at a time, while the program runs.

A statement is a line of Python over `lib`, the names of the prelude, and t0, t1, ...
The generator looks at the tensors that the lines so far have made, so that most lines
fit them; a line that raises stays in the program, since it must raise in both.
"""

import random
import re

from programs_pieces import IN_PLACE, UNARY, Pieces, base_of, of_pair

#: Lines with one of these may end with some gradients stored and others not.
PASSES = (".backward(", "autograd.grad(", "in_threads(")


def is_pass(line):
    """Whether the line runs backward."""
    return any(name in line for name in PASSES)


class Generator(Pieces):
    """Makes the lines."""

    def __init__(self, seed, names, numbers_only=False, watched=True):
        super().__init__(random.Random(seed), names, numbers_only)
        self.watched = watched  # all tensors, after each line
        self.hooks = 0
        # What the program has: hooks that look at .grad as it grows, threads, hooks
        # that change a gradient.
        self.growing = self.threaded = self.scaled = False
        # Writes; or hooks on views, and so no writes from then on.
        self.wrote = self.quiet = False
        # What has given its memory to another tensor that is no view.
        self.lent = set()
        choices = [
            (10, self.unary), (14, self.binary), (6, self.reduction), (16, self.view),
            (14, self.in_place), (4, self.set_item), (3, self.join), (3, self.apart),
            (2, self.flag), (4, self.hook), (2, self.node_hook), (2, self.keep),
            (6, self.backward), (6, self.gradient), (2, self.stored),
            (3, self.function), (1, self.checkpoint), (1, self.threads),
            (1, self.index),
        ]  # fmt: skip
        self.weights = [weight for weight, _ in choices]
        self.makers = [maker for _, maker in choices]

    # --- lines ------------------------------------------------------------------------

    def line(self):
        """The next line, or None when the choice did not fit."""
        if len(self.tensors()) < 2 or self.rng.random() < 0.04:
            return self.leaf()
        maker = self.rng.choices(self.makers, self.weights)[0]
        writes = maker in (self.in_place, self.set_item, self.function, self.apart)
        if writes and self.quiet:
            return None
        line = maker()
        if line and re.match(r"t\d+ = .*\.(detach\(\)|data$)", line):
            self.lent.update(re.findall(r"\bt\d+\b", line))
        self.wrote = self.wrote or (writes and line is not None)
        # Not views: docs/differences.md, "views made under no_grad".  A Function under
        # no_grad returns another tensor than it got.
        plain = maker not in (
            self.view, self.unary, self.apart, self.flag, self.function
        )  # fmt: skip
        if line and plain and not is_pass(line) and self.rng.random() < 0.08:
            line = f"with lib.no_grad(): {line}"
        return line

    def unary(self):
        return f"{self.fresh()} = {self.pick()}.{self.rng.choice(UNARY)}()"

    def binary(self):
        a = self.pick()
        kind = self.rng.randrange(12)
        if kind == 0:
            return f"{self.fresh()} = {a} / ({self.like(a)} * 0.1 + 2)"
        if kind == 1:
            return f"{self.fresh()} = lib.where({a} > 0, {a}, {self.pick()})"
        if kind == 2:
            b = self.pick(lambda t: t.ndim == 2)
            if b is None:
                return None
            return f"{self.fresh()} = {b} @ {b}.t()"
        op = self.rng.choice("+-***")
        return f"{self.fresh()} = {a} {op} {self.like(a)}"

    def reduction(self):
        a = self.pick()
        op = "sum"  # mean is a quotient, which saves the number
        if not self.shape(a) or self.rng.random() < 0.3:
            return f"{self.fresh()} = {a}.{op}()"
        return (
            f"{self.fresh()} = {a}.{op}({self.dim(a)}, "
            f"keepdim={self.rng.random() < 0.5})"
        )

    def view(self):
        a = self.pick()
        text = self.view_of(a)
        return text and f"{self.fresh()} = {a}{text}"

    def view_of(self, a):
        shape, rng = self.shape(a), self.rng
        if not shape:
            return rng.choice([".reshape(1)", ".unsqueeze(0)", ".expand(2)", "[None]"])
        d = rng.randrange(len(shape))
        texts = [f".unsqueeze({d})", f".squeeze({d})", "[:]"]
        texts.append(f".transpose({d}, {self.dim(a)})")
        texts.append(".detach()")
        # Of others one library may give a view and the other a copy: results that are
        # not elementwise are row-major in pkg.
        if self.names[a].is_contiguous():
            texts += [".reshape(-1)", f".view({shape})", ".contiguous()", ".flatten()"]
        if shape[d]:
            at = rng.randrange(shape[d])
            texts += [f".select({d}, {at})", f".narrow({d}, {at}, {shape[d] - at})"]
            texts += [f"[{'...' if rng.random() < 0.3 else ':'}]"]
        if shape[0]:
            i = rng.randrange(shape[0])
            texts += [f"[{i}]", f"[{i}:]", f"[:{i + 1}]", "[::2]", f"[-{i + 1}:]"] * 2
        if len(shape) > 1:
            order = list(range(len(shape)))
            rng.shuffle(order)
            texts += [f".permute({tuple(order)})", ".transpose(0, 1)", "[:, :1]"]
            texts += [".diagonal()"]
        if len(shape) == 2:
            texts += [".t()"] * 2
        if 1 in shape:
            wide = tuple(rng.choice([1, 2, 3]) if s == 1 else s for s in shape)
            texts += [f".expand({wide})", ".squeeze()"] * 2
        if len(shape) < 8:
            texts.append(f".expand({(2, *shape)})")
        return rng.choice(texts)

    def target(self):
        """What an in-place line writes: a tensor or a view made on the way."""
        a = self.pick()
        if self.rng.random() < 0.3:
            view = self.view_of(a)
            if view and "detach" not in view:
                return a + view, a
        return a, a

    def in_place(self):
        target, a = self.target()
        kind = self.rng.randrange(10)
        if kind < 2:
            return f"{target}.{self.rng.choice(IN_PLACE)}()"
        if kind == 2:
            return f"{target}.fill_({self.number()})"
        if kind == 3:
            return f"{target}.masked_fill_({target} > 0, {self.number()})"
        if kind == 4:
            return f"{target}.copy_({self.written(a)} * lib.ones(()))"
        if kind == 5:
            return f"{target}.clamp_(-1, {self.number()})"
        op = self.rng.choice(["add_", "mul_", "mul_", "sub_"])
        other = self.written(a)
        if other == a and target != a:
            other += ".clone()"
        return f"{target}.{op}({other})"

    def set_item(self):
        a = self.pick(lambda t: t.ndim and t.shape[0])
        if a is None:
            return None
        i = self.rng.randrange(self.shape(a)[0])
        where = self.rng.choice([str(i), f"{i}:", f":{i + 1}", "..."])
        value = self.written(a) if self.rng.random() < 0.5 else self.number()
        return f"{a}[{where}] = {value}"

    def index(self):
        a = self.pick(lambda t: t.ndim and t.shape[0])
        if a is None:
            return None
        i = self.rng.randrange(self.shape(a)[0])
        return f"{self.fresh()} = {a}[[{i}, 0, {i}]]"

    def join(self):
        a = self.pick()
        b = self.pick(lambda t: tuple(t.shape) == self.shape(a))
        name = "stack" if not self.shape(a) or self.rng.random() < 0.5 else "cat"
        if len(self.shape(a)) > 7:
            return None
        return f"{self.fresh()} = lib.{name}([{a}, {b}], 0)"

    def apart(self):
        a = self.pick()
        return a and self.rng.choice([
            f"{self.fresh()} = {a}.detach()", f"{self.fresh()} = {a}.data",
            self.cut(), f"{a}.data.mul_({self.number()})",
            f"{a}.detach().add_({self.number()})", self.new_data(),
        ])  # fmt: skip

    def new_data(self):
        # Those that it lent its memory to: docs/differences.md, "x.data = y".
        a = self.pick_alone(lambda t: t.is_leaf and t.requires_grad)
        if a is None or a in self.lent:
            return None
        return f"{a}.data = {a}.data * {self.number()}"

    def cut(self):
        a = self.pick_alone()
        return a and f"{a}.detach_()"

    def flag(self):
        a = self.pick_alone()
        return a and f"{a}.requires_grad_({self.rng.random() < 0.8})"

    def may_hook(self, name):
        """Of views only where nothing is written: a write loses the hook in PyTorch."""
        if base_of(self.names[name]) is None:
            return True
        self.quiet = not self.wrote
        return self.quiet

    def hook_name(self):
        self.hooks += 1
        return f"h{self.hooks}"

    def hook(self):
        # Functions of several results call hooks with None in PyTorch.
        a, h = self.pick(lambda t: t.requires_grad and not of_pair(t)), self.hook_name()
        if a is None or not self.may_hook(a):
            return None
        kind = self.rng.randrange(8)
        if kind == 0 and not self.threaded:
            self.growing = True
            return f"{a}.register_post_accumulate_grad_hook(grown('{h}'))"
        if kind == 1 and self.hooks > 1:
            return f"h{self.rng.randrange(1, self.hooks)}.remove()"
        hook = f"watch('{h}')" if kind < 5 else f"scale('{h}', {self.number()})"
        self.scaled = self.scaled or kind >= 5
        return f"{h} = {a}.register_hook({hook})"

    def node_hook(self):
        a, h = self.pick(lambda t: not t.is_leaf), self.hook_name()
        if a is None or not self.may_hook(a):
            return None
        if self.rng.random() < 0.5:
            return f"{a}.grad_fn.register_hook(after('{h}'))"
        factor = self.rng.choice([0, self.number()])
        return f"{a}.grad_fn.register_prehook(before('{h}', {factor}))"

    def keep(self):
        # It is a hook, and stays behind as one, until somebody looks at the view.
        a = self.pick()
        return f"{a}.retain_grad()" if self.watched or self.may_hook(a) else None

    def root(self):
        """A differentiable tensor, or any: (expression, needs no gradient given)."""
        a = self.pick(lambda t: t.requires_grad) or self.pick()
        if self.rng.random() < 0.85:
            return f"{a}.sum()", ""
        return a, f"leaf({self.shape(a)}, {self.rng.randrange(99)}, False)"

    def options(self):
        text = ""
        if self.rng.random() < 0.6:
            text += ", retain_graph=True"
        if self.rng.random() < 0.25:
            text += ", create_graph=True"
        return text

    def inputs(self, leaves=False):
        """Tensors to differentiate by."""
        found = {
            self.pick(lambda t: t.requires_grad and (t.is_leaf or not leaves))
            for _ in range(2)
        }
        return ", ".join(sorted(found - {None}))

    def backward(self):
        a, seed = self.root()
        options = self.options()
        # Of others PyTorch runs the node as well.
        inputs = self.inputs(leaves=True)
        if inputs and self.rng.random() < 0.15:
            options += f", inputs=[{inputs}]"
        if self.rng.random() < 0.1:
            b, other = self.root()
            seeds = f"[{seed or None}, {other or None}]"
            return f"lib.autograd.backward([{a}, {b}], {seeds}{options})"
        return f"{a}.backward({seed or None}{options})"

    def gradient(self):
        a, seed = self.root()
        # PyTorch ignores what a hook made of the gradient of one that is passed on.
        inputs = self.inputs(leaves=self.scaled)
        if not inputs:
            return None
        options = self.options() + self.rng.choice(
            [
                ", allow_unused=True",
                ", allow_unused=True",
                "",
                ", materialize_grads=True",
            ]
        )
        if "," not in inputs:
            return (
                f"{self.fresh()}, = copies(lib.autograd.grad({a}, {inputs}, "
                f"{seed or None}{options}))"
            )
        return (
            f"{self.fresh()}, {self.fresh()} = copies(lib.autograd.grad({a}, "
            f"[{inputs}], {seed or None}{options}))"
        )

    def stored(self):
        a = self.pick(lambda t: t.is_leaf and t.requires_grad and t.grad is not None)
        if a is None:
            return None
        return self.rng.choice(
            [f"{a}.grad = None", f"{a}.grad.zero_()", f"{self.fresh()} = {a}.grad * 1"]
        )

    def function(self):
        # What mark_dirty does to hooks and .grad is PyTorch's own.
        a = self.pick(lambda t: not t.retains_grad)
        kind = self.rng.randrange(4)
        if a is None:
            return None
        if kind == 3:
            b = self.pick(lambda t: tuple(t.shape) == self.shape(a))
            return f"{self.fresh()}, {self.fresh()} = Pair.apply({a}, {b})"
        name = ["Square", "Bend", "Double"][kind]
        base = base_of(self.names[a])
        base = self.names[a] if base is None else base
        if name == "Double" and base.is_leaf and base.requires_grad:
            return None  # refused, but PyTorch counts a version
        return f"{self.fresh()} = {name}.apply({a})"

    def checkpoint(self):
        a = self.pick()
        return f"{self.fresh()} = checkpoint(lambda x: (x * 2).sin() * x, {a} * 1)"

    def threads(self):
        roots = [self.pick(lambda t: t.requires_grad) for _ in range(3)]
        if None in roots or self.growing:
            return None
        self.threaded = True
        # Made before: whoever looks at a written view first gives it a new history.
        calls = [
            f"lambda r=({r} * 1).sum(): r.backward(retain_graph=True)" for r in roots
        ]
        return f"in_threads({', '.join(calls)})"
