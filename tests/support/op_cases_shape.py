# SPDX-License-Identifier: Apache-2.0
"""Rows of the op table: views, joining, rearranging, indexing, creation, conversion."""

import numpy as np

from op_case import Case, bools, fixed, floats, integers

X = [floats(2, 3, 4)]


def _same(name, call, reference, inputs=X, more=(), **options):
    return Case(name, call, reference, inputs, more, **options)


VIEWS = [
    _same("view", lambda p, x: x.view(6, 4), lambda x: x.reshape(6, 4), torch=False),
    _same("reshape", lambda p, x: p.reshape(x, (4, -1)), lambda x: x.reshape(4, -1)),
    _same("flatten", lambda p, x: p.flatten(x, 1), lambda x: x.reshape(2, 12)),
    _same("unflatten", lambda p, x: p.unflatten(x, 2, (2, -1)),
          lambda x: x.reshape(2, 3, 2, 2)),
    _same("permute", lambda p, x: p.permute(x, (2, 0, 1)),
          lambda x: x.transpose(2, 0, 1)),
    _same("transpose", lambda p, x: p.transpose(x, 0, -1), lambda x: x.swapaxes(0, 2)),
    _same("swapaxes", lambda p, x: p.swapaxes(x, 0, -1), lambda x: x.swapaxes(0, 2)),
    _same("swapdims", lambda p, x: p.swapdims(x, 0, -1), lambda x: x.swapaxes(0, 2)),
    _same("movedim", lambda p, x: p.movedim(x, (0, 1), (1, -1)),
          lambda x: np.moveaxis(x, (0, 1), (1, -1))),
    _same("moveaxis", lambda p, x: p.moveaxis(x, 0, -1),
          lambda x: np.moveaxis(x, 0, -1)),
    _same("t", lambda p, x: p.t(x), lambda x: x.T, [floats(2, 3)],
          [[floats(3)], [floats()]]),
    _same("expand", lambda p, x: x.expand(2, 3, 4),
          lambda x: np.broadcast_to(x, (2, 3, 4)), [floats(3, 1)]),
    _same("expand_as", lambda p, x, y: x.expand_as(y),
          lambda x, y: np.broadcast_to(x, y.shape), [floats(3, 1), integers(2, 3, 4)]),
    _same("broadcast_to", lambda p, x: p.broadcast_to(x, (2, 3, 4)),
          lambda x: np.broadcast_to(x, (2, 3, 4)), [floats(3, 1)]),
    _same("broadcast_tensors", lambda p, x, y: p.broadcast_tensors(x, y),
          lambda x, y: list(np.broadcast_arrays(x, y)), [floats(3, 1), floats(2)]),
    _same("meshgrid", lambda p, x, y: p.meshgrid(x, y, indexing="xy"),
          lambda x, y: list(np.meshgrid(x, y)), [floats(3), floats(2)], label="xy"),
    _same("meshgrid", lambda p, x, y: p.meshgrid([x, y], indexing="ij"),
          lambda x, y: list(np.meshgrid(x, y, indexing="ij")), [floats(3), floats(2)]),
    _same("view_as", lambda p, x, y: x.view_as(y), lambda x, y: x.reshape(y.shape),
          [floats(2, 3), integers(3, 2)], torch=False),
    _same("reshape_as", lambda p, x, y: x.reshape_as(y),
          lambda x, y: x.reshape(y.shape),
          [floats(2, 3), integers(3, 2)]),
    _same("squeeze", lambda p, x: p.squeeze(x), np.squeeze, [floats(1, 3, 1)],
          [[floats()]]),
    _same("squeeze", lambda p, x: p.squeeze(x, 0), lambda x: x[0], [floats(1, 3, 1)],
          label="dim"),
    _same("squeeze", lambda p, x: p.squeeze(x, (0, 1)), lambda x: x[0],
          [floats(1, 3, 1)],
          label="dims"),
    _same("unsqueeze", lambda p, x: p.unsqueeze(x, -1), lambda x: x[..., None], X,
          [[floats()], [floats(0)]]),
    _same("select", lambda p, x: p.select(x, 1, -1), lambda x: x[:, -1]),
    _same("slice", lambda p, x: p.slice(x, 2, 1, None, 2), lambda x: x[:, :, 1::2],
          torch=False),
    _same("narrow", lambda p, x: p.narrow(x, 1, 1, 2), lambda x: x[:, 1:3]),
    _same("diagonal", lambda p, x: p.diagonal(x, 1, 0, 2),
          lambda x: x.diagonal(1, 0, 2)),
    _same("diagonal", lambda p, x: p.diagonal(x, -5), lambda x: x.diagonal(-5),
          [floats(3, 4)], label="outside"),
    _same("contiguous", lambda p, x: x.t().contiguous(), lambda x: x.T, [floats(2, 3)]),
    _same("stop_gradient", lambda p, x: p.stop_gradient(x), lambda x: x,
          differentiable=False, torch=False),
]  # fmt: skip

