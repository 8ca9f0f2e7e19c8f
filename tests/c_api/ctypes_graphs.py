# SPDX-License-Identifier: Apache-2.0
"""Graphs and sessions through ctypes alone: `ctypes_graphs.py LIBRARY SCENARIO`.

Run as ctypes_client.py is, on whose small binding this stands.
"""

from __future__ import annotations

import ctypes as c
import gc
import sys
import threading
import time
import traceback

from ctypes_client import (
    DTYPES,
    INTS,
    SIGNATURES,
    Api,
    Device,
    Handle,
    Status,
    Tensor,
    raises,
    run_scenario,
)

HANDLES = c.POINTER(Handle)
FUNCTION = c.CFUNCTYPE(
    *[c.c_bool, c.c_void_p, HANDLES, c.c_size_t, HANDLES, c.c_size_t, Handle]
)
DESTROY = c.CFUNCTYPE(None, c.c_void_p)


class Body(c.Structure):
    """pkg_body."""

    _fields_ = [
        ("graph", Handle),
        ("inputs", HANDLES),
        ("n_inputs", c.c_size_t),
        ("outputs", HANDLES),
        ("n_outputs", c.c_size_t),
        ("targets", HANDLES),
        ("n_targets", c.c_size_t),
    ]


_GRAPH_AND_NAME = [Handle, c.c_char_p]
_LIST = [HANDLES, c.c_size_t]
_TEXT = (c.c_size_t, [Handle, c.c_char_p, c.c_size_t])
GRAPH_SIGNATURES = {
    "pkg_graph_new": (Handle, [Status]),
    "pkg_graph_delete": (None, [Handle]),
    "pkg_graph_placeholder": (
        Handle,
        [*_GRAPH_AND_NAME, c.c_int32, INTS, c.c_int32, Handle, Status],
    ),
    "pkg_graph_constant": (Handle, [*_GRAPH_AND_NAME, Handle, Status]),
    "pkg_graph_variable": (
        Handle,
        [*_GRAPH_AND_NAME, c.c_int32, INTS, c.c_int32, Status],
    ),
    "pkg_graph_assign": (Handle, [*_GRAPH_AND_NAME, Handle, Handle, Status]),
    "pkg_graph_gradients": (
        Handle,
        [*_GRAPH_AND_NAME, HANDLES, *_LIST, *_LIST, *_LIST, Status],
    ),
    "pkg_graph_group": (Handle, [*_GRAPH_AND_NAME, *_LIST, Status]),
    "pkg_graph_begin_body": (c.c_bool, [Handle, Status]),
    "pkg_graph_end_trace": (c.c_bool, [Handle, Status]),
    "pkg_graph_while": (
        Handle,
        [*_GRAPH_AND_NAME, c.POINTER(Body), c.POINTER(Body), *_LIST, Status],
    ),
    "pkg_graph_function": (
        Handle,
        [*_GRAPH_AND_NAME, FUNCTION, c.c_void_p, DESTROY, *_LIST]
        + [c.POINTER(c.c_int32), c.c_size_t, Status],
    ),
    "pkg_graph_finalize": (c.c_bool, [Handle, Status]),
    "pkg_graph_find": (Handle, _GRAPH_AND_NAME),
    "pkg_graph_operations": (c.c_size_t, [Handle, *_LIST]),
    "pkg_graph_connected": (c.c_bool, [Handle, Handle, Handle, *_LIST, Status]),
    "pkg_operation_name": _TEXT,
    "pkg_operation_type": _TEXT,
    "pkg_operation_output": (Handle, [Handle, c.c_size_t, Status]),
    "pkg_operation_output_shape": (
        c.c_int32,
        [Handle, c.c_size_t, INTS, c.c_size_t, Status],
    ),
    "pkg_session_new": (Handle, [Handle, Status]),
    "pkg_session_close": (c.c_bool, [Handle, Status]),
    "pkg_session_delete": (None, [Handle]),
    "pkg_session_make_callable": (Handle, [Handle, *_LIST, *_LIST, *_LIST, Status]),
    "pkg_callable_delete": (None, [Handle]),
    "pkg_callable_run": (c.c_bool, [Handle, *_LIST, c.c_double, HANDLES, Status]),
    "pkg_callable_unplanned": _TEXT,
    "pkg_failed_operation": (Handle, []),
    "pkg_session_variable": (Handle, [Handle, Handle, Status]),
    "pkg_session_set_variables": (c.c_bool, [Handle, HANDLES, *_LIST, Status]),
}


