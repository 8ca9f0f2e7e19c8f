# SPDX-License-Identifier: Apache-2.0
"""Recipes: creation, random numbers, and what goes through Python."""

from .recipe import ALL, FLOATS, NO_BOOL, VECTOR, recipe

NEW = "creation"
RANDOM = "random"
PYTHON = "python"
SAME = {"values": False}
LAYERS = "N=1/8/20 R=16/100/512 C=32/100/512"
PARAMS = ("p = [arr('float32', {R}, {C}).requires_grad_() for _ in range({N})]; "
          "_ = [setattr(q, 'grad', arr('float32', {R}, {C})) for q in p]; "
          "o = T.optim.{op}(p, {how})")  # fmt: skip
MADE = "dtype=T.{d}"
TEXT = ("float32",)


def _optimizer(op: str, how: str, ops: str) -> object:
    """A step of an optimizer over several parameters."""
    setup = PARAMS.replace("{op}", op).replace("{how}", how)
    return recipe("optimizers", ops, "o.step()", dims=LAYERS, dtypes=TEXT, setup=setup)


RECIPES = [
    # NumPy's zeros() touches no memory: the first use pays.
    recipe(NEW, "zeros", f"T.zeros(({{R}}, {{C}}), {MADE})", dtypes=ALL),
    recipe(NEW, "ones", f"T.ones(({{R}}, {{C}}), {MADE})", dtypes=ALL,
           numpy="np.ones(({R}, {C}), '{d}')"),
    recipe(NEW, "empty", f"T.empty(({{R}}, {{C}}), {MADE})", dtypes=TEXT, **SAME),
    recipe(NEW, "full", f"T.full(({{R}}, {{C}}), 1, {MADE})", dtypes=ALL,
           numpy="np.full(({R}, {C}), 1, '{d}')"),
    recipe(NEW, "zeros_like", "T.zeros_like(x)", "x:RC", dtypes=ALL),
    recipe(NEW, "ones_like", "T.ones_like(x)", "x:RC", dtypes=ALL,
           numpy="np.ones_like(x)"),
    recipe(NEW, "empty_like", "T.empty_like(x)", "x:RC", dtypes=TEXT, **SAME),
    recipe(NEW, "full_like", "T.full_like(x, 1)", "x:RC", dtypes=ALL,
           numpy="np.full_like(x, 1)"),
    recipe(NEW, "new_zeros new_ones", "x.{op}(({R}, {C}))", "x:RC", dtypes=ALL),
    recipe(NEW, "new_empty", "x.new_empty(({R}, {C}))", "x:RC", dtypes=TEXT, **SAME),
    recipe(NEW, "new_full", "x.new_full(({R}, {C}), 1)", "x:RC", dtypes=ALL),
    recipe(NEW, "arange", f"T.arange({{N}}, {MADE})", dims="N=100/10000/4000000",
           dtypes=("float32", "float64", "int64", "int32"),
           numpy="np.arange({N}, dtype='{d}')"),
    recipe(NEW, "arange.start", f"T.arange(1, {{N}}, 3, {MADE})",
           dims="N=1000/100000/4000000", dtypes=("float32", "float64", "int64",
           "int32")),
    recipe(NEW, "linspace logspace", f"T.{{op}}(0, 1, {{N}}, {MADE})", dims=VECTOR,
           dtypes=FLOATS[:2], numpy="np.{np}(0, 1, {N}, dtype='{d}')"),
    recipe(NEW, "eye", f"T.eye({{R}}, {MADE})", dims="R=20/300/2000", dtypes=ALL,
           numpy="np.eye({R}, dtype='{d}')"),
    recipe(NEW, "eye", f"T.eye({{R}}, {{C}}, {MADE})", dtypes=FLOATS[:1]),
    recipe(RANDOM, "rand randn", f"T.{{op}}(({{R}}, {{C}}), {MADE})", dtypes=FLOATS,
           **SAME),
    recipe(RANDOM, "rand_like randn_like", "T.{op}(x)", "x:RC", **SAME),
    recipe(RANDOM, "randint", f"T.randint(3, 100, ({{R}}, {{C}}), {MADE})",
           dtypes=(*NO_BOOL,), **SAME),
    recipe(RANDOM, "randint.high", f"T.randint(100, ({{R}}, {{C}}), {MADE})",
           dtypes=("int64",), **SAME),
    recipe(RANDOM, "randint_like", "T.randint_like(x, 3, 100)", "x:RC", dtypes=NO_BOOL,
           **SAME),
    recipe(RANDOM, "randint_like.high", "T.randint_like(x, 100)", "x:RC",
           dtypes=NO_BOOL,
           **SAME),
    recipe(RANDOM, "randperm", "T.randperm({N})", dims=VECTOR, dtypes=("int64",),
           **SAME),
    recipe(RANDOM, "uniform_ normal_", "x.{op}()", "x:RC", writes=True,
           layouts=("transposed", "stepped"), **SAME),
    recipe(RANDOM, "dropout", "F.dropout(x, 0.3)", "x:RC", grads="x", **SAME),
    recipe(RANDOM, "bernoulli", "T.bernoulli(x)", "x:RC:unit", **SAME),
    recipe(RANDOM, "python.multinomial", "T.multinomial(x, 10, replacement=True)",
           "x:RC:unit", dims="R=4/64/256 C=50/1000/10000", dtypes=FLOATS[:2], **SAME),
    recipe(RANDOM, "python.multinomial", "T.multinomial(x, 10)", "x:RC:unit",
           dims="R=4/64/256 C=50/1000/10000", dtypes=FLOATS[:2], **SAME),
    recipe(RANDOM, "python.normal", "T.normal(x, y)", "x:RC y:RC:unit",
           dtypes=FLOATS[:2], **SAME),
    recipe(PYTHON, "python.tensor", "T.tensor(v)", dims="N=10/1000/100000",
           setup="v = [i * 0.5 for i in range({N})]", dtypes=TEXT),
    recipe(PYTHON, "python.tensor", "T.tensor(v)", dims="N=10/1000/20000",
           setup="v = [[i, i + 1, i + 2] for i in range({N})]", dtypes=("int64",)),
    recipe(PYTHON, "python.tensor", "T.tensor(v)", dims=VECTOR,
           setup="v = np.arange({N}, dtype='{d}')", dtypes=("float32", "int64")),
    recipe(PYTHON, "python.from_numpy", "T.from_numpy(v)", dims="N=1000",
           setup="v = np.arange({N}, dtype='{d}')", dtypes=("float32", "int64")),
    recipe(PYTHON, "python.numpy", "x.numpy()", "x:RC", dtypes=("float32",),
           dims="R=20 C=30"),
    recipe(PYTHON, "python.item", ("x.item()", "float(x)"), "x:A", dims="A=1",
           dtypes=ALL, layouts=()),
    recipe(PYTHON, "python.iterate", "[row for row in x]", "x:RC",
           dims="R=10/100/5000 C=8",
           dtypes=TEXT, layouts=()),
    recipe(PYTHON, "python.set", ("x[:, 1:3] = 2", "x[1] = 3.5", "x[i] = 0", "x[m] = 1",
                                  "x[:, 1:3] = y", "x[i] = z"),
           "x:RC i:K:R m:RC:mask y:RA z:KC",
           dims="R=50/1000/20000 C=16/100/200 K=30/1000/20000 A=2",
           dtypes=("float32", "float16", "int64", "uint8"), writes=True,
           layouts=("transposed",), values=False),
    recipe(PYTHON, "python.operators", ("x + y", "x - 1", "2 * x", "x / y", "-x",
           "x ** 2",
                                        "x > y", "x % 3"), "x:RC y:RC:positive",
           dtypes=TEXT, grads=""),
    recipe(PYTHON, "python.chain", ("(x * 2 + y).sin().sum()", "((x - y) ** 2).mean()",
                                    "(x - x.mean(0)) / (x.std(0) + 1)"),
           "x:RC y:RC", dtypes=FLOATS[:2], grads="x"),
    recipe(PYTHON, "python.where", "x.max().item()", "x:RC", dtypes=TEXT),
    _optimizer("SGD", "lr=0.01", "python.sgd"),
    _optimizer("SGD", "lr=0.01, momentum=0.9", "python.sgd"),
    _optimizer("Adam", "lr=0.001", "python.adam"),
    _optimizer("AdamW", "lr=0.001", "python.adam"),
    recipe("optimizers", "python.clip", "T.nn.utils.clip_grad_norm_(p, 1.0)",
           dims=LAYERS,
           dtypes=TEXT, setup=PARAMS.replace("{op}", "SGD").replace("{how}", "lr=0.1")),
]  # fmt: skip
