# SPDX-License-Identifier: Apache-2.0
"""What tests/leaks.py calls: a line for each function, slot and member of the binding.

A line is the name under which the module has it and statements that use the names of
leaks.scope().  The ops of tests/support/op_table.py and the wrong calls of
tests/bindings/probes/errors.py come on top.
"""

CALLS = """
core._before_fork: core._before_fork()
core._backward: y = leaf * 2; core._backward((y,), (x,), False, False, (leaf,))
core._from_dlpack: core._from_dlpack(x.__dlpack__(), False)
core._grad: y = leaf * 2; core._grad((y,), (leaf,), (x,), False, False, False)
core._memory: core._memory(x)
core._record_function: core._record_function('f', (leaf,), (-x,), nop, True, (x,))
core._register_accumulated_hook: core._register_accumulated_hook(leaf, nop).remove()
core._register_hook: core._register_hook(leaf, nop).remove()
core._retain_grad: core._retain_grad(leaf * 2)
core._set_kernel: raises(core._set_kernel, 'pkg::add', 'Nope', nop, '')
core._saved_tensors: core._saved_tensors(function)
core.async_enabled: core.async_enabled()
core.build_flags: core.build_flags()
core.bytes_in_use: core.bytes_in_use()
core.cancel: core.cancel(event)
core.cancel_pending: core.cancel_pending()
core.cancel_requested: core.cancel_requested()
core.compiler_version: core.compiler_version()
core.current_stream: core.current_stream()
core.cxx11_abi: core.cxx11_abi()
core.claim_namespace: raises(core.claim_namespace, 3, '')
core.define_op: raises(core.define_op, 'pkg', 'add(', '', '')
core.detect_anomaly: core.detect_anomaly()
core.dispatch_table: core.dispatch_table('pkg::add')
core.empty_cache: core.empty_cache()
core.failed_operation: core.failed_operation()
core.from_numpy: core.from_numpy(array)
core.initial_seed: core.initial_seed()
core.is_grad_enabled: core.is_grad_enabled()
core.isa_name: core.isa_name()
core.live_events: core.live_events()
core.library_ops: raises(core.library_ops, 'none')
core.live_nodes: core.live_nodes()
core.live_streams: core.live_streams()
core.live_tensors: core.live_tensors()
core.load_library: raises(core.load_library, '/nowhere/lib.so')
core.manual_seed: core.manual_seed(3)
core.num_threads: core.num_threads()
core.op_definition: core.op_definition('pkg::add')
core.operator_names: core.operator_names('pkg')
core.operator_namespaces: core.operator_namespaces()
core.peak_bytes: core.peak_bytes()
core.pending_tasks: core.pending_tasks()
core.quiesce: core.quiesce(1.0)
core.random_position: core.random_position()
core.register_symbol_class: raises(core.register_symbol_class, int)
core.register_tensor_class: raises(core.register_tensor_class, int)
core.scheduler_stats: core.scheduler_stats()
core.set_async: core.set_async(True)
core.set_detect_anomaly: core.set_detect_anomaly(False)
core.set_grad_enabled: core.set_grad_enabled(True)
core.set_default_dtype: core.set_default_dtype("float32")
core.set_isa: core.set_isa(isa)
core.set_num_threads: core.set_num_threads(threads)
core.set_random_state: core.set_random_state(1, 2)
core.submit: core.submit(nop).result()
core._trace_begin: core._trace_end(core._trace_begin("ops lines shapes", 10))
core._trace_end: t = core._trace_begin("ops", 9); x + x; core._trace_end(t)
core._symbols: core._symbols()
core._c_calls: core._c_calls()
core.synchronize: core.synchronize()
core.system_allocations: core.system_allocations()
core.tensor: core.tensor([[1, 2.5], (3, x[0, 0])], dtype=pkg.float64)
core.version: core.version()

Tensor.__new__: core.Tensor.__new__(core.Tensor)
Tensor.__init__: pkg.Tensor.__new__(pkg.Tensor)
Tensor.__hash__: hash(x)
Tensor.__lt__: x < x
Tensor.__le__: x <= 1
Tensor.__eq__: x == x; x == 'a'
Tensor.__ne__: x != x
Tensor.__gt__: x > 2.5
Tensor.__ge__: x >= x
Tensor.__add__: x + x; x + 2; x + scalar
Tensor.__radd__: 2 + x; scalar + x
Tensor.__sub__: x - x
Tensor.__rsub__: 2 - x
Tensor.__mul__: x * x
Tensor.__rmul__: 2 * x
Tensor.__mod__: x % 2
Tensor.__rmod__: 2 % x
Tensor.__pow__: x ** 2
Tensor.__rpow__: 2 ** x
Tensor.__neg__: -x
Tensor.__pos__: +x
Tensor.__abs__: abs(x)
Tensor.__bool__: bool(one)
Tensor.__invert__: ~i
Tensor.__and__: i & i
Tensor.__rand__: 1 & i
Tensor.__xor__: i ^ i
Tensor.__rxor__: 1 ^ i
Tensor.__or__: i | i
Tensor.__ror__: 1 | i
Tensor.__int__: int(one)
Tensor.__float__: float(one)
Tensor.__iadd__: t = w; t += 0
Tensor.__isub__: t = w; t -= 0
Tensor.__imul__: t = w; t *= 1
Tensor.__itruediv__: t = w; t /= 1
Tensor.__ifloordiv__: t = w; t //= 1
Tensor.__imod__: t = w; t %= 9
Tensor.__ipow__: t = w; t **= 1
Tensor.__iand__: t = i; t &= i
Tensor.__ior__: t = i; t |= i
Tensor.__ixor__: t = i.clone(); t ^= 0
Tensor.__ilshift__: t = i.clone(); t <<= 1
Tensor.__irshift__: t = i.clone(); t >>= 0
Tensor.__lshift__: i << 1
Tensor.__rlshift__: 1 << i
Tensor.__rshift__: i >> 1
Tensor.__rrshift__: 1 >> i
Tensor.__floordiv__: x // 2
Tensor.__rfloordiv__: 2 // x
Tensor.__truediv__: x / 2
Tensor.__rtruediv__: 2 / x
Tensor.__index__: [1, 2, 3][i[1]]
Tensor.__matmul__: x @ x
Tensor.__rmatmul__: x.__rmatmul__(x)
Tensor.__len__: len(x)
Tensor.__getitem__: x[0], x[:, 1], x[None, ..., ::2], x[[0, 1]], x[x > 0], x[i]; x[True]
Tensor.__setitem__: w[0] = 1; w[:, 1] = w[0]; w[w > 5] = 3; w[[0, 1]] = x
Tensor.__delitem__: raises(x.__delitem__, 0)
Tensor.__dlpack__: x.__dlpack__()
Tensor.__dlpack_device__: x.__dlpack_device__()
Tensor.item: one.item()
Tensor.tolist: x.tolist()
Tensor.wait: x.wait()
Tensor.is_ready: x.is_ready()
Tensor.numel: x.numel()
Tensor.storage_offset: x.storage_offset()
Tensor.dim: x.dim()
Tensor.element_size: x.element_size()
Tensor.data_ptr: x.data_ptr()
Tensor.is_contiguous: x.is_contiguous()
Tensor.is_floating_point: x.is_floating_point()
Tensor._storage_id: x._storage_id()
Tensor._storage_nbytes: x._storage_nbytes()
Tensor._share: x._share()
Tensor.detach: leaf.detach()
Tensor.detach_: (leaf * 2).detach_()
Tensor.requires_grad_: (x * 2).requires_grad_()
Tensor.size: x.size(), x.size(0)
Tensor.stride: x.stride(), x.stride(0)
Tensor._make_subclass: pkg.Tensor._make_subclass(Mine, x)
Tensor.shape: x.shape
Tensor.dtype: x.dtype
Tensor.device: x.device
Tensor.ndim: x.ndim
Tensor.itemsize: x.itemsize
Tensor.nbytes: x.nbytes
Tensor.requires_grad: t = x.detach(); t.requires_grad = True; t.requires_grad
Tensor.is_leaf: x.is_leaf
Tensor.grad_fn: graph.grad_fn, x.grad_fn
Tensor.retains_grad: graph.retains_grad
Tensor._is_view: x[0]._is_view, x._is_view
Tensor.grad: spare.grad = x; spare.grad; spare.grad = None
Tensor.data: x.data; spare.data = x
Tensor.T: x.T
Tensor._version: x._version
Tensor._binding: x._binding

Operator.__new__: core.Operator('add')
Operator.__repr__: repr(add)
Operator.__getattribute__: add.default; hasattr(add, 'none')
Operator.__call__: add(x, x); add(x, other=2, alpha=3); add(input=x, other=x)
Operator.__get__: x.add(1); add.__get__(x)
Operator.__name__: add.__name__
Operator.__text_signature__: add.__text_signature__
Operator.schemas: add.schemas
Operator.records: add.records
Operator._schema: add._schema; add.default
Operator._explain: add._explain(x, 2); add._explain(x, other=x, alpha=3)
Operator.is_method: add.is_method

OpWrapper.__new__: wrapper_of(nop); raises(core.OpWrapper, nop, 'pkg::neg', {'x': 'y'})
OpWrapper.__repr__: repr(neg)
OpWrapper.__call__: neg(x); neg(x=x, name=None); neg(1); raises(neg, i, i, i)
OpWrapper.__get__: neg.__get__(x)()
OpWrapper.__reduce__: neg.__reduce__()
OpWrapper.__dict__: neg.a = x; del neg.a

dtype.__init__: core.dtype('float32')
dtype.__repr__: repr(pkg.float32)
dtype.__reduce_ex__: pkg.float32.__reduce_ex__(2)
dtype.name: pkg.float32.name
dtype.itemsize: pkg.float32.itemsize
dtype.is_floating_point: pkg.float32.is_floating_point

device.__init__: core.device('cpu')
device.__repr__: repr(cpu)
device.__hash__: hash(cpu)
device.__str__: str(cpu)
device.__eq__: cpu == 'cpu'; cpu == cpu
device.__ne__: cpu != 'meta'
device.__lt__: cpu.__lt__(cpu)
device.__le__: cpu.__le__(cpu)
device.__gt__: cpu.__gt__(cpu)
device.__ge__: cpu.__ge__(cpu)
device.__reduce_ex__: cpu.__reduce_ex__(2)
device.type: cpu.type
device.index: cpu.index

Event.__init__: raises(core.Event)
Event.__repr__: repr(event)
Event.done: event.done()
Event.wait: event.wait()
Event.result: event.result(1.0)
Event.exception: failed.exception()
Event.cancel: event.cancel()
Event._when_done: event._when_done(nop)
Event.__await__: next(event.__await__(), None)
Event.name: event.name
Event.call_site: event.call_site
ManualEvent.__init__: core.ManualEvent()
ManualEvent.set: core.ManualEvent().set(x)
ManualEvent.set_error: e = core.ManualEvent(); e.set_error(KeyError('k')); e.exception()

Stream.__init__: core.Stream()
Stream.__repr__: repr(stream)
Stream.__hash__: hash(stream)
Stream.__eq__: stream == stream; stream == 3
Stream.__ne__: stream != stream
Stream.__lt__: stream.__lt__(stream)
Stream.__le__: stream.__le__(stream)
Stream.__gt__: stream.__gt__(stream)
Stream.__ge__: stream.__ge__(stream)
Stream.submit: stream.submit(nop, event).result()
Stream.synchronize: stream.synchronize()
Stream.query: stream.query()
Stream.record_event: stream.record_event()
Stream.wait_event: stream.wait_event(event)
Stream.wait_stream: stream.wait_stream(other)
Stream.record: stream.record()
Stream.wait: stream.wait(event)
Stream.__enter__: stream.__enter__(); stream.__exit__(None, None, None)
Stream.__exit__: stream.__enter__(); stream.__exit__(None)

Node.__init__: raises(core.Node)
Node.__repr__: repr(node)
Node.__hash__: hash(node)
Node.__eq__: node == node; node == 3
Node.__ne__: node != node
Node.__lt__: node.__lt__(node)
Node.__le__: node.__le__(node)
Node.__gt__: node.__gt__(node)
Node.__ge__: node.__ge__(node)
Node.name: node.name()
Node._sequence_nr: node._sequence_nr()
Node.register_hook: node.register_hook(nop).remove()
Node.register_prehook: node.register_prehook(nop).remove()
Node.next_functions: node.next_functions
Node.variable: node.next_functions[0][0].variable
Node.call_site: node.call_site
Node.op: node.op
Node.input_shapes: node.input_shapes
Node.saved: node.saved
HookHandle.__init__: raises(core.HookHandle)
HookHandle.remove: handle.remove()
HookHandle.__enter__: handle.__enter__()
HookHandle.__exit__: handle.__exit__(None, None, None)

GraphHandle.__init__: core.GraphHandle()
GraphHandle.placeholder: core.GraphHandle().placeholder("", pkg.float32, [-1, 2], x)
GraphHandle.constant: core.GraphHandle().constant('c', x)
GraphHandle.variable: core.GraphHandle().variable('v', pkg.float32, [2, 2])
GraphHandle.assign: g, v = with_variable(); g.assign('', v, x)
GraphHandle.gradients: g, a, b = traced(); g.gradients('', [b], [None], [a], [b])
GraphHandle.group: g, a, b = traced(); g.group('', [core.OperationHandle.of(b)])
GraphHandle.set_scope: core.GraphHandle().set_scope('s/', [], 'cpu')
GraphHandle.begin_trace: traced()
GraphHandle.end_trace: raises(core.GraphHandle().end_trace)
GraphHandle.begin_body: g = core.GraphHandle(); g.begin_body(); g.end_trace()
GraphHandle.capture: g = core.GraphHandle(); raises(g.capture, x)
GraphHandle.while_loop: while_of(2)
GraphHandle.cond: cond_of(True); cond_of(False)
GraphHandle.function: function_of(lambda: 1.0); raises(function_of, fail)
CallableHandle.run_recorded: call.run_recorded([x]); compiled_of(leaf)(x)
OperationHandle.no_grad: operation.no_grad()
OperationHandle.writes: operation.writes()
BodyHandle.__init__: body_of()
GraphHandle.finalize: core.GraphHandle().finalize()
GraphHandle.finalized: graph_.finalized()
GraphHandle.version: graph_.version()
GraphHandle.find: graph_.find('a'); graph_.find('none')
GraphHandle.operations: graph_.operations()
GraphHandle.unique_name: graph_.unique_name('a', False)
GraphHandle.connected: graph_.connected(symbol, placed, [symbol])
GraphHandle.id: graph_.id()
OperationHandle.__init__: raises(core.OperationHandle)
OperationHandle.of: core.OperationHandle.of(symbol); raises(core.OperationHandle.of, x)
OperationHandle.index_of: core.OperationHandle.index_of(symbol)
OperationHandle.name: operation.name()
OperationHandle.type: operation.type()
OperationHandle.device: operation.device()
OperationHandle.call_site: operation.call_site()
OperationHandle.n_outputs: operation.n_outputs()
OperationHandle.output: operation.output(0); raises(operation.output, 7)
OperationHandle.shape: operation.shape(0)
OperationHandle.inputs: operation.inputs()
OperationHandle.controls: operation.controls()
OperationHandle.arguments: operation.arguments()
OperationHandle.tensors: g = core.GraphHandle(); g.constant('c', x).tensors()
OperationHandle.graph_id: operation.graph_id()
OperationHandle.id: operation.id()
SessionHandle.__init__: core.SessionHandle(graph_)
SessionHandle.make_callable: session.make_callable([placed], [symbol], [])
SessionHandle.close: core.SessionHandle(graph_).close()
SessionHandle.variable: session.variable(variable)
SessionHandle.set_variables: session.set_variables([variable], [x])
CallableHandle.__init__: raises(core.CallableHandle)
CallableHandle.run: call.run([x]); call.run([x[:1]]); raises(call.run, [i])
CallableHandle.unplanned: call.unplanned()
CallableHandle.plan: call.run([x]); call.plan()

op.empty: pkg.empty(2, 2)
op.empty_like: pkg.empty_like(x)
op.new_empty: x.new_empty(2)
op.rand: pkg.rand(2)
op.randn: pkg.randn(2)
op.rand_like: pkg.rand_like(x)
op.randn_like: pkg.randn_like(x)
op.randint: pkg.randint(0, 5, (2,)); pkg.randint(5, (2,))
op.randint_like: pkg.randint_like(x, 5); pkg.randint_like(x, 0, 5)
op.randperm: pkg.randperm(4)
op.normal: pkg.ops.normal(x)
op.normal_: w.normal_()
op.uniform: pkg.uniform(x)
op.uniform_: w.uniform_()
op.bernoulli: pkg.bernoulli(pkg.ones(2))
op.dropout: pkg.dropout(leaf).sum().backward(); leaf.grad = None
op._adam_step_: op('_adam_step_')([w], [x], [w], [x], 0., .9, .9, 1., 0., 1, True)
op._clip_grad_norm_: op('_clip_grad_norm_')([x, w], 9.0, 2.0)
op._among: op('_among')(x, x[0])
op._mark_written: op('_mark_written')(pkg.tensor([False, True]), pkg.tensor([0]))
op._choices: op('_choices')(pkg.ones(2, 3), 3)
op._dropout: op('_dropout')(leaf, .5, 1, 2).sum().backward(); leaf.grad = None
op._dropout_from: op('_dropout_from')(leaf, op('_reserve_numbers')(leaf), .5).sum()
op._integers: op('_integers')(x, 0, 5)
op._integers_: op('_integers_')(w, 0, 5)
op._permutation: op('_permutation')(i)
op._permutation_: op('_permutation_')(pkg.arange(4))
op._diagonal_backward: op('_diagonal_backward')(x[0], (2, 2), 0, 0, 1)
op._index: op('_index')(x, [i])
op._index_put: op('_index_put')(x, [i], x)
op._index_put_: op('_index_put_')(w, [i], x)
op._linear_scan: op('_linear_scan')(x, x, 0)
op._prod_backward: op('_prod_backward')(x[:1], x, 0)
op._reverse_cumsum: op('_reverse_cumsum')(x, 0)
op._one_hot: op('_one_hot')(i, 5)
op._pad_backward: op('_pad_backward')(pkg.ones(2, 5), (2, 3), (1, 1), 'reflect')
op._repeated_places: op('_repeated_places')(i)
op._roll: op('_roll')(x, [1], [0])
op._row_major_copy: op('_row_major_copy')(x.t())
op._scatter: op('_scatter')(x, 0, i[None], x)
op._scatter_: op('_scatter_')(w, 0, i[None], x)
op._shape_as_tensor: op('_shape_as_tensor')(x)
op._search: op('_search')(x[0], x, False)
op._select_backward: op('_select_backward')(x[0], (2, 2), 0, 1)
op._sgd_step_: op('_sgd_step_')([w], [x], [w], 0., .9, .0, 0., False)
op._slice_backward: op('_slice_backward')(x, (4, 2), 0, 0, 4, 2)
op._slices: op('_slices')(x, 0, i)
op._slices_put: op('_slices_put')(x, 0, i, x)
op._slices_put_: op('_slices_put_')(w, 0, i, x)
op._strided_scatter: op('_strided_scatter')(x, x[0], (2,), (2,), 0)
op._strided_view: op('_strided_view')(x, (2,), (2,), 0)
op._trunc_divide: op('_trunc_divide')(x, x)
op._trunc_divide_: op('_trunc_divide_')(w, x)

other.hooks: y = leaf * 2; y.register_hook(nop); y.sum().backward()
other.error_in_hook: y = leaf * 2; y.register_hook(fail); raises(y.sum().backward)
other.node_hooks: y = leaf * 2; y.grad_fn.register_hook(nop); y.sum().backward()
other.function: Twice.apply(leaf).sum().backward()
other.error_in_function: raises(Fails.apply(leaf).sum().backward)
other.error_in_task: raises(core.submit(fail).result)
other.cancelled: e = core.ManualEvent(); core.submit(nop, deps=e).cancel(); e.set()
other.numpy: pkg.from_numpy(x.numpy())
other.pickle: pickle.loads(pickle.dumps(x))
other.deepcopy: copy.deepcopy(x)
other.printing: repr(x)
other.subclass_cycle: m = Mine._make_subclass(Mine, x); m.me = m
other.large: (large @ large).wait()
other.gc_traverse: gc.get_referents(x, leaf, graph, node, add, event, stream)
"""