class GraphApi(Api):
    """The library with what it has of graphs."""

    signatures = SIGNATURES | GRAPH_SIGNATURES

    def text(self, name: str, handle: int) -> str:
        """What a function that writes text says of a handle."""
        length = getattr(self, name)(handle, None, 0)
        room = c.create_string_buffer(length + 1)
        getattr(self, name)(handle, room, len(room))
        return room.value.decode()


def handles(items: list) -> object:
    """Tensors, operations or None as an array of handles."""
    given = [item.handle if isinstance(item, Tensor) else item for item in items]
    return (Handle * len(items))(*given)


def sizes_of(shape: list) -> tuple:
    """A shape, with None for unknown sizes, as the C functions take it."""
    sizes = [-1 if size is None else size for size in shape]
    return (c.c_int64 * len(sizes))(*sizes), len(sizes)


class Graph:
    """A graph; deletes its reference at the end."""

    def __init__(self, api: GraphApi) -> None:
        self.api, self.handle = api, api.check("graph_new")

    def __del__(self) -> None:
        self.api.graph_delete(self.handle)

    def add(self, kind: str, name: str, *args: object) -> int:
        """A new operation, of pkg_graph_<kind>()."""
        return self.api.check(f"graph_{kind}", self.handle, name.encode(), *args)

    def output(self, operation: int, index: int = 0) -> Tensor:
        """The symbol of an output."""
        return Tensor(self.api, self.api.check("operation_output", operation, index))

    def placeholder(self, name: str, shape: list, dtype: str = "float32") -> Tensor:
        """The symbol of what is fed."""
        kind = DTYPES.index(dtype)
        return self.output(self.add("placeholder", name, kind, *sizes_of(shape), None))

    def variable(self, name: str, shape: list, dtype: str = "float32") -> int:
        """The operation of a variable."""
        kind = DTYPES.index(dtype)
        return self.add("variable", name, kind, *sizes_of(shape))

    def gradients(self, ys: list, xs: list) -> list:
        """Symbols of the gradients of the sum of the ys."""
        ends = handles(ys), None, len(ys), handles(xs), len(xs), None, 0
        made = self.add("gradients", "", *ends)
        return [self.output(made, i) for i in range(len(xs))]


class Session:
    """A session; closes it at the end."""

    def __init__(self, graph: Graph) -> None:
        self.api = graph.api
        self.handle = self.api.check("session_new", graph.handle)

    def __del__(self) -> None:
        self.api.session_delete(self.handle)

    def callable(self, feeds: list, fetches: list, targets: list = ()) -> Callable:
        """What to feed and to fetch, looked up once."""
        lists = [(handles(items), len(items)) for items in (feeds, fetches, targets)]
        flat = [argument for pair in lists for argument in pair]
        handle = self.api.check("session_make_callable", self.handle, *flat)
        return Callable(self.api, handle, len(fetches))

    def set(self, values: dict) -> None:
        """New values of variables, all at once."""
        tensors = handles(list(values.values()))
        args = handles(list(values)), tensors, len(values)
        self.api.check("session_set_variables", self.handle, *args)

    def value(self, variable: int) -> list:
        """The elements of a variable."""
        handle = self.api.check("session_variable", self.handle, variable)
        return Tensor(self.api, handle).values()

    def close(self) -> None:
        """Ends what runs."""
        self.api.check("session_close", self.handle)


class Callable:
    """Runs with values of the feeds."""

    def __init__(self, api: GraphApi, handle: int, n_fetches: int) -> None:
        self.api, self.handle, self.n_fetches = api, handle, n_fetches

    def __del__(self) -> None:
        self.api.callable_delete(self.handle)

    def __call__(self, *feeds: Tensor, timeout: float = 0) -> list:
        results = (Handle * self.n_fetches)()
        given = handles(list(feeds)), len(feeds)
        self.api.check("callable_run", self.handle, *given, timeout, results)
        return [Tensor(self.api, handle) for handle in results]


# --- Scenarios -----------------------------------------------------------------------