JOINING = [
    _same("cat", lambda p, x, y: p.cat([x, y], 1),
          lambda x, y: np.concatenate([x, y], 1),
          [floats(2, 3), floats(2, 1)], [[floats(2, 0), floats(2, 1)]]),
    _same("cat", lambda p, x, y: p.cat((x, y), 1), lambda x, y: y,
          [floats(0), floats(2, 3)],
          label="nothing"),
    _same("concat", lambda p, x, y: p.concat([x, y]),
          lambda x, y: np.concatenate([x, y]),
          [floats(2, 3), floats(1, 3)]),
    _same("concatenate", lambda p, x, y: p.concatenate([x, y], dim=-1),
          lambda x, y: np.concatenate([x, y], -1), [floats(2, 3), floats(2, 3)]),
    _same("stack", lambda p, x, y: p.stack([x, y], -1),
          lambda x, y: np.stack([x, y], -1),
          [floats(2, 3), floats(2, 3)], [[floats(), floats()]]),
    _same("hstack", lambda p, x, y: p.hstack([x, y]), lambda x, y: np.hstack([x, y]),
          [floats(2, 3), floats(2, 1)], [[floats(2), floats()]]),
    _same("vstack", lambda p, x, y: p.vstack([x, y]), lambda x, y: np.vstack([x, y]),
          [floats(3), floats(2, 3)], [[floats(2), floats(2)]]),
    _same("split", lambda p, x: p.split(x, 2, dim=1), lambda x: [x[:, :2], x[:, 2:]]),
    _same("split", lambda p, x: p.split(x, [1, 3], dim=2),
          lambda x: [x[..., :1], x[..., 1:]], label="sizes"),
    _same("tensor_split", lambda p, x: p.tensor_split(x, 3, 2),
          lambda x: np.array_split(x, 3, 2)),
    _same("tensor_split", lambda p, x: p.tensor_split(x, (1, 3), 2),
          lambda x: np.split(x, (1, 3), 2), label="indices"),
    _same("chunk", lambda p, x: p.chunk(x, 2, 1), lambda x: [x[:, :2], x[:, 2:]]),
    _same("unbind", lambda p, x: p.unbind(x, 1), lambda x: [x[:, 0], x[:, 1], x[:, 2]]),
]  # fmt: skip


def _rot90(k):
    return _same("rot90", lambda p, x: p.rot90(x, k, (0, 2)),
                 lambda x: np.rot90(x, k, (0, 2)), label=k)  # fmt: skip


