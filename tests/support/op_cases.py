# SPDX-License-Identifier: Apache-2.0
"""Rows of the op table: arithmetic, reductions, scans, order, products."""

import numpy as np

from op_case import Case, bools, distinct, fixed, floats, integers

EMPTY_ROWS = [[floats(0, 4)], [floats(3, 0)]]
EMPTY_AND_0D = [[floats(0, 4)], [floats()]]


def _lerp(a, b, w):
    return a + w * (b - a)


ARITHMETIC = [
    Case("add", lambda p, x, y: p.add(x, y, alpha=2), lambda x, y: x + 2 * y,
         [floats(3, 4), floats(4)], label="alpha"),
    Case("sub", lambda p, x, y: p.sub(x, y, alpha=2), lambda x, y: x - 2 * y,
         [floats(3, 4), floats(4)], label="alpha"),
    Case("pow", lambda p, x: p.pow(x, 3), lambda x: x**3, [floats(3, 4)],
         label="number"),
    Case("pow", lambda p, x: p.pow(x, 0.5), lambda x: x**0.5,
         [floats(3, 4, low=0.1)], label="root"),
    Case("pow", lambda p, x: p.pow(x, 2), lambda x: x**2, [fixed([0.0, 1.0, -2.0])],
         label="zero base"),
    Case("div", lambda p, x, y: p.div(x, y, rounding_mode="floor"), np.floor_divide,
         [floats(3, 4), floats(4, low=1)], label="floor"),
    Case("div", lambda p, x, y: p.div(x, y, rounding_mode="trunc"),
         lambda x, y: np.trunc(x / y), [floats(3, 4), floats(4, low=1)],
         label="trunc"),
    Case("div", lambda p, x, y: p.div(x, y, rounding_mode="trunc"),
         lambda x, y: np.trunc(x / y).astype(int),
         [integers(9, low=-9), integers(9, low=1)], differentiable=False, label="int"),
    Case("floor_divide", lambda p, x, y: p.floor_divide(x, y), np.floor_divide,
         [fixed([1.0, -1.0, 5.0, -7.0]), fixed([0.1, 0.1, -2.0, 2.0])],
         differentiable=False, label="exact"),
    Case("remainder", lambda p, x, y: p.remainder(x, y), np.mod,
         [floats(9), floats(9)], label="signs"),
    Case("fmod", lambda p, x, y: p.fmod(x, y), np.fmod, [floats(9), floats(9)],
         label="signs"),
    Case("round", lambda p, x: p.round(x, decimals=1), lambda x: np.round(x, 1),
         [floats(9)], label="decimals"),
    Case("round", lambda p, x: p.round(x, decimals=-1), lambda x: np.round(x, -1),
         [floats(9, low=-99, high=99)], label="tens"),
    Case("clamp", lambda p, x: p.clamp(x, -1, 1), lambda x: np.clip(x, -1, 1),
         [floats(3, 4)], EMPTY_AND_0D, label="numbers"),
    Case("clamp", lambda p, x: p.clamp(x, max=0.5), lambda x: np.minimum(x, 0.5),
         [floats(3, 4)], EMPTY_AND_0D, label="max"),
    Case("clamp", lambda p, x, a, b: p.clamp(x, a, b), lambda x, a, b: np.clip(x, a, b),
         [floats(3, 4), floats(4, high=0), floats(3, 1, low=0)],
         [[floats(4), floats(4, low=1), floats(4, high=0)]], label="tensors"),
    Case("clamp", lambda p, x: p.clamp(x, 1, 3), lambda x: np.clip(x, 1, 3),
         [integers(9)], differentiable=False, label="int"),
    Case("clip", lambda p, x: p.clip(x, -1), lambda x: np.maximum(x, -1),
         [floats(3, 4)]),
    Case("nan_to_num", lambda p, x: p.nan_to_num(x, 1.0, 2.0), lambda x: np.nan_to_num(
         x, nan=1.0, posinf=2.0), [fixed([np.nan, np.inf, 3.0])], label="values"),
    Case("nan_to_num", lambda p, x: p.nan_to_num(x), np.nan_to_num, [floats(3, 4)],
         [[fixed([np.nan])]]),
    Case("lerp", lambda p, a, b: p.lerp(a, b, 0.3), lambda a, b: _lerp(a, b, 0.3),
         [floats(3, 4), floats(4)], label="number"),
    Case("lerp", lambda p, a, b, w: p.lerp(a, b, w), _lerp,
         [floats(3, 4), floats(3, 4), floats(3, 1, low=0, high=1)], label="tensor"),
    Case("addcmul", lambda p, x, a, b: p.addcmul(x, a, b, value=0.5),
         lambda x, a, b: x + 0.5 * a * b, [floats(3, 4), floats(4), floats(3, 1)]),
    Case("addcmul", lambda p, x, a, b: p.addcmul(x, a, b, value=2),
         lambda x, a, b: x + 2 * a * b, [integers(4), integers(4), integers(4)],
         differentiable=False, label="int"),
    Case("addcdiv", lambda p, x, a, b: p.addcdiv(x, a, b, value=0.5),
         lambda x, a, b: x + 0.5 * a / b,
         [floats(3, 4), floats(4), floats(3, 1, low=1)]),
    Case("where", lambda p, c, x, y: p.where(c, x, y), np.where,
         [bools(3, 4), floats(3, 4), floats(4)], label="tensors"),
    Case("where", lambda p, c, x: p.where(c, x, 0.0), lambda c, x: np.where(c, x, 0.0),
         [bools(3, 4), floats(3, 1)], label="number"),
    Case("where", lambda p, c: p.where(c), lambda c: list(np.nonzero(c)), [bools(3, 4)],
         meta=False, differentiable=False, label="places"),
    Case("isclose", lambda p, x, y: p.isclose(x, y, equal_nan=True),
         lambda x, y: np.isclose(x, y, equal_nan=True),
         [fixed([1, 1, np.inf, -np.inf, np.nan]),
          fixed([1 + 1e-9, 2, np.inf, 1, np.nan])],
         differentiable=False),
    Case("allclose", lambda p, x: p.allclose(x, x + 1e-9), lambda x: True, [floats(3)],
         meta=False, differentiable=False),
    Case("equal", lambda p, x, y: p.equal(x, y), np.array_equal,
         [floats(3), floats(3)], [[floats(3), floats(2)]], meta=False,
         differentiable=False),
    Case("isin", lambda p, x, y: p.isin(x, y), np.isin, [integers(3, 4), integers(2)],
         differentiable=False),
]  # fmt: skip


