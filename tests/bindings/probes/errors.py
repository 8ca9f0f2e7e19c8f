# SPDX-License-Identifier: Apache-2.0
"""Prints, as JSON, what each wrong call of CALLS raises on the binding in use.

Run by tests/binding/test_binding_contract.py in a process of its own, once per binding.
"""

import json
import sys

import numpy as np

import pkg
from pkg._binding import core

CALLS = """
core.num_threads(1)
core.num_threads(x=1)
core.set_num_threads()
core.set_num_threads(1, 2)
core.set_num_threads('a')
core.set_num_threads(2.5)
core.set_num_threads(None)
core.set_num_threads(m=1)
core.set_num_threads(n='a')
core.set_num_threads(2**33)
core.set_num_threads(2**70)
core.set_num_threads(-1)
core.shutdown('a')
core.quiesce(s=2)
core.quiesce(1, 2)
core.manual_seed('a')
core.set_grad_enabled()
core.operator_names()
core.operator_names(3)
core.operator_names(namespace='pkg')
core.Tensor()
core.Tensor(1, 2)
core.Tensor.__new__(core.Tensor).shape
core.Tensor.__new__(core.Tensor) + 1
core.Tensor.item(3)
core.Tensor.shape.__get__(3)
core.Operator()
core.Operator(1)
core.Operator('add', 'pkg', 3)
core.Operator(name='add')
core.Operator('nope')
core.Operator('add', 'nope')
type('Sub', (core.Operator,), {})
setattr(core.Operator('add'), '__name__', 'x')
setattr(core.Operator('add'), '__doc__', 'x')
core.Operator('add').nope
core.OpWrapper()
core.OpWrapper(int, 1, {})
core.OpWrapper(int, 'pkg::neg', [])
core.OpWrapper(int, 'nope::add', {})
core.OpWrapper(int, 'pkg::neg', {})
core.OpWrapper(int, 'pkg::neg', {'x': 'x'})
core.OpWrapper(int, 'pkg::neg', {'x': 1})
core.OpWrapper(int, 'pkg::matmul', {'x': 'self', 'y': 'self'})
core.OpWrapper(int, 'pkg::neg', {'x': 'self'})(x, 1, 2)
core.OpWrapper(int, 'pkg::neg', {'x': 'self'})(y=1)
type('Sub', (core.OpWrapper,), {})
core.dtype()
core.dtype(1)
core.dtype('nope')
core.dtype(foo='float32')
core.dtype('float32', 1)
core.float32 < core.float64
setattr(core.float32, 'x', 1)
setattr(core.float32, 'name', 'x')
type('Sub', (core.dtype,), {})
core.device()
core.device(1)
core.device('nope')
core.device('cpu') < core.device('cpu')
type('Sub', (core.device,), {})
core.tensor()
core.tensor(data=1, dtype='nope')
core.tensor(1, dtype=3)
core.tensor(1, foo=2)
core.tensor(1, None, None)
core.tensor(1, requires_grad=True)
core.tensor({})
core.tensor(None)
core.tensor('a')
core.tensor(['a'])
core.tensor(b'x')
core.tensor([[1, 2], [3]])
core.tensor([1, [2]])
core.tensor([2**70])
core.tensor([1j])
core.tensor(np.zeros(2, dtype=np.complex64))
core.from_numpy()
core.from_numpy(1)
core.from_numpy([1.0])
core.from_numpy(np.arange(3)[::-1])
core.from_numpy(np.zeros(2, dtype='U1'))
core.from_numpy(np.zeros(2, dtype=np.uint16))
core._memory()
core._memory(1)
core._memory(pkg.ones(2).to_dtype(pkg.bfloat16))
memoryview(core._memory(pkg.ones(2, 3).T)).cast('B')
type(core._memory(pkg.ones(1)))()
x.__dlpack__(1)
x.__dlpack__(stream=1)
x.__dlpack__(stream='a')
x.__dlpack__(max_version=1)
x.__dlpack__(max_version=(1, 'a'))
x.__dlpack__(dl_device=(2, 0))
y.__dlpack__()
pkg.ones(2, device='meta').__dlpack__()
pkg.ones(2, device='meta').__dlpack_device__()
core._from_dlpack()
core._from_dlpack(1)
core._from_dlpack(core._from_dlpack)
pkg.from_dlpack(np.arange(3)[::-1])
pkg.from_dlpack(np.zeros(2, 'c8'))
core.register_tensor_class()
core.register_tensor_class(1)
core.register_tensor_class(int)
core.Tensor._make_subclass()
core.Tensor._make_subclass(1, 2)
core.Tensor._make_subclass(int, x)
core.Tensor._make_subclass(pkg.Tensor, 2)
core.Tensor._make_subclass(pkg.Tensor, i, True)
x.item()
x.item(1)
x.nope
x.size(5)
x.size('a')
x.size(1, 2)
x.stride(-3)
x.requires_grad_(1, 2)
i.requires_grad_()
y.requires_grad_(False)
setattr(x, 'shape', 1)
setattr(x, 'nope', 1)
setattr(i, 'requires_grad', True)
setattr(y, 'requires_grad', False)
setattr(x, 'grad', 1)
setattr(x, 'grad', pkg.ones(3))
setattr(x, 'data', 1)
delattr(x, 'shape')
delattr(x, 'requires_grad')
delattr(x, 'data')
x['a']
x[5]
x[0, 0]
x[1.5]
x[{}]
x[0:'a']
x[::0]
x.__setitem__(0, 'a')
x.__setitem__(9, 1)
x.__setitem__(slice(None), pkg.ones(3))
x.__delitem__(0)
x.__getitem__()
x + 'a'
'a' + x
x + None
x + 1j
x + {}
x + pkg.ones(3)
x + 2**70
x - 'a'
x @ 3
x @ pkg.ones(3)
x & 1.5
x < 'a'
x ** 'a'
pow(x, 2, 3)
x << 1
~x
-core.Tensor.__new__(core.Tensor)
x.__add__()
x.__add__(1, 2)
iadd(x, 'a')
iadd(i, 1.5)
iadd(leaf, 1)
bool(x)
bool(pkg.zeros(0))
float(x)
int(x)
int(pkg.tensor(float('nan')))
int(pkg.tensor(float('inf')))
[1, 2][x]
[1, 2][pkg.tensor(1.0)]
len(pkg.tensor(1))
range(pkg.tensor(2.5))
pkg.add()
pkg.add(1)
pkg.add(x, 'a')
pkg.add(x, x, x)
pkg.add(x, x, alpha='a')
pkg.add(x, x, foo=1)
pkg.add(x, x, other=x)
pkg.add(x, other=None)
x.add(other='a')
pkg.sum(x, dim='a')
pkg.sum(x, dim=7)
pkg.sum(x, dim=[0, 0])
pkg.reshape(x, 2, 'a')
pkg.reshape(x, 7)
x.reshape(1.5)
pkg.cat([x, 1])
pkg.cat(x)
pkg.cat([])
pkg.zeros('a')
pkg.zeros(2, dtype='nope')
pkg.zeros(2**70)
pkg.arange('x')
pkg.arange(1, 2, foo=3)
pkg.where(x, x)
core._backward()
core._backward(x, (), False, False, ())
core._backward((1,), (), False, False, ())
core._backward((x,), (None,), False, False, ())
core._backward((y,), (1,), False, False, ())
core._backward((y,), (pkg.ones(3),), False, False, ())
core._backward((y,), (None,), False, False, 1)
core._backward((y.sum(),), (None,), False, False, (pkg.ones(1),))
core._grad(1)
core._grad((y,), (x,), (None,), False, False, False)
core._grad((y,), ('a',), (None,), False, False, False)
y.sum().grad_fn.name(1)
setattr(y.grad_fn, 'variable', 1)
type(y.grad_fn)()
""".strip().splitlines()


def iadd(a, b):
    a += b


def outcome(call):
    """[class, its bases, text], or the value when nothing was raised."""
    scope = {"core": core, "pkg": pkg, "np": np, "iadd": iadd}
    scope["x"] = pkg.tensor([1.0, 2.0])
    scope["i"] = pkg.tensor([1, 2])
    scope["leaf"] = pkg.ones(2, requires_grad=True)
    scope["y"] = scope["leaf"] * 2
    try:
        value = eval(call, scope)
    except Exception as error:
        names = [cls.__name__ for cls in type(error).__mro__ if cls is not object]
        return {"raises": names, "text": str(error)}
    return {"value": repr(value)}


if __name__ == "__main__":
    results = {}
    for call in CALLS:
        print(call, file=sys.stderr, flush=True)  # the last line, if it crashes
        results[call] = outcome(call)
    print(json.dumps(results))