REARRANGING = [
    _same("flip", lambda p, x: p.flip(x, (0, -1)), lambda x: x[::-1, :, ::-1], X,
          [[floats(0, 2, 3)]]),
    _same("fliplr", lambda p, x: p.fliplr(x), np.fliplr),
    _same("flipud", lambda p, x: p.flipud(x), np.flipud),
    *[_rot90(k) for k in (1, 2, 3, 4)],
    _same("roll", lambda p, x: p.roll(x, (1, -2), (0, 2)),
          lambda x: np.roll(x, (1, -2), (0, 2)), X, [[floats(0, 1, 3)]]),
    _same("roll", lambda p, x: p.roll(x, 5), lambda x: np.roll(x, 5), X, [[floats()]],
          label="flat"),
    _same("repeat", lambda p, x: x.repeat(2, 1, 3), lambda x: np.tile(x, (2, 1, 3)),
          [floats(2, 3)], [[floats()], [floats(0)]]),
    _same("tile", lambda p, x: p.tile(x, (2,)), lambda x: np.tile(x, 2), X),
    _same("repeat_interleave", lambda p, x: p.repeat_interleave(x, 2, dim=1),
          lambda x: x.repeat(2, 1)),
    _same("repeat_interleave", lambda p, x: p.repeat_interleave(x, 3),
          lambda x: x.repeat(3), X, [[floats()]], label="flat"),
    _same("repeat_interleave", lambda p, x, n: p.repeat_interleave(x, n, dim=0),
          lambda x, n: x.repeat(n, 0), [floats(3, 2), integers(3, high=4)], meta=False,
          label="each"),
    _same("constant_pad_nd", lambda p, x: p.constant_pad_nd(x, (1, 2, 0, 1), 0.5),
          lambda x: np.pad(x, ((0, 0), (0, 1), (1, 2)), constant_values=0.5)),
    _same("constant_pad_nd", lambda p, x: p.constant_pad_nd(x, (-1, 2)),
          lambda x: np.pad(x[..., 1:], ((0, 0), (0, 0), (0, 2))), label="cut"),
    _same("pad", lambda p, x: p.pad(x, (1, 1)),
          lambda x: np.pad(x, ((0, 0), (0, 0), (1, 1)))),
    _same("tril", lambda p, x: p.tril(x, -1), lambda x: np.tril(x, -1), X,
          [[floats(0, 3)]]),
    _same("triu", lambda p, x: p.triu(x, 1), lambda x: np.triu(x, 1), X,
          [[floats(3, 0)]]),
    _same("diag", lambda p, x: p.diag(x, 1), lambda x: np.diag(x, 1), [floats(3)],
          [[floats(3, 4)], [floats(0)]]),
    _same("diag", lambda p, x: p.diag(x), np.diag, [floats(3, 4)], label="matrix"),
    _same("diag_embed", lambda p, x: p.diag_embed(x, -1),
          lambda x: np.stack([np.diag(row, -1) for row in x]), [floats(2, 3)]),
    _same("trace", lambda p, x: p.trace(x), np.trace, [floats(3, 4)], [[floats(0, 2)]]),
]  # fmt: skip

ROWS = integers(4, high=3)


def _put(x, key, value, add=False):
    x = x.copy()
    if add:
        np.add.at(x, key, value)
    else:
        x[key] = value
    return x


def _scatter(x, dim, index, src, add=False):
    x = x.copy()
    for place in np.ndindex(index.shape):
        to = list(place)
        to[dim] = index[place]
        value = src[place] if isinstance(src, np.ndarray) else src
        x[tuple(to)] = x[tuple(to)] + value if add else value
    return x


PERMUTED = fixed([[2, 0, 1], [1, 2, 0]], "int64")

