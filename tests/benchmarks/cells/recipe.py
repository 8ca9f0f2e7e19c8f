# SPDX-License-Identifier: Apache-2.0
"""What a recipe is, and the cells that come of it: sizes x dtypes x layouts x passes.

A cell is text: statements that make its variables and a call of them.  Both libraries
run the same text, in which `T` is the library, `F` its nn.functional, and `arr`, `ints`
make the same tensor in either (world.py).
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("int64", "int32", "uint8")
ALL = (*FLOATS, *INTS, "bool")
NO_BOOL = ALL[:-1]
WIDE = ("float32", "float64", "int64")
SIZES = ("small", "cache", "memory")
LAYOUTS = ("transposed", "stepped", "broadcast")
#: How many sizes are drawn where a recipe lists three, and up to where one is "small".
DRAWN = 6
SMALL, CACHED = 8192, 400_000

#: Letters of shapes: sizes by "/" (small/cache/memory), one number for all.
MATRIX = "R=16/250/2000 C=32/400/2000"
TALL = "R=64/12500/500000 C=8"
FLAT = "R=8 C=64/12500/500000"
SHORT = "R=20/2500/100000 C=40"  # rows that are no whole number of vectors
VECTOR = "N=512/100000/4000000"
IMAGE = "A=8/16/64 B=8/32/100 C=8/200/625"

#: What fills a tensor, by name: text with its dtype and shape.
FILLS = {
    "normal": 'arr("{d}", {s})',
    "positive": '(arr("{d}", {s}).abs() + 1)',
    "unit": 'arr("{d}", {s}).sigmoid()',
    "near": '(arr("{d}", {s}).sigmoid() + 0.5)',
    "signs": '(arr("{d}", {s}).sign())',
    "sorted": 'arr("{d}", {s}).sort()[0]',
    "mask": 'arr("bool", {s})',
    "same": 'arr("{d}", {s})',
}
#: The same for integers (0 to 99 else) and bools, where it differs.
INT_FILLS = {
    "positive": '(arr("{d}", {s}) + 1)',
    "unit": "ints(2, {s}).to(T.{d})",
    "near": "T.ones({s}, dtype=T.{d})",
    "signs": "T.ones({s}, dtype=T.{d})",
}


@dataclass(frozen=True)
class Arg:
    """A tensor: "x:RC", "y:C:positive", "i:RN:C" (indices below C), "m:RC:mask".

    A dtype at the end, "y:RC:normal:int64", is its own whatever the cell's is; a "="
    before the shape, "x:=RC", keeps it dense.
    """

    name: str
    shape: str
    fill: str = "normal"
    dtype: str = ""
    fixed: bool = False

    @staticmethod
    def parse(text: str) -> Arg:
        name, shape, *rest = text.split(":")
        fixed = shape.startswith("=")
        return Arg(name, shape.lstrip("="), *rest, fixed=fixed)

    @property
    def is_index(self) -> bool:
        return self.fill not in FILLS

    def text(self, dtype: str, sizes: dict[str, int], layout: str) -> str:
        """The expression that makes it."""
        shape = [sizes[letter] for letter in self.shape]
        dtype = self.dtype or dtype
        view = ""
        if layout == "transposed":
            shape[-1], shape[-2] = shape[-2], shape[-1]
            view = ".transpose(-1, -2)"
        elif layout == "stepped":
            shape[-1] *= 2
            view = "[..., ::2]"
        elif layout == "broadcast":
            view = f".expand({', '.join(map(str, shape))})"
            shape[0] = 1
        elif layout == "row":
            shape = shape[1:]
        elif layout == "column":
            shape[-1] = 1
        size = ", ".join(map(str, shape))
        if not size:
            size = "*()"
        if self.is_index:
            high = sizes.get(self.fill) or int(self.fill)
            made = f"ints({high}, {size})"
            if self.dtype or self.fill.isdigit():
                made += f".to(T.{dtype})"
            return made + view
        fills = FILLS if dtype in FLOATS else FILLS | INT_FILLS
        return fills[self.fill].format(d=dtype, s=size) + view


@dataclass(frozen=True)
class Recipe:
    """Calls of a group of ops that take the same arguments."""

    family: str
    ops: tuple[str, ...]
    calls: tuple[str, ...]
    args: tuple[Arg, ...] = ()
    dims: tuple[str, ...] = (MATRIX,)
    dtypes: tuple[str, ...] = FLOATS
    #: Variables whose gradients are asked for in the second pass.
    grads: tuple[str, ...] = ()
    #: PyTorch's spelling, where it is another one; NumPy's.
    torch: str = ""
    numpy: str = ""
    #: Statements after those that make the tensors.
    setup: str = ""
    layouts: tuple[str, ...] = LAYOUTS
    #: Also operands of one row and one column, which the op broadcasts.
    broadcasts: bool = False
    #: What results are compared: all, or (for random numbers) shapes alone.
    values: bool = True
    #: Of sums that cancel: PyTorch's text for the sum of the sizes of their terms, to
    #: which rounding is compared.
    terms: str = ""
    #: Whether the first tensor is written to: it must not be broadcast.
    writes: bool = False


def recipe(
    family: str, ops: str, calls: str | tuple[str, ...], args: str = "", **more: object
) -> Recipe:
    """A recipe from short texts; a first op written "index_add.x" is an overload."""
    made = tuple(Arg.parse(text) for text in args.split())
    calls = (calls,) if isinstance(calls, str) else calls
    for key in ("dims", "grads"):
        if isinstance(more.get(key), str):
            more[key] = (more[key],) if key == "dims" else tuple(more[key].split())
    return Recipe(family, tuple(ops.split()), calls, made, **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Cell:
    """One thing to time: text for both libraries, and the words of its name."""

    op: str
    family: str
    call: str
    setup: str
    torch_call: str
    numpy_call: str
    form: str
    size: str
    dtype: str
    layout: str
    way: str
    threads: int
    values: bool = True
    variables: tuple[str, ...] = field(default=(), repr=False)
    terms: str = ""

    @property
    def name(self) -> str:
        """What --only finds it by."""
        words = (self.shown, self.form, self.dtype, self.layout, self.way)
        return " | ".join((*words, f"{self.threads}t"))

    @property
    def shown(self) -> str:
        """The call, in short."""
        return self.call.replace("T.autograd.grad", "grad")

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What decides whether both libraries take the call."""
        return (self.call, self.dtype, self.layout, self.way)