def _var(x, axis=None, ddof=1, keepdims=False):
    return x.var(axis=axis, ddof=ddof, keepdims=keepdims)


def _logsumexp(x, axis, keepdims=False):
    return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))


def _norm(x, p, axis=None, keepdims=False):
    return (np.abs(x) ** p).sum(axis=axis, keepdims=keepdims) ** (1 / p)


def _reductions(name, reference, make=floats, more=EMPTY_AND_0D, differentiable=True):
    """All, one dimension kept, two dimensions."""
    return [
        Case(name, lambda p, x: getattr(p, name)(x), reference, [make(3, 4)], more,
             differentiable, label="all"),
        Case(name, lambda p, x: getattr(p, name)(x, dim=1, keepdim=True),
             lambda x: reference(x, axis=1, keepdims=True), [make(3, 4)], [],
             differentiable, label="keepdim"),
        Case(name, lambda p, x: getattr(p, name)(x, dim=(0, -1)),
             lambda x: reference(x, axis=(0, -1)), [make(2, 3, 4)], [],
             differentiable, label="dims"),
    ]  # fmt: skip


REDUCTIONS = [
    *_reductions("sum", np.sum),
    *_reductions("mean", np.mean, more=[[floats()]]),
    *_reductions("var", _var, more=[]),
    *_reductions("std", lambda *a, **k: np.sqrt(_var(*a, **k)), more=[]),
    *_reductions("amax", np.max, distinct, [[floats()]]),
    *_reductions("amin", np.min, distinct, [[floats()]]),
    *_reductions("all", np.all, bools, [[bools(0, 4)], [bools()]], False)[:2],
    *_reductions("any", np.any, bools, [[bools(0, 4)], [bools()]], False)[:2],
    Case("var", lambda p, x: p.var(x, False), np.var, [floats(3, 4)], label="biased"),
    Case("var", lambda p, x: p.var(x, 1, unbiased=False), lambda x: x.var(1),
         [floats(3, 4)], label="dim biased"),
    Case("std", lambda p, x: p.std(x, dim=0, unbiased=True), lambda x: x.std(0, ddof=1),
         [floats(3, 4)], label="unbiased"),
    Case("var_mean", lambda p, x: p.var_mean(x, 1), lambda x: [_var(x, 1), x.mean(1)],
         [floats(3, 4)]),
    Case("std_mean", lambda p, x: p.std_mean(x, 1),
         lambda x: [x.std(1, ddof=1), x.mean(1)], [floats(3, 4)]),
    Case("sum", lambda p, x: p.sum(x), np.sum, [bools(3, 4)], differentiable=False,
         label="bool"),
    Case("prod", lambda p, x: p.prod(x), np.prod, [floats(2, 3)], EMPTY_AND_0D),
    Case("prod", lambda p, x: p.prod(x, 1, keepdim=True),
         lambda x: x.prod(1, keepdims=True), [fixed([[0, 2, 3], [0, 0, 4], [1, 2, 3]])],
         EMPTY_ROWS, label="zeros"),
    Case("prod", lambda p, x: p.prod(x, 0), lambda x: x.prod(0), [integers(3, 4)],
         differentiable=False, label="int"),
    Case("max", lambda p, x: p.max(x), np.max, [distinct(3, 4)], [[floats()]]),
    Case("max", lambda p, x: p.max(x, 1), lambda x: [x.max(1), x.argmax(1)],
         [distinct(3, 4)], [[floats(0, 4)]], label="dim"),
    Case("max", lambda p, x, y: p.max(x, y), np.maximum, [floats(3, 4), floats(3, 4)],
         label="other"),
    Case("min", lambda p, x: p.min(x), np.min, [distinct(3, 4)], [[floats()]]),
    Case("min", lambda p, x: p.min(x, 0, keepdim=True),
         lambda x: [x.min(0, keepdims=True), x.argmin(0)[None]], [distinct(3, 4)],
         label="dim"),
    Case("min", lambda p, x, y: p.min(x, y), np.minimum, [floats(3, 4), floats(3, 4)],
         label="other"),
    Case("aminmax", lambda p, x: p.aminmax(x, dim=1), lambda x: [x.min(1), x.max(1)],
         [distinct(3, 4)]),
    Case("argmax", lambda p, x: p.argmax(x), np.argmax, [distinct(3, 4)], [[floats()]],
         False),
    Case("argmax", lambda p, x: p.argmax(x, 1, keepdim=True),
         lambda x: x.argmax(1)[:, None], [distinct(3, 4)], [[floats(0, 4)]], False,
         label="dim"),
    Case("argmin", lambda p, x: p.argmin(x, -1), lambda x: x.argmin(-1),
         [distinct(3, 4)], [[floats(0, 4)]], False),
    Case("count_nonzero", lambda p, x: p.count_nonzero(x), np.count_nonzero,
         [bools(3, 4)], [[integers(0)], [floats()]], False),
    Case("count_nonzero", lambda p, x: p.count_nonzero(x, 1),
         lambda x: np.count_nonzero(x, 1), [integers(3, 4, high=2)], [], False,
         label="dim"),
    Case("logsumexp", lambda p, x: p.logsumexp(x, 1), lambda x: _logsumexp(x, 1),
         [floats(3, 4)],
         [[floats(0, 4)], [fixed([[1.0, -np.inf], [-np.inf, -np.inf]])]]),
    Case("logsumexp", lambda p, x: p.logsumexp(x, (0, 2), keepdim=True),
         lambda x: _logsumexp(x, (0, 2), True), [floats(2, 3, 4)], label="dims"),
    Case("median", lambda p, x: p.median(x),
         lambda x: np.sort(x, None)[(x.size - 1) // 2],
         [distinct(3, 4)], [[floats()]]),
    Case("median", lambda p, x: p.median(x, 1),
         lambda x: [np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]], [distinct(3, 4)],
         label="dim"),
    *[Case("linalg_vector_norm", lambda p, x, o=o: p.linalg_vector_norm(x, o, 1),
           lambda x, o=o: np.linalg.norm(x, o, 1), [distinct(3, 4)], label=o)
      for o in (0, 1, 2, 3, 0.5, float("inf"), float("-inf"))],
    Case("linalg_vector_norm", lambda p, x: p.linalg_vector_norm(x),
         lambda x: _norm(x, 2), [floats(2, 3)], EMPTY_AND_0D, label="all"),
    Case("norm", lambda p, x: p.norm(x), lambda x: _norm(x, 2), [floats(2, 3)],
         EMPTY_AND_0D),
    Case("norm", lambda p, x: p.norm(x, 1, dim=(0, 1), keepdim=True),
         lambda x: _norm(x, 1, (0, 1), True), [floats(2, 3)], label="dims"),
    Case("norm", lambda p, x: p.norm(x, "fro"), lambda x: _norm(x, 2), [floats(2, 3)],
         label="fro"),
    Case("dist", lambda p, x, y: p.dist(x, y, 3), lambda x, y: _norm(x - y, 3),
         [floats(2, 3), floats(3)]),
    Case("normalize", lambda p, x: p.normalize(x, dim=1),
         lambda x: x / _norm(x, 2, 1, True), [floats(3, 4)]),
    Case("cosine_similarity", lambda p, x, y: p.cosine_similarity(x, y, dim=1),
         lambda x, y: (x * y).sum(1) / _norm(x, 2, 1) / _norm(y, 2, 1),
         [floats(3, 4), floats(3, 4)]),
]  # fmt: skip


