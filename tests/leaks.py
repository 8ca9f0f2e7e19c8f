# SPDX-License-Identifier: Apache-2.0
"""Calls everything the binding has, over and over, and reports what grows.

    python tests/leaks.py [CALLS] [PART/OF] [NAME...]

CALLS (default 1000000) is how often each kind is called, NAME picks kinds by a part of
their name, and 1/2 picks every second of them, so that two processes share the work.
Watched are the reference counts of the arguments and of lasting objects, live tensors
and graph nodes, Python's blocks, and the bytes of malloc (exact where AddressSanitizer
counts them, see tests/sanitizers.py).  tests/binding/test_leaks.py calls less.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "support")]
sys.path.append(str(HERE.parent))  # behind what PYTHONPATH says

import pkg  # noqa: E402
import pkg.graph  # noqa: E402
from bindings.probes.errors import CALLS as WRONG_CALLS, iadd  # noqa: E402
from leak_calls import CALLS, EXEMPT  # noqa: E402
from op_table import CASES  # noqa: E402
from op_values import InPlace, floating, inputs_of  # noqa: E402
from pkg._binding import core  # noqa: E402

# Attributes that Python or the generator gives every class.
COMMON = {"__doc__", "__module__", "__slots__", "__dict__", "__weakref__"}
COMMON.add("__slotnames__")  # left by the copy module
COMMON |= {"__vectorcalloffset__", "__weaklistoffset__", "__dictoffset__"}

Repeat = Callable[[int], None]  # makes the call so many times


def raises(call: Callable[..., object], *args: object) -> None:
    """Calls what must fail."""
    try:
        call(*args)
    except Exception:  # noqa: BLE001  (which one is not the question here)
        return
    raise AssertionError(f"{call} did not fail")


class Mine(pkg.Tensor):
    """A subclass, with a dict."""


class Twice(pkg.autograd.Function):
    """2 x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Fails(Twice):
    """The same with an error in backward."""

    @staticmethod
    def backward(ctx, grad):
        raise KeyError("backward")


def fail(*_: object) -> None:
    """The callable of tasks and hooks that fail."""
    raise KeyError("fail")


def traced() -> tuple[Any, pkg.Tensor, pkg.Tensor]:
    """A graph, a placeholder 'a' and twice that."""
    graph_of_symbols = pkg.graph.Graph()  # which the symbols keep
    graph = graph_of_symbols._handle
    placed = graph.placeholder("a", pkg.float32, [-1, 2]).output(0)
    graph.begin_trace("twice")
    symbol = placed * 2
    graph.end_trace()
    return graph, placed, symbol


def body_of(*targets: Any) -> Any:
    """The handle of a body without inputs and outputs."""
    return core.BodyHandle(core.GraphHandle(), [], [], list(targets))


def while_of(n: int) -> Any:
    """A loop that counts to n, as an operation."""
    outer = pkg.graph.Graph()
    with outer.as_default():
        loop = pkg.graph.while_loop(lambda i: i < n, lambda i: i + 1, [0])
        assert int(pkg.graph.Session().run(loop)) == n
    return loop


def cond_of(value: bool) -> Any:
    """What a choice gives for this value."""
    outer = pkg.graph.Graph()
    with outer.as_default():
        pred = pkg.graph.constant(value)
        made = pkg.graph.cond(pred, lambda: pred, lambda: pkg.graph.constant(True))
        return pkg.graph.Session().run(made)


def function_of(call: Any) -> Any:
    """What a run of the function of no arguments gives."""
    outer = pkg.graph.Graph()
    with outer.as_default():
        made = pkg.graph.py_func(call, [], pkg.float64)
        return pkg.graph.Session().run(made)


def compiled_of(leaf: pkg.Tensor) -> Any:
    """A function that uses a leaf, traced at its first call."""
    return pkg.compile(lambda x: x * leaf)


def with_variable() -> tuple[Any, Any]:
    """A graph and its variable."""
    graph = core.GraphHandle()
    return graph, graph.variable("v", pkg.float32, [2, 2])


def wrapper_of(function: Callable[..., Any]) -> Any:
    """The function as the wrapper of an op of one tensor."""
    return core.OpWrapper(function, "pkg::neg", {"x": "self"})