#: Types across the border: the module of tests/border/, good calls and refused ones.
BORDER = """
ints: border.same_int32(2**20); raises(border.same_uint8, 300)
floats: border.same_double(1e300); raises(border.same_float, 'a')
bools: border.same_bool(True)
strings: border.same_string('t' * 99); raises(border.same_string, '\\ud800')
bytes: border.reversed_bytes(b'b' * 99); raises(border.reversed_bytes, 3)
vectors: border.doubled([1.0] * 20); raises(border.doubled, [1.0, 'a'])
nested: border.transposed([[1.0], [3.0]]); raises(border.transposed, [[1], [None]])
maps: border.raised({'k': 1.5}, 1); raises(border.raised, {1: 1}, 1)
unordered: border.count_words(border.by_length(['a', 'bb']))
pairs: border.swapped((1, 'a')); raises(border.swapped, (1,))
tuples: border.rotated(('a', True, 2.0)); raises(border.rotated, 'abc')
optional: border.half_of(3.0); border.half_of(None); raises(border.half_of, 'a')
enums: border.next_color(border.Color.Red); border.all_colors(); raises(border.no_color)
callables: border.call(abs, -2.5); raises(border.call, fail, 1.0)
threads: border.sum_on_threads(float, 2)
kept: border.listen(nop); border.tell('t'); border.forget()
handles: border.owner_of(border.Account('Ann')); raises(border.Account, '')
wrong_handles: raises(border.owner_of, None); raises(border.owner_of, border.Node(1))
shared: n = border.linked(1, border.Node(2)); n.next() == n.next(); hash(n.next())
cvar: border.cvar.hits = 5; border.cvar.hits; raises(delattr, border.cvar, 'hits')
cvar_text: border.cvar.title = "né"; raises(setattr, border.cvar, "title", 3)
"""

#: What is not called, and why.
EXEMPT = {
    "core.shutdown": "ends the pool of the process",
}
#: What the variant is not asked, and why.
NOT_ON_PYBIND11 = {
    "core._symbols": "the table is made of SWIG's declarations",
    "other.error_in_task": "the cycle collector cannot look into a class of pybind11",
}