def builds_runs_and_differentiates(api: GraphApi) -> None:
    """error = sum((x @ w - t) ** 2), its gradients, steps of w."""
    graph = Graph(api)
    x, t = graph.placeholder("x", [None, 2]), graph.placeholder("t", [None, 1])
    kept = graph.variable("w", [2, 1])
    w = graph.output(kept)
    off = api.op("sub", api.op("matmul", x, w), t)
    error = api.op("sum", api.op("mul", off, off))
    of_w, of_x = graph.gradients([error], [w, x])
    change = api.op("sub", w, api.op("mul", of_w, 0.03))
    step = graph.add("assign", "step", kept, change.handle)
    assert api.graph_connected(
        graph.handle, error.handle, w.handle, None, 0, api.status()
    )

    assert api.graph_find(graph.handle, b"step") == step
    assert api.text("operation_name", kept) == "w"
    assert api.text("operation_type", kept) == "Variable"
    n = api.graph_operations(graph.handle, None, 0)
    found = (Handle * n)()
    assert api.graph_operations(graph.handle, found, n) == n
    names = [api.text("operation_name", operation) for operation in found]
    assert names[:3] == ["x", "t", "w"] and len(set(names)) == n
    sizes = (c.c_int64 * 2)()
    assert api.check("operation_output_shape", found[0], 0, sizes, 2) == 2
    assert list(sizes) == [-1, 2]

    session = Session(graph)
    session.set({kept: api.tensor([1.0, -1.0], (2, 1))})
    rows, wanted = api.tensor([1, 2, 3, 4], (2, 2)), api.tensor([1, 2], (2, 1))
    look = session.callable([x, t], [error, of_w, of_x])
    # x @ w - t is (-2, -3); the gradients are 2 * x.T @ off and 2 * off @ w.T.
    values = [tensor.values() for tensor in look(rows, wanted)]
    assert values == [[13], [-22, -32], [-4, 4, -6, 6]]
    assert api.text("callable_unplanned", look.handle) == ""
    # Another number of rows is another plan of the same callable.
    one = look(api.tensor([1, 0], (1, 2)), api.tensor([0], (1, 1)))
    assert [t.values() for t in one] == [[1], [2, 0], [2, -2]]
    # A symbol in the middle is fed: nothing before it runs.
    (fed,) = session.callable([off], [error])(api.tensor([3, 4], (2, 1)))
    assert fed.values() == [25]

    train = session.callable([x, t], [], [step])
    for _ in range(1000):
        assert train(rows, wanted) == []
    assert look(rows, wanted)[0].values()[0] < 1e-4
    # [[1, 2], [3, 4]] @ w = [1, 2] has the solution (0, 0.5).
    assert all(abs(a - b) < 1e-2 for a, b in zip(session.value(kept), [0, 0.5]))


def says_what_is_wrong(api: GraphApi) -> None:
    """Feeds, variables without a value, closed sessions, foreign symbols."""
    graph, other = Graph(api), Graph(api)
    x = graph.placeholder("x", [None, 2])
    kept = graph.variable("w", [2])
    y = api.op("add", x, graph.output(kept))
    stranger = other.placeholder("z", [2])
    session = Session(graph)
    run = session.callable([x], [y])
    rows, two = api.tensor([1, 2], (1, 2)), api.tensor([1, 2])

    text = "Attempting to use uninitialized value w"
    raises("RuntimeError", text, run, rows)
    assert api.text("operation_name", api.failed_operation()) == "add"
    text = "expected float32 of shape (2,) for w, got float64"
    raises("ValueError", text, session.set, {kept: api.tensor([1, 2], dtype="float64")})
    session.set({kept: two})
    assert run(rows)[0].values() == [2, 4] and not api.failed_operation()

    text = "Cannot feed value of shape (2,) for Tensor 'x:0', which has shape"
    raises("ValueError", text, run, two)
    text = "Cannot feed int64 for Tensor 'x:0', which has dtype float32"
    raises("TypeError", text, run, api.tensor([1, 2], (1, 2), "int64"))
    meta = [api.op("zeros", sizes, device=Device(1)) for sizes in ([1, 2], [2])]
    text = "Cannot feed a tensor on the device meta, which has no values, for Tensor"
    raises("ValueError", text, run, meta[0])
    text = "expected a tensor with values for w, got one on the device meta"
    raises("ValueError", text, session.set, {kept: meta[1]})
    raises("ValueError", "expected 1 feeds, got 0", run)
    raises("TypeError", "cannot be a symbol of a graph", run, x)
    text = "must feed a value for placeholder tensor 'x'"
    raises("ValueError", text, session.callable([], [y]))
    text = "is not an element of this graph"
    raises("ValueError", text, session.callable, [stranger], [y])
    raises("ValueError", text, session.callable, [], [stranger])
    raises("ValueError", "is fed twice", session.callable, [x, x], [y])
    raises("TypeError", "expected a graph, got NULL", api.check, "session_new", None)
    raises("TypeError", "symbol of a graph", y.values)
    raises("IndexError", "expected an output below 1", graph.output, kept, 1)
    assert run(rows)[0].values() == [2, 4]  # none of this has harmed it

    api.check("graph_finalize", graph.handle)
    raises("RuntimeError", "Graph is finalized", api.op, "add", x, x)
    session.close()
    session.close()
    text = "Attempted to use a closed Session"
    raises("RuntimeError", text, run, rows)
    raises("RuntimeError", text, session.set, {kept: two})