def sizes_of(dims: str) -> dict[str, dict[str, int]]:
    """The numbers of the letters for each size; one size where nothing changes."""
    letters = dict(part.split("=") for part in dims.split())
    values = {k: [int(n) for n in v.split("/")] for k, v in letters.items()}
    count = max((len(v) for v in values.values()), default=1)
    names = SIZES if count == 3 else ("cache",) if count == 1 else SIZES[:count]
    return {
        name: {k: v[min(i, len(v) - 1)] for k, v in values.items()}
        for i, name in enumerate(names)
    }


def drawn_sizes(dims: str, rng: random.Random) -> Iterator[tuple[str, dict[str, int]]]:
    """Sizes between the smallest and the largest of the recipe, each as likely in its
    logarithm; of R rows and C columns it is their product that lies between."""
    listed = list(sizes_of(dims).values())
    low, high = listed[0], listed[-1]
    free = [letter for letter in low if low[letter] != high[letter]]

    def between(least: int, most: int) -> int:
        return round(math.exp(rng.uniform(math.log(least), math.log(most))))

    for _ in range(DRAWN):
        sizes = {k: between(low[k], high[k]) if k in free else low[k] for k in low}
        if free == ["R", "C"]:
            total = between(low["R"] * low["C"] // 4, high["R"] * high["C"])
            sizes["C"] = between(1, total)
            sizes["R"] = total // sizes["C"]
        cells = math.prod(sizes.values())
        kind = SIZES[(cells > SMALL) + (cells > CACHED)]
        yield kind, sizes


def layouts_of(made: Recipe) -> Iterator[tuple[str, dict[str, str]]]:
    """Which tensor lies how: all dense, then one of them otherwise."""
    yield "dense", {}
    for place, arg in enumerate(made.args):
        if arg.fixed:
            continue
        options = list(made.layouts)
        if len(arg.shape) < 2:
            options = [o for o in options if o == "stepped" and arg.shape]
        if (made.writes and place == 0) or (made.broadcasts and place > 0):
            options = [o for o in options if o != "broadcast"]
        if made.broadcasts and place > 0 and len(arg.shape) == 2:
            options += ["row", "column"]
        for option in options:
            yield f"{arg.name} {option}", {arg.name: option}


def shown_sizes(made: Recipe, sizes: dict[str, int]) -> str:
    """The shapes of the tensors in a cell's name."""
    if not made.args:
        return " ".join(f"{k}={v}" for k, v in sizes.items())
    shapes = []
    for arg in made.args:
        shape = "x".join(str(sizes[letter]) for letter in arg.shape) or "0-d"
        shapes.append(" ".join(filter(None, (arg.name, shape, arg.dtype))))
    return ", ".join(shapes)


def used_by(made: Recipe, call: str) -> Recipe:
    """The recipe with the tensors only that one of its calls takes."""
    found = set(re.findall(r"\w+", call + made.setup))
    args = tuple(arg for arg in made.args if arg.name in found)
    grads = tuple(name for name in made.grads if name in found)
    return replace(made, args=args, grads=grads)


def cells_of(
    whole: Recipe, op: str, threads: tuple[int, ...], seed: str = ""
) -> Iterator[Cell]:
    """Every cell of one op of a recipe; with a seed, of sizes drawn by it."""
    function = op.split(".")[0]
    for call in whole.calls:
        made = used_by(whole, call)
        for dims in made.dims:
            varied = list(sizes_of(dims).items())
            if seed and len(varied) > 1:
                rng = random.Random(f"{seed} {op} {call} {dims}")
                varied = drawn_sizes(dims, rng)
            for size, sizes in varied:
                words = {"op": function, "base": function.rstrip("_"), **sizes}
                for dtype in made.dtypes:
                    for layout, chosen in layouts_of(made):
                        yield from _passes(
                            made, op, call, words, size, sizes, dtype, layout, chosen,
                            threads,
                        )  # fmt: skip


def _passes(made, op, call, words, size, sizes, dtype, layout, chosen, threads):
    """Forward, and forward and backward, for each number of threads."""
    from .numpys import numpy_call

    words = {**words, "d": dtype}
    lines = [
        f"{arg.name} = {arg.text(dtype, sizes, chosen.get(arg.name, ''))}"
        for arg in made.args
    ]
    if made.setup:
        lines.append(made.setup.format(**words))
    filled = call.format(**words)
    theirs = made.torch.format(**words) if made.torch else filled
    peer = numpy_call(made, words) if dtype not in ("bfloat16", "bool") else ""
    common = (shown_sizes(made, sizes), size, dtype, layout)
    names = tuple(arg.name for arg in made.args)
    for count in threads:
        yield Cell(op, made.family, filled, "; ".join(lines), theirs,
                   peer if count == 1 else "", *common, "forward", count, made.values,
                   names, made.terms)  # fmt: skip
    if not made.grads or dtype not in FLOATS:
        return
    leaves = "; ".join(f"{name} = {name}.requires_grad_()" for name in made.grads)
    wrt = ", ".join(made.grads)
    either = filled if theirs == filled else f"({filled} if ours else {theirs})"
    # The same in both libraries, and not all the same number: what goes back through a
    # normalization would cancel.
    lines += [leaves, f"o = ({either}).detach()"]
    lines += ["g = T.arange(o.numel()) % 101 / 128 + 0.5"]
    lines += ["g = g.reshape(o.shape).to(o.dtype)"]
    for count in threads:
        yield Cell(op, made.family, f"T.autograd.grad({filled}, [{wrt}], g)",
                   "; ".join(lines), f"T.autograd.grad({theirs}, [{wrt}], g)", "",
                   *common, "forward and backward", count, made.values,
                   names)  # fmt: skip
