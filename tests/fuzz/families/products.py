# SPDX-License-Identifier: Apache-2.0
"""Families of products of vectors and matrices."""

from __future__ import annotations

from fuzz.choose import OMIT, Chooser
from fuzz.families.registry import Given, family
from fuzz.schema import Schema

# --- Products ------------------------------------------------------------------------


def _sizes(c: Chooser, count: int) -> list[int]:
    return [
        c.one(0, 1, 2, 3, 5, 7, 16, 33) if c.chance(0.9) else 70 for _ in range(count)
    ]


@family("mm mv bmm dot vdot inner outer ger matmul linear trace")
def _products(c: Chooser, s: Schema) -> Given:
    n, k, m, b = _sizes(c, 4)
    kind = c.dtype if c.dtype != "bool" or c.chance(0.1) else "int64"
    if s.name == "matmul":
        batch = c.shape(0, 4)
        left, right = c.broadcastable(batch), c.broadcastable(batch)
        pairs = [((k,), (k,)), ((n, k), (k,)), ((k,), (*right, k, m))]
        pairs += [((*left, n, k), (*right, k, m))] * 3
        a, z = c.one(*pairs)
    else:
        batch = c.shape(0, 3)
        a, z = {
            "mm": ((n, k), (k, m)), "mv": ((n, k), (k,)), "dot": ((k,), (k,)),
            "bmm": ((b, n, k), (b, k, m)), "inner": ((*batch, k), (*c.shape(0, 2), k)),
            "vdot": ((k,), (k,)), "outer": ((n,), (m,)), "ger": ((n,), (m,)),
            "linear": ((*batch, k), (m, k)), "trace": ((n, m), ()),
        }[s.name]  # fmt: skip
    given = {s.params[0].name: c.tensor(a, kind)}
    if len(s.params) > 1:
        given[s.params[1].name] = c.tensor(z, kind)
    if s.name == "linear":
        given["bias"] = c.tensor((m,), kind) if c.chance(0.6) else OMIT
    return given


@family("addmm addmv addr addbmm baddbmm")
def _added_products(c: Chooser, s: Schema) -> Given:
    n, k, m, b = _sizes(c, 4)
    kind = c.dtype if c.dtype != "bool" or c.chance(0.1) else "int64"
    out, x, y = {
        "addmm": ((n, m), (n, k), (k, m)), "addmv": ((n,), (n, k), (k,)),
        "addr": ((n, m), (n,), (m,)), "addbmm": ((n, m), (b, n, k), (b, k, m)),
        "baddbmm": ((b, n, m), (b, n, k), (b, k, m)),
    }[s.name]  # fmt: skip
    names = [p.name for p in s.params[1:3]]
    given = {"self": c.tensor(c.broadcastable(out), kind)}
    given |= {names[0]: c.tensor(x, kind), names[1]: c.tensor(y, kind)}
    return given


@family("tensordot tensordot.dims")
def _tensordot(c: Chooser, s: Schema) -> Given:
    left, right = list(c.shape(0, 4)), list(c.shape(0, 4))
    count = c.rng.randint(0, min(len(left), len(right)))
    kind = c.dtype if c.dtype != "bool" else "float32"
    if s.overload == "":
        if count:
            right[:count] = left[-count:]
        return {"self": c.tensor(left, kind), "other": c.tensor(right, kind),
                "dims": count}  # fmt: skip
    a, b = c.rng.sample(range(len(left)), count), c.rng.sample(range(len(right)), count)
    for i, j in zip(a, b):
        right[j] = left[i]
    given = {"self": c.tensor(left, kind), "other": c.tensor(right, kind)}
    return {**given, "dims_self": a, "dims_other": b}


_EQUATIONS = (
    "ij,jk->ik ij,jk bij,bjk->bik i,i-> i,j->ij ij-> ij->ji ii->i ii-> i-> "
    "...ij,jk->...ik ijk->kji ij,ij->i ij,kj->ik abcd,dcef->abef i,i,i-> ij,j "
    "...i->... ,-> ij,k->ijk"
).split()


@family("einsum")
def _einsum(c: Chooser, s: Schema) -> Given:
    equation = c.one(*_EQUATIONS)
    sizes = {letter: c.sized(0) for letter in "abcdefijk"}
    kind = c.dtype if c.dtype != "bool" or c.chance(0.2) else "float32"
    batch = c.shape(0, 2)
    operands = []
    for term in equation.split("->")[0].split(","):
        shape = batch if "..." in term else ()
        letters = [sizes[letter] for letter in term.replace("...", "")]
        operands.append(c.tensor((*shape, *letters), kind))
    return {"equation": equation, "operands": operands}


@family("kron")
def _kron(c: Chooser, s: Schema) -> Given:
    return {"self": c.tensor(c.shape(0, 3)), "other": c.tensor(c.shape(0, 3))}