def scope() -> dict[str, Any]:
    """The names that the lines of CALLS use."""
    graph_, placed, symbol = traced()
    variable = graph_.variable("v", pkg.float32, [2, 2])
    session = core.SessionHandle(graph_)
    leaf = pkg.ones(2, 2, requires_grad=True)
    graph = leaf * 2
    function = core._record_function("f", (leaf,), (pkg.ones(1),), int, True, (leaf,))
    event, failed = core.submit(int), core.submit(fail)
    raises(failed.wait)
    event.wait()
    # fmt: off
    return {
        "core": core, "pkg": pkg, "np": np, "gc": gc, "copy": copy, "pickle": pickle,
        "raises": raises, "fail": fail, "nop": lambda *_: None,
        "Mine": Mine, "Twice": Twice, "Fails": Fails,
        "x": pkg.tensor([[1.0, 2.0], [3.0, 4.0]]), "w": pkg.ones(2, 2),
        "i": pkg.tensor([0, 1]), "one": pkg.tensor(1.0), "leaf": leaf, "graph": graph,
        "spare": pkg.ones(2, 2, requires_grad=True), "node": graph.grad_fn,
        "function": function,
        "handle": graph.register_hook(fail), "large": pkg.ones(100, 100),
        "array": np.ones(3), "scalar": np.float32(2),
        "add": core.Operator("add"), "op": core.Operator,
        "wrapper_of": wrapper_of, "neg": wrapper_of(lambda x, name=None: x),
        "cpu": core.device("cpu"), "event": event, "failed": failed,
        "stream": core.Stream(), "other": core.Stream(),
        "traced": traced, "with_variable": with_variable, "body_of": body_of,
        "compiled_of": compiled_of,
        "while_of": while_of, "cond_of": cond_of, "function_of": function_of,
        "graph_": graph_,
        "placed": placed, "symbol": symbol, "variable": variable, "session": session,
        "operation": core.OperationHandle.of(symbol),
        "call": session.make_callable([placed], [symbol], []),
        "isa": core.isa_name(), "threads": core.num_threads(),
    }
    # fmt: on


def compiled(line: str, names: dict[str, Any], may_fail: bool = False) -> Repeat:
    """A function of n that runs the statements of this line n times."""
    body = f"        {line}\n"
    if may_fail:
        body = f"        try: {line}\n        except Exception: pass\n"
    found: dict[str, Any] = {}
    exec(f"def run(n):\n    for _ in range(n):\n{body}", names, found)
    return found["run"]


def repeated(call: Callable[[], object]) -> Repeat:
    """A function of n that calls this n times."""

    def run(n: int) -> None:
        for _ in range(n):
            call()

    return run


def tensors_of(case: Any, requires_grad: bool = False) -> list[pkg.Tensor]:
    """The inputs of a row of the op table, floats as float32."""
    tensors = [pkg.tensor(a) for a in inputs_of(case)]
    tensors = [t.float() if t.dtype is pkg.float64 else t for t in tensors]
    if requires_grad:
        tensors = [t.requires_grad_() if t.is_floating_point() else t for t in tensors]
    return tensors


def differentiate(case: Any, leaves: list[pkg.Tensor]) -> None:
    """Forward and backward of one op."""
    total = sum(r.sum() for r in floating(case.call(pkg, *leaves)))
    if total.requires_grad:
        total.backward()
    for leaf in leaves:
        leaf.grad = None


def op_kinds() -> dict[str, Repeat]:
    """Every op of the table: called, called in place, differentiated."""
    kinds: dict[str, Repeat] = {}
    for case in CASES:
        if f"op.{case.name}" in kinds:
            continue
        tensors = tensors_of(case)
        result = case.call(pkg, *tensors)
        kinds[f"op.{case.name}"] = repeated(lambda c=case, t=tensors: c.call(pkg, *t))
        if case.differentiable:
            leaves = tensors_of(case, requires_grad=True)
            kinds[f"gradient.{case.name}"] = repeated(
                lambda c=case, v=leaves: differentiate(c, v)
            )
        if hasattr(pkg.Tensor, f"{case.name}_") and tensors:
            form = InPlace(case.name)
            fits = (result.shape, result.dtype) == (tensors[0].shape, tensors[0].dtype)
            call = lambda c=case, f=form, t=tensors: c.call(f, *t)  # noqa: E731
            # Where it does not fit, that is an error: a kind of its own.
            kinds[f"op.{case.name}_"] = repeated(
                call if fits else lambda call=call: raises(call)
            )
    return kinds