def _mode(x):
    found, last = [], []
    for row in x:
        values, counts = np.unique(row, return_counts=True)
        found.append(values[counts.argmax()])
        last.append(np.flatnonzero(row == found[-1])[-1])
    return [np.array(found, x.dtype), np.array(last, "int64")]


def _running(x, axis, better):
    values, places = x.copy(), np.zeros(x.shape, int)
    for i in range(1, x.shape[axis]):
        at, before = [np.s_[:]] * x.ndim, [np.s_[:]] * x.ndim
        at[axis], before[axis] = i, i - 1
        at, before = tuple(at), tuple(before)
        wins = better(x[at], values[before])
        values[at] = np.where(wins, x[at], values[before])
        places[at] = np.where(wins, i, places[before])
    return [values, places]


ORDER = [
    Case("cumsum", lambda p, x: p.cumsum(x, 1), lambda x: x.cumsum(1),
         [floats(2, 4, 3)],
         [[floats(2, 0)]]),
    Case("cumsum", lambda p, x: p.cumsum(x, 0), lambda x: x.cumsum(0), [bools(5)],
         differentiable=False, label="bool"),
    Case("cumsum", lambda p, x: p.cumsum(x, 0), lambda x: x, [floats()], label="0-d"),
    Case("cumprod", lambda p, x: p.cumprod(x, 1), lambda x: x.cumprod(1),
         [fixed([[2, 0, 3, 4], [1, 2, 0, 0], [0, 1, 2, 3], [1.5, 2, -3, 4]])],
         [[floats(2, 0)]], label="zeros"),
    Case("cumprod", lambda p, x: p.cumprod(x, 0), lambda x: x.cumprod(0),
         [floats(3, 2)], label="columns"),
    Case("cummax", lambda p, x: p.cummax(x, 1),
         lambda x: _running(x, 1, np.greater_equal),
         [distinct(2, 4)], [[fixed([[1, 1, 0]])]]),
    Case("cummin", lambda p, x: p.cummin(x, 0), lambda x: _running(x, 0, np.less_equal),
         [distinct(4, 2)]),
    Case("diff", lambda p, x: p.diff(x, 2), lambda x: np.diff(x, 2), [floats(2, 5)]),
    Case("sort", lambda p, x: p.sort(x), lambda x: [np.sort(x), np.argsort(x)],
         [distinct(3, 4)], [[floats(0, 4)], [floats(3, 0)]]),
    Case("sort", lambda p, x: p.sort(x, 0, descending=True),
         lambda x: [-np.sort(-x, 0), np.argsort(-x, 0)], [distinct(4, 3)],
         label="descending"),
    Case("sort", lambda p, x: p.sort(x, stable=True),
         lambda x: [np.sort(x), np.argsort(x, kind="stable")],
         [integers(3, 9, high=3)], [[fixed([2.0, np.nan, 1.0])]], False, label="ties"),
    Case("argsort", lambda p, x: p.argsort(x, 0), lambda x: np.argsort(x, 0),
         [distinct(4, 3)], [], False),
    Case("topk", lambda p, x: p.topk(x, 2), lambda x: [
         -np.sort(-x)[:, :2], np.argsort(-x)[:, :2]], [distinct(3, 4)]),
    Case("topk", lambda p, x: p.topk(x, 3, dim=0, largest=False),
         lambda x: [np.sort(x, 0)[:3], np.argsort(x, 0)[:3]], [distinct(20, 2)],
         label="smallest"),
    Case("kthvalue", lambda p, x: p.kthvalue(x, 2, 1),
         lambda x: [np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]], [distinct(3, 4)]),
    Case("mode", lambda p, x: p.mode(x, 1), _mode,
         [distinct(3, 4)], [[fixed([[1.5, 3, 1.5, 2], [4, 3, 3, 4]])],
                            [integers(40, 9, high=4)], [floats(0, 3)]]),
    Case("mode", lambda p, x: p.mode(x, 0, keepdim=True),
         lambda x: [r[None] for r in _mode(x.T)], [integers(9, 3, high=3)], [], False,
         label="keepdim"),
    Case("searchsorted", lambda p, s, x: p.searchsorted(s, x), np.searchsorted,
         [fixed([1, 3, 5, 7]), floats(3, 4, low=0, high=9)], [[floats(0), floats(2)]],
         False),
    Case("bucketize", lambda p, x, b: p.bucketize(x, b, right=True),
         lambda x, b: np.searchsorted(b, x, side="right"),
         [integers(9), fixed([1, 3], "int64")], [], False),
    Case("bincount", lambda p, x: p.bincount(x, minlength=7),
         lambda x: np.bincount(x, minlength=7), [integers(9)], [[integers(0)]], False,
         meta=False),
    Case("bincount", lambda p, x, w: p.bincount(x, w), np.bincount,
         [integers(9), floats(9)], [], False, meta=False, label="weights"),
]  # fmt: skip