def python_functions_and_loops(api: GraphApi) -> None:
    """A callback in Python, its error, and a loop that a timeout ends."""
    destroyed = []

    @FUNCTION
    def halved(_, inputs, n_inputs, outputs, n_outputs, status) -> bool:
        try:
            values = Tensor(api, inputs[0], owned=False).values()
            if min(values) < 0:
                raise ValueError(f"negative: {min(values)}")
            made = api.tensor([value / 2 for value in values])
            outputs[0] = api.tensor_retain(made.handle)
        except ValueError as error:
            api.status_set(status, 2, str(error).encode())
            return False
        return True

    gone = DESTROY(destroyed.append)
    graph = Graph(api)
    x = graph.placeholder("x", [3])
    kinds = (c.c_int32 * 1)(DTYPES.index("float32"))
    called = graph.add("function", "halve", halved, 7, gone, handles([x]), 1, kinds, 1)
    y = api.op("add", graph.output(called), 1)

    condition, body = Graph(api), Graph(api)
    seen = condition.placeholder("v", [3])
    api.check("graph_begin_body", condition.handle)
    goes_on = api.op("all", api.op("lt", seen, 100))
    api.check("graph_end_trace", condition.handle)
    old = body.placeholder("v", [3])
    api.check("graph_begin_body", body.handle)
    new = api.op("mul", old, x)  # x is captured
    api.check("graph_end_trace", body.handle)
    parts = [
        Body(part.handle, handles([taken]), 1, handles([given]), 1, None, 0)
        for part, taken, given in [(condition, seen, goes_on), (body, old, new)]
    ]
    both = [c.byref(part) for part in parts]
    loop = graph.add("while", "loop", *both, handles([y]), 1)
    last = graph.output(loop)

    session = Session(graph)
    run = session.callable([x], [y, last])
    values = [found.values() for found in run(api.tensor([4, 2, 1]))]
    assert values == [[3, 2, 1.5], [192, 16, 1.5]]
    raises("ValueError", "negative: -1.0", run, api.tensor([4, -1, 2]))
    assert api.failed_operation() == called
    began = time.monotonic()  # ones stay below 100: the loop has no end
    ones = api.tensor([1, 1, 1])
    raises("CancelledError", "Timed out", run, ones, timeout=0.05)
    assert time.monotonic() - began < 0.55
    # The thread keeps the operation that failed, until its next run.
    assert run(api.tensor([4, 4, 4]))[0].values() == [3] * 3
    del session, run, graph, condition, body, x, y, seen, goes_on, old, new, last
    gc.collect()
    assert destroyed == [7]


def threads_share_a_session(api: GraphApi) -> None:
    """Eight of them run while weights are swapped: each sees one version of both."""
    graph = Graph(api)
    x = graph.placeholder("x", [None])
    pair = [graph.variable(name, [4]) for name in ("a", "b")]
    a, b = [graph.output(operation) for operation in pair]
    gap = api.op("add", api.op("sum", api.op("sub", a, b)), api.op("sum", x))
    session = Session(graph)
    session.set({operation: api.tensor([0.0] * 4) for operation in pair})
    run = session.callable([x], [gap])
    failures = []

    def work(number: int) -> None:
        try:
            fed = api.tensor([1.0] * number)
            for i in range(100):
                assert run(fed)[0].values() == [number]
                values = api.tensor([float(100 * number + i)] * 4)
                session.set({operation: values for operation in pair})
        except BaseException:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


SCENARIOS = [
    builds_runs_and_differentiates,
    says_what_is_wrong,
    python_functions_and_loops,
    threads_share_a_session,
]


def main(library: str, scenario: str) -> None:
    """One of the scenarios above, by name."""
    run_scenario(GraphApi(library), globals()[scenario])


if __name__ == "__main__":
    main(*sys.argv[1:])