def kinds(names: dict[str, Any]) -> dict[str, Repeat]:
    """All calls by name; `names` is what scope() gave."""
    found: dict[str, Repeat] = {}
    for text in filter(None, CALLS.splitlines()):
        name, _, line = text.partition(": ")
        found[name] = compiled(line, names)
    names["y"], names["iadd"] = names["graph"], iadd
    for line in WRONG_CALLS:
        found[f"wrong.{line}"] = compiled(line, names, may_fail=True)
    for name, call in op_kinds().items():
        found.setdefault(name, call)
    return found


def required() -> set[str]:
    """The names that must be called, found by looking into the module.

    Ops with an underscore in front are parts of others, above all of their gradients.
    """
    ops = core.operator_names("pkg")
    names = {f"op.{name}" for name in ops if not name.startswith("_")}
    for name, value in vars(core).items():
        if isinstance(value, type):
            if not issubclass(value, BaseException):
                names |= {f"{name}.{member}" for member in set(vars(value)) - COMMON}
        elif callable(value) and not name.startswith("__"):
            names.add(f"core.{name}")
    return names - set(EXEMPT)


# --- Measuring -----------------------------------------------------------------------


def malloc_bytes() -> Callable[[], int]:
    """A function that tells the bytes in use by C and C++."""
    process = ctypes.CDLL(None)
    try:  # exact, where AddressSanitizer is loaded
        exact = process.__sanitizer_get_current_allocated_bytes
    except AttributeError:
        pass
    else:
        exact.restype = ctypes.c_size_t
        return exact

    class MallInfo(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]

    info = process.mallinfo2
    info.restype = MallInfo
    return lambda: info().h  # uordblks


_malloc_bytes = malloc_bytes()


class Counts:
    """Everything that must not grow, by name."""

    def __init__(self, watched: dict[str, object]) -> None:
        core.synchronize()
        gc.collect()
        self.values = {
            "tensors": core.live_tensors(),
            "nodes": core.live_nodes(),
            "events": core.live_events(),
            "streams": core.live_streams(),
            "blocks of Python": sys.getallocatedblocks(),
            "bytes of malloc": _malloc_bytes(),
        }
        for name, value in watched.items():
            self.values[f"references to {name}"] = sys.getrefcount(value)


def growth(run: Repeat, calls: int, watched: dict[str, object]) -> dict[str, int]:
    """What has grown with the number of calls: {} when everything is flat.

    Noticed is what gets lost every tenth call, or eight bytes in each.  Caches fill and
    threads start at some time, so what grows is tried again with more calls: at last
    with so many that the 230 KB of freed memory that a thread may keep are not noticed.
    """
    run(calls // 10 + 10)
    for _ in range(5):
        before = Counts(watched).values
        run(calls)
        after = Counts(watched).values
        grown = {}
        for name, value in after.items():
            slack = calls * 8 if name == "bytes of malloc" else calls // 10
            if value - before[name] > slack:
                grown[name] = value - before[name]
        if not grown:
            break
        calls *= 4
    return grown


def lasting(names: dict[str, Any]) -> dict[str, object]:
    """Objects that calls take and give back."""
    found = {f"{n!r} of the calls": v for n, v in names.items()}
    for value in (None, True, False, (), "", 0, pkg.Tensor, core.Tensor, pkg.float32):
        found[repr(value)] = value
    return found


def main(args: list[str]) -> int:
    """Exit status: 0 when everything is flat."""
    calls = int(args.pop(0)) if args and args[0].isdigit() else 1_000_000
    share = args.pop(0) if args and re.fullmatch(r"\d+/\d+", args[0]) else "1/1"
    part, of = map(int, share.split("/"))
    names = scope()
    watched = lasting(names)
    picked = [
        (name, run)
        for name, run in kinds(names).items()
        if not args or any(text in name for text in args)
    ]
    chosen = dict(picked[part - 1 :: of])
    gc.freeze()  # the collector looks at what the calls make, not at all the modules
    print(f"{core.__name__} of {pkg.__file__}", flush=True)
    failed, began = 0, time.monotonic()
    for number, (name, run) in enumerate(chosen.items()):
        if number % 50 == 0:
            seconds = time.monotonic() - began
            print(f"{number} of {len(chosen)} kinds, {seconds:.0f} s", flush=True)
        grown = growth(run, calls, watched)
        if grown:
            failed += 1
            print(f"{name}: grows in {calls} calls: {grown}", flush=True)
    print(f"{len(chosen)} kinds, {calls} calls each: {failed} grow")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