PRODUCTS = [
    Case("matmul", lambda p, x, y: p.matmul(x, y), np.matmul,
         [floats(2, 3, 4), floats(4, 5)], [[floats(0, 4), floats(4, 2)]]),
    Case("mm", lambda p, x, y: p.mm(x, y), np.matmul, [floats(3, 4), floats(4, 2)],
         [[floats(3, 0), floats(0, 2)]]),
    Case("bmm", lambda p, x, y: p.bmm(x, y), np.matmul,
         [floats(2, 3, 4), floats(2, 4, 2)], [[floats(0, 3, 4), floats(0, 4, 2)]]),
    Case("mv", lambda p, x, y: p.mv(x, y), np.matmul, [floats(3, 4), floats(4)]),
    Case("dot", lambda p, x, y: p.dot(x, y), np.dot, [floats(4), floats(4)],
         [[floats(0), floats(0)]]),
    Case("vdot", lambda p, x, y: p.vdot(x, y), np.dot, [floats(4), floats(4)]),
    Case("outer", lambda p, x, y: p.outer(x, y), np.outer, [floats(3), floats(4)],
         [[floats(0), floats(4)]]),
    Case("ger", lambda p, x, y: p.ger(x, y), np.outer, [floats(3), floats(4)]),
    Case("inner", lambda p, x, y: p.inner(x, y), np.inner, [floats(3, 4), floats(2, 4)],
         [[floats(), floats(3)]]),
    Case("kron", lambda p, x, y: p.kron(x, y), np.kron, [floats(2, 3), floats(2)]),
    Case("addmm", lambda p, c, x, y: p.addmm(c, x, y, beta=0.5, alpha=2),
         lambda c, x, y: 0.5 * c + 2 * (x @ y),
         [floats(2), floats(3, 4), floats(4, 2)]),
    Case("addmm", lambda p, c, x, y: p.addmm(c, x, y, beta=0), lambda c, x, y: x @ y,
         [fixed([np.nan]), floats(3, 4), floats(4, 2)], differentiable=False,
         label="beta 0"),
    Case("addmv", lambda p, c, x, y: p.addmv(c, x, y), lambda c, x, y: c + x @ y,
         [floats(3), floats(3, 4), floats(4)]),
    Case("addr", lambda p, c, x, y: p.addr(c, x, y, alpha=2),
         lambda c, x, y: c + 2 * np.outer(x, y), [floats(3, 4), floats(3), floats(4)]),
    Case("baddbmm", lambda p, c, x, y: p.baddbmm(c, x, y, alpha=0.5),
         lambda c, x, y: c + 0.5 * (x @ y),
         [floats(3, 2), floats(2, 3, 4), floats(2, 4, 2)]),
    Case("addbmm", lambda p, c, x, y: p.addbmm(c, x, y),
         lambda c, x, y: c + (x @ y).sum(0),
         [floats(3, 2), floats(2, 3, 4), floats(2, 4, 2)]),
    Case("tensordot", lambda p, x, y: p.tensordot(x, y), np.tensordot,
         [floats(2, 3, 4), floats(3, 4, 2)]),
    Case("tensordot", lambda p, x, y: p.tensordot(x, y, ([0, 2], [1, 0])),
         lambda x, y: np.tensordot(x, y, ([0, 2], [1, 0])),
         [floats(2, 3, 4), floats(4, 2)], torch=False, label="dims"),
    *[Case("einsum", lambda p, *xs, e=e: p.einsum(e, xs),
           lambda *xs, e=e: np.einsum(e, *xs), [floats(*s) for s in shapes], label=e)
      for e, *shapes in [
          ("ij,jk->ik", (3, 4), (4, 2)), ("ij,jk", (3, 4), (4, 2)), ("ii->i", (3, 3)),
          ("ii", (3, 3)), ("ijk->ki", (2, 3, 4)), ("i,i->", (3,), (3,)),
          ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
          ("...ij,...jk->...ik", (2, 3, 4), (4, 2)),
          ("i,j->ij", (3,), (4,)), ("bhqd,bhkd->bhqk", (1, 2, 3, 4), (1, 2, 3, 4)),
          ("ij,jk,kl->il", (2, 3), (3, 2), (2, 4)), ("ijj,j->i", (2, 3, 3), (3,)),
          ("i,i->i", (3,), (3,)), ("ba,Ab", (2, 3), (2, 2)),
          ("ij,ij->j", (1, 3), (4, 3)),
      ]],
    Case("einsum", lambda p, x: p.einsum("ij->j", [x]), lambda x: x.sum(0),
         [integers(3, 4)], [[integers(0, 4)]], False, label="int"),
]  # fmt: skip

CASES = ARITHMETIC + REDUCTIONS + ORDER + PRODUCTS
