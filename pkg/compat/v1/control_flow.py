# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's loops, choices and Python functions, over those of pkg.graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import graph as pg
from ...graph.control_flow import BodyGraph
from . import math
from .control import control_dependencies
from .convert import convert_to_tensor
from .dtypes import core_dtype
from .elements import Graph, get_default_graph

__all__ = ["case", "cond", "numpy_function", "py_func", "switch_case", "while_loop"]


class _Body(BodyGraph, Graph):
    """The graph of a part, with TensorFlow's vocabulary."""


Graph._bodies = _Body


def _convert(value: Any, dtype: Any) -> Any:
    return value if isinstance(value, pg.Symbol) else convert_to_tensor(value, dtype)


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None, maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Repeats the body as long as the condition holds; gives the last values."""
    if not isinstance(parallel_iterations, int) or parallel_iterations < 1:
        raise TypeError(
            "'parallel_iterations' must be a positive int, got "
            f"{parallel_iterations!r}."
        )
    with get_default_graph().as_default():
        result = pg.while_loop(
            cond, body, loop_vars, shape_invariants, maximum_iterations, name, _convert
        )
    if return_same_structure and isinstance(result, pg.Symbol):
        return type(loop_vars)([result])
    return result


def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False,
    name: str | None = None, fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """What true_fn gives where the predicate is true, else what false_fn gives."""
    true_fn, false_fn = true_fn or fn1, false_fn or fn2
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"'{what}' must be callable, got {function!r}.")
    with get_default_graph().as_default():
        result = pg.cond(pred, true_fn, false_fn, name, _convert)
    if not strict and isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def _pairs(pred_fn_pairs: Any) -> list[tuple[Any, Callable[[], Any]]]:
    if isinstance(pred_fn_pairs, dict):
        pred_fn_pairs = list(pred_fn_pairs.items())
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError("'pred_fn_pairs' must be a list, tuple, or dict.")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in 'pred_fn_pairs' must be a 2-tuple.")
        pred, function = pair
        if not isinstance(pred, pg.Symbol) or pred.dtype.name != "bool":
            raise TypeError(f"pred must be a Tensor of bool, got {pred!r}.")
        if not callable(function):
            raise TypeError(f"fn for pred {pred.name} must be callable.")
    return list(pred_fn_pairs)


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False,
    strict: bool = False, name: str = "case",
) -> Any:  # fmt: skip
    """What the function of the first true predicate gives, or the default one.

    exclusive: that several are true is an error of the run.
    """
    pairs = _pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    if not pairs and default is None:
        raise ValueError("[case] expected a pair or a default, got none.")
    graph = get_default_graph()
    with graph.as_default(), graph.name_scope(name):
        checks = _checks([pred for pred, _ in pairs], default is None, exclusive)
        with control_dependencies(checks):
            made = default or pairs.pop()[1]
            for pred, function in reversed(pairs):
                made = _choice(pred, function, made, strict)
            return made()


def _choice(pred: Any, function: Any, otherwise: Any, strict: bool) -> Any:
    return lambda: cond(pred, function, otherwise, strict=strict)


def _checks(preds: list[Any], complete: bool, exclusive: bool) -> list[Any]:
    def check(*values: Any) -> None:
        n = sum(bool(value) for value in values)
        if complete and n == 0:
            raise ValueError("assertion failed: None of conditions evaluated as True.")
        if exclusive and n > 1:
            raise ValueError(
                "assertion failed: more than 1 conditions evaluated as True."
            )

    if not preds or not (complete or exclusive):
        return []
    return [pg.py_func(check, preds, [], "check")]


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """What the function of this number gives; the default, or the last, for others."""
    if isinstance(branch_fns, dict):
        branch_fns = list(branch_fns.items())
    numbered = [
        pair if isinstance(pair, tuple) else (number, pair)
        for number, pair in enumerate(branch_fns)
    ]
    if default is None:
        default = numbered.pop()[1]
    pairs = [
        (math.equal(branch_index, number), function) for number, function in numbered
    ]
    return case(pairs, default, name=name)


def py_func(
    func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """A Python function of arrays as an operation, called in every run."""
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r}.")
    symbols = [convert_to_tensor(value) for value in inp]
    kind = "PyFunc" if stateful else "PyFuncStateless"
    several = isinstance(Tout, (list, tuple))
    kinds = [core_dtype(each) for each in Tout] if several else core_dtype(Tout)
    with get_default_graph().as_default():
        return pg.py_func(func, symbols, kinds, name or kind)


def numpy_function(
    func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """The same as py_func."""
    return py_func(func, inp, Tout, stateful, name)
