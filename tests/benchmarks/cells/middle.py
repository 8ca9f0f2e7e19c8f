# SPDX-License-Identifier: Apache-2.0
"""Recipes: tensors of three and four dimensions, and their middle ones."""

from .recipe import ALL, FLOATS, NO_BOOL, recipe

#: Planes, rows and columns, of which any may be few.
CUBE = "P=4/60/600 Q=3/20/60 S=2/16/60"
#: The same with one dimension more.
FOUR = "P=3/10/40 Q=2/7/20 S=3/10/30 U=2/6/30"
LAYOUTS = ("transposed", "stepped", "broadcast")

MIDDLE = {"dims": CUBE, "layouts": LAYOUTS}
OUTER = ("T.{op}(x, (0, 2))", "T.{op}(x, (1, 3))", "T.{op}(x, (0, 1, 3))",
         "T.{op}(x, (1, 2))")  # fmt: skip

RECIPES = [
    recipe("reductions", "sum mean amax prod", "T.{op}(x, 1)", "x:PQS:near",
           dtypes=NO_BOOL[:6], grads="x", **MIDDLE),
    recipe("reductions", "any all count_nonzero argmax argmin", "T.{op}(x, 1)",
           "x:PQS", dtypes=NO_BOOL, **MIDDLE),
    recipe("reductions", "var std logsumexp", "T.{op}(x, 1)", "x:PQS", grads="x",
           **MIDDLE),
    recipe("reductions", "max.dim min.dim median.dim mode", "T.{op}(x, 1)", "x:PQS",
           dtypes=NO_BOOL, values=False, **MIDDLE),
    recipe("reductions", "norm", ("T.norm(x, 2, 1)", "T.norm(x, 1, (0, 2))"), "x:PQS",
           grads="x", **MIDDLE),
    recipe("reductions", "normalize", "F.normalize(x, 2.0, 1)", "x:PQS", grads="x",
           **MIDDLE),
    recipe("reductions", "sum mean amax", OUTER, "x:PQSU", dims=FOUR,
           dtypes=NO_BOOL[:6], grads="x"),
    recipe("reductions", "var", OUTER[:2], "x:PQSU", dims=FOUR, grads="x"),
    recipe("scans", "cumsum cumprod cummax", "T.{op}(x, 1)", "x:PQS:near",
           dtypes=NO_BOOL, **MIDDLE),
    recipe("softmax", "softmax log_softmax", "T.{op}(x, 1)", "x:PQS", grads="x",
           **MIDDLE),
    recipe("sorting", "sort argsort", "T.{op}(x, 1)", "x:PQS", dtypes=NO_BOOL,
           values=False, **MIDDLE),
    recipe("sorting", "topk", "T.topk(x, 2, 1)", "x:PQS", dtypes=NO_BOOL,
           values=False, **MIDDLE),
    recipe("indices", "index_select", "T.index_select(x, 1, i)", "x:PQS i:S:Q",
           dtypes=ALL, grads="x", **MIDDLE),
    recipe("indices", "gather", "T.gather(x, 1, i)", "x:PQS i:PQS:Q", dtypes=ALL,
           grads="x", **MIDDLE),
    recipe("indices", "scatter_add", "T.scatter_add(x, 1, i, y)",
           "x:PQS i:PQS:Q y:PQS", dtypes=NO_BOOL, grads="x y", **MIDDLE),
    recipe("indices", "index_add", "T.index_add(x, 1, i, y)", "x:PQS i:Q:Q y:PQS",
           dtypes=NO_BOOL, grads="x y", **MIDDLE),
    recipe("indices", "index", ("x[:, i]", "x[:, :, j]"), "x:PQS i:Q:Q j:P:S",
           dtypes=ALL, grads="x", **MIDDLE),
    recipe("moving", "cat", ("T.cat([x, y], 0)", "T.cat([x, y], 1)",
                             "T.cat([x, y], 2)"), "x:PQS y:PQS", dtypes=ALL,
           grads="x y", **MIDDLE),
    recipe("moving", "stack", ("T.stack([x, y], 1)", "T.stack([x, y], 2)"),
           "x:PQS y:PQS", dtypes=ALL, grads="x y", **MIDDLE),
    recipe("moving", "flip", ("T.flip(x, [1])", "T.flip(x, [0, 2])"), "x:PQS",
           dtypes=ALL, grads="x", **MIDDLE),
    recipe("moving", "roll", "T.roll(x, [1], [1])", "x:PQS", dtypes=ALL, grads="x",
           **MIDDLE),
    recipe("moving", "repeat_interleave", "T.repeat_interleave(x, 2, 1)", "x:PQS",
           dtypes=ALL, grads="x", **MIDDLE),
    recipe("moving", "tril", "T.tril(x)", "x:PQS", dtypes=ALL, grads="x", **MIDDLE),
    recipe("moving", "contiguous", ("x.permute(0, 2, 1).contiguous()",
                                    "x.permute(2, 1, 0).contiguous()",
                                    "x.permute(1, 2, 0).contiguous()"), "x:PQS",
           dtypes=ALL, grads="x", **MIDDLE),
    recipe("moving", "contiguous", ("x.permute(0, 2, 1, 3).contiguous()",
                                    "x.permute(3, 1, 0, 2).contiguous()",
                                    "x.permute(0, 3, 2, 1).contiguous()"), "x:PQSU",
           dims=FOUR, dtypes=FLOATS),
    recipe("moving", "split", "[p.clone() for p in T.split(x, 1, 1)]", "x:PQS",
           dtypes=FLOATS, **MIDDLE),
    recipe("pointwise", "add mul maximum", "T.{op}(x, y)", "x:PQS y:=QS",
           dtypes=NO_BOOL, grads="x y", **MIDDLE),
    recipe("pointwise", "add mul", "T.{op}(x, y.unsqueeze(1))", "x:PQS y:=PS",
           dtypes=NO_BOOL, grads="x y", **MIDDLE),
    recipe("pointwise", "add mul", "T.{op}(x, y.unsqueeze(-1))", "x:PQS y:=PQ",
           dtypes=NO_BOOL, grads="x y", **MIDDLE),
    recipe("pointwise", "add mul", "T.{op}(x, y[:, None])", "x:PQS y:=Q",
           dtypes=NO_BOOL, grads="x y", **MIDDLE),
    recipe("products", "matmul", ("T.matmul(x, y)", "T.matmul(x, x.transpose(1, 2))"),
           "x:PQS y:PSQ", dims="P=4/40/200 Q=8/20/60 S=8/20/60", grads="x y"),
]  # fmt: skip