INDEXING = [
    _same("index", lambda p, x, i, j: x[i, :, j], lambda x, i, j: x[i, :, j],
          [floats(3, 2, 4), ROWS, ROWS]),
    _same("index_select", lambda p, x, i: p.index_select(x, 1, i), lambda x, i: x[:, i],
          [floats(2, 3, 4), ROWS], [[floats(2, 3), integers(0)]]),
    _same("index_add", lambda p, x, i, y: p.index_add(x, 1, i, y, alpha=2),
          lambda x, i, y: _put(x, np.s_[:, i], 2 * y, True),
          [floats(2, 3), ROWS, floats(2, 4)]),
    _same("index_copy", lambda p, x, i, y: p.index_copy(x, 0, i, y),
          lambda x, i, y: _put(x, i, y),
          [floats(3, 2), fixed([2, 0], "int64"), floats(2, 2)]),
    _same("index_fill", lambda p, x, i: p.index_fill(x, 1, i, 7.0),
          lambda x, i: _put(x, np.s_[:, i], 7), [floats(2, 3), ROWS]),
    _same("index_put", lambda p, x, i, y: p.index_put(x, (i,), y, accumulate=True),
          lambda x, i, y: _put(x, i, y, True), [floats(3, 2), ROWS, floats(4, 2)]),
    _same("take", lambda p, x, i: p.take(x, i), lambda x, i: x.ravel()[i],
          [floats(2, 3), integers(2, 2, high=6)]),
    _same("take_along_dim", lambda p, x, i: p.take_along_dim(x, i, 1),
          lambda x, i: np.take_along_axis(x, i, 1),
          [floats(2, 3), integers(2, 2, high=3)]),
    _same("gather", lambda p, x, i: p.gather(x, 1, i),
          lambda x, i: np.take_along_axis(x, i, 1),
          [floats(2, 3), integers(2, 4, high=3)],
          [[floats(2, 3), integers(2, 0)]]),
    _same("scatter", lambda p, x, i, y: p.scatter(x, 1, i, y),
          lambda x, i, y: _scatter(x, 1, i, y), [floats(2, 3), PERMUTED, floats(2, 3)]),
    _same("scatter", lambda p, x, i, y: p.scatter(x, 1, i, y),
          lambda x, i, y: _scatter(x, 1, i, y), [floats(2, 3), PERMUTED, floats(3, 4)],
          label="larger src", torch=False),
    _same("scatter", lambda p, x, i: p.scatter(x, 1, i, value=2.0),
          lambda x, i: _scatter(x, 1, i, 2.0), [floats(2, 3), integers(2, 2, high=3)],
          label="value"),
    _same("scatter_add", lambda p, x, i, y: p.scatter_add(x, 0, i, y),
          lambda x, i, y: _scatter(x, 0, i, y, True),
          [floats(3, 2), integers(4, 2, high=3), floats(4, 2)]),
    _same("masked_fill", lambda p, x, m: p.masked_fill(x, m, -1.0),
          lambda x, m: np.where(m, -1.0, x), [floats(3, 4), bools(4)],
          [[floats(0, 4), bools(4)], [floats(), bools()]]),
    _same("masked_fill", lambda p, x, m, v: p.masked_fill(x, m, v),
          lambda x, m, v: np.where(m, v, x), [floats(3, 4), bools(3, 1), floats()],
          label="tensor"),
    _same("masked_select", lambda p, x, m: p.masked_select(x, m), lambda x, m: x[m],
          [floats(3, 4), bools(3, 4)], meta=False),
    _same("nonzero", lambda p, x: p.nonzero(x), np.argwhere, [bools(3, 4)],
          [[bools(0, 4)], [bools()]], meta=False, differentiable=False),
    _same("one_hot", lambda p, x: p.one_hot(x, 5), lambda x: np.eye(5, dtype=int)[x],
          [integers(2, 3)], differentiable=False),
    _same("one_hot", lambda p, x: p.one_hot(x),
          lambda x: np.eye(x.max() + 1, dtype=int)[x],
          [integers(2, 3)], meta=False, differentiable=False, label="inferred"),
]  # fmt: skip


def _made(name, call, reference, **options):
    """Creation: no inputs, or one that only lends its shape."""
    return Case(name, call, reference, differentiable=False, **options)


def _cast(name, dtype):
    return Case(name, lambda p, x: getattr(x, name)(), lambda x: x.astype(dtype),
                [floats(3)], [[floats()], [floats(0)]],
                differentiable=dtype == "float64")  # fmt: skip


