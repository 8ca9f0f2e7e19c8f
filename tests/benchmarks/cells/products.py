# SPDX-License-Identifier: Apache-2.0
"""Recipes: products of vectors and matrices."""

from .recipe import INTS, VECTOR, recipe

FAMILY = "products"
FLOAT = ("float32", "float64", "float16", "bfloat16")
SOME = (*FLOAT, "int64")
SQUARE = "N=16/128/512 K=16/128/512 M=16/128/512"
ODD = "N=7/100/1000 K=33/65/300 M=5/10/130"
THIN = "N=32/128/512 K=64/784/1024 M=10/64/10"
VECTORS = "N=20/300/2000 K=25/300/2000"
BATCHES = (
    "B=4/32/64 N=8/32/64 K=8/32/64 M=8/32/64",
    "B=2/8/32 N=16/64/128 K=8/16/32 M=16/64/128",
)
ALONE = ("transposed", "stepped")

RECIPES = [
    recipe(FAMILY, "mm", "T.mm(x, y)", "x:NK y:KM", dims=(SQUARE, ODD, THIN),
           dtypes=SOME, grads="x y", layouts=ALONE, numpy="np.matmul(x, y)"),
    recipe(FAMILY, "matmul", "x @ y", "x:BNK y:BKM", dims=BATCHES, dtypes=FLOAT,
           grads="x y", layouts=ALONE, numpy="np.matmul(x, y)"),
    recipe(FAMILY, "matmul", "x @ y", "x:BNK y:=KM", dims=BATCHES, dtypes=FLOAT,
           grads="x y", layouts=ALONE),
    recipe(FAMILY, "matmul", ("x @ y", "y @ x.t()"), "x:NK y:=K", dims=VECTORS,
           dtypes=SOME, grads="x y", numpy=""),
    recipe(FAMILY, "mv", "T.mv(x, y)", "x:NK y:K", dims=VECTORS, dtypes=SOME,
           grads="x y", numpy="np.matmul(x, y)"),
    recipe(FAMILY, "bmm", "T.bmm(x, y)", "x:BNK y:BKM", dims=BATCHES, dtypes=FLOAT,
           grads="x y", layouts=ALONE),
    recipe(FAMILY, "dot vdot inner", "T.{op}(x, y)", "x:N y:N", dims=VECTOR,
           dtypes=SOME, grads="x y", numpy="np.dot(x, y)",
           terms="(x.double() * y.double()).abs().sum()"),
    recipe(FAMILY, "inner", "T.inner(x, y)", "x:NK y:MK", dims=SQUARE, dtypes=FLOAT,
           grads="x y", layouts=ALONE, numpy="np.inner(x, y)"),
    recipe(FAMILY, "outer ger", "T.{op}(x, y)", "x:N y:K", dims=VECTORS, dtypes=SOME,
           grads="x y", numpy="np.outer(x, y)"),
    recipe(FAMILY, "linear", ("F.linear(x, w)", "F.linear(x, w, b)"), "x:NK w:MK b:M",
           dims=(SQUARE, THIN, "N=1 K=64/512/2000 M=64/512/2000"), dtypes=FLOAT,
           grads="x w", layouts=ALONE),
    recipe(FAMILY, "linear", "F.linear(x, w, b)", "x:BNK w:=MK b:=M", dims=BATCHES,
           grads="x w b", layouts=ALONE),
    recipe(FAMILY, "addmm", ("T.addmm(z, x, y)", "T.addmm(z, x, y, beta=0.5, alpha=2)"),
           "z:NM x:NK y:KM", dims=(SQUARE, THIN), grads="z x y", layouts=ALONE),
    recipe(FAMILY, "addmm", "T.addmm(z, x, y)", "z:=M x:=NK y:=KM", dims=(SQUARE, ODD),
           dtypes=SOME, grads="z x y"),
    recipe(FAMILY, "addmv", "T.addmv(z, x, y)", "z:N x:NK y:K", dims=VECTORS,
           grads="z x y"),
    recipe(FAMILY, "addr", "T.addr(z, x, y)", "z:NK x:N y:K", dims=VECTORS,
           grads="z x y"),
    recipe(FAMILY, "baddbmm", "T.baddbmm(z, x, y)", "z:BNM x:BNK y:BKM", dims=BATCHES,
           grads="z x y", layouts=ALONE),
    recipe(FAMILY, "addbmm", "T.addbmm(z, x, y)", "z:NM x:BNK y:BKM", dims=BATCHES,
           grads="z x y", layouts=ALONE),
    recipe(FAMILY, "tensordot", "T.tensordot(x, y, 2)", "x:BNK y:NKM", dims=BATCHES,
           grads="x y", layouts=ALONE, numpy="np.tensordot(x, y, 2)"),
    recipe(FAMILY, "tensordot.dims", "T.tensordot(x, y, ([0, 2], [0, 1]))",
           "x:BNK y:BKM", dims=BATCHES, grads="x y", layouts=ALONE),
    recipe(FAMILY, "einsum", ("T.einsum('bnk,bkm->bnm', x, y)",
                              "T.einsum('bnk,bkm->nm', x, y)",
                              "T.einsum('bnk,bkm->bmn', x, y)"), "x:BNK y:BKM",
           dims=BATCHES, grads="x y", layouts=ALONE),
    recipe(FAMILY, "einsum", ("T.einsum('nk->kn', x).clone()", "T.einsum('nk->n', x)",
                              "T.einsum('nk,nk->n', x, x)"), "x:NK", dims=VECTORS,
           grads="x"),
    recipe(FAMILY, "mm", "T.mm(x, y)", "x:NK y:KM",
           dims="N=16/64/128 K=16/64/128 M=16/64/128",
           dtypes=INTS, layouts=ALONE),
]  # fmt: skip