CREATION = [
    _made("zeros", lambda p: p.zeros(2, 3, dtype=p.int32),
          lambda: np.zeros((2, 3), "int32")),
    _made("ones", lambda p: p.ones((2, 3)), lambda: np.ones((2, 3), "float32")),
    _made("full", lambda p: p.full((2, 0), 7), lambda: np.full((2, 0), 7)),
    _made("full", lambda p: p.full((), True), lambda: np.array(True), label="bool"),
    _made("eye", lambda p: p.eye(2, 3), lambda: np.eye(2, 3, dtype="float32")),
    _made("arange", lambda p: p.arange(5), lambda: np.arange(5)),
    _made("arange", lambda p: p.arange(7, 0, -2), lambda: np.arange(7, 0, -2),
          label="down"),
    _made("arange", lambda p: p.arange(0, 1, 0.1, dtype=p.float64),
          lambda: np.arange(0, 1, 0.1), label="float"),
    _made("arange", lambda p: p.arange(2**53 + 1, 2**53 + 3),
          lambda: np.arange(2**53 + 1, 2**53 + 3), label="large"),
    _made("linspace", lambda p: p.linspace(-1, 2, 7, dtype=p.float64),
          lambda: np.linspace(-1, 2, 7)),
    _made("logspace", lambda p: p.logspace(0, 2, 3, dtype=p.float64),
          lambda: np.logspace(0, 2, 3)),
    _made("zeros_like", lambda p, x: p.zeros_like(x, dtype=p.int64),
          lambda x: np.zeros_like(x, "int64"), inputs=X),
    _made("ones_like", lambda p, x: p.ones_like(x), np.ones_like, inputs=X),
    _made("full_like", lambda p, x: p.full_like(x, 2.5), lambda x: np.full_like(x, 2.5),
          inputs=X),
    _made("full_like", lambda p, x: p.full_like(x, 2, dtype=p.int32),
          lambda x: np.full_like(x, 2, "int32"), inputs=X, label="dtype"),
    _made("new_zeros", lambda p, x: x.new_zeros(2, 3),
          lambda x: np.zeros((2, 3), x.dtype),
          inputs=X),
    _made("new_ones", lambda p, x: x.new_ones((2,), dtype=p.int64),
          lambda x: np.ones(2, "int64"), inputs=X),
    _made("new_full", lambda p, x: x.new_full((2,), 3),
          lambda x: np.full(2, 3, x.dtype),
          inputs=X),
    Case("clone", lambda p, x: p.clone(x), np.copy, X),
    Case("to", lambda p, x: x.to(p.float64), np.copy, X, label="itself"),
    Case("to", lambda p, x: x.to(p.float32), lambda x: x.astype("float32"), X,
         differentiable=False),
    Case("to", lambda p, x: x.to("cpu", p.float32), lambda x: x.astype("float32"), X,
         differentiable=False, meta=False, label="device"),
    Case("to", lambda p, x: x.to(device="cpu", copy=True), np.copy, X, meta=False,
         label="copy"),
    Case("to", lambda p, x, y: x.to(y), lambda x, y: x.astype(y.dtype),
         [integers(3), floats()], differentiable=False, label="other"),
    Case("to_dtype", lambda p, x: p.to_dtype(x, p.int64), lambda x: x.astype("int64"),
         X,
         differentiable=False, torch=False),
    Case("copy", lambda p, x, y: p.copy(x, y), lambda x, y: np.broadcast_to(y, x.shape),
         [floats(2, 3), floats(3)], torch=False),
    Case("fill", lambda p, x: p.fill(x, 2.0), lambda x: np.full_like(x, 2), X),
    Case("zero", lambda p, x: p.zero(x), np.zeros_like, X, torch=False),
    _cast("double", "float64"),
    _cast("float", "float32"),
    _cast("half", "float16"),
    Case("bfloat16", lambda p, x: x.bfloat16().float(), lambda x: x.astype("float32"),
         [fixed([1.0, -2.5, 0.0])], differentiable=False),
    _cast("int", "int32"),
    _cast("long", "int64"),
    _cast("bool", "bool"),
]  # fmt: skip

CASES = VIEWS + JOINING + REARRANGING + INDEXING + CREATION
