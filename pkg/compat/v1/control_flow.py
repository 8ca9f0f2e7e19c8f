# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's loops, choices and Python functions, over those of pkg.graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ... import graph as pg
from ...graph.bodies import BodyGraph, more_general
from ...graph.control_flow import Collecting
from ...graph.structures import flatten, outline, pack
from . import arrays, math, reduce
from .checks import Assert
from .collecting import Arrays
from .composites import check_alike, joined, shapes_of, spread
from .control import control_dependencies
from .convert import convert_to_tensor
from .dtypes import core_dtype
from .elements import Graph, get_default_graph

__all__ = ["case", "cond", "numpy_function", "py_func", "switch_case", "while_loop"]


class _Body(BodyGraph, Graph):
    """The graph of a part, with TensorFlow's vocabulary."""


Graph._bodies = _Body


def _tensor(value: Any) -> Any:
    return value if isinstance(value, pg.Symbol) else convert_to_tensor(value)


def _here(value: Any) -> Any:
    # A tensor of the part that is being built, also of one from outside.
    return get_default_graph().as_graph_element(_tensor(value))


def _limit(turns: Any) -> Any:
    turns = convert_to_tensor(turns, name="maximum_iterations")
    if turns.shape.ndims not in (0, None):
        raise ValueError(
            f"maximum_iterations must be a scalar, saw shape: {turns.shape}"
        )
    return turns


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None, maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Repeats the body as long as the condition holds; gives the last values.

    Loop variables are tensors, SparseTensors, IndexedSlices and TensorArrays, in lists,
    tuples and dicts.  Without back_prop no gradient flows through.  TypeError and
    ValueError where functions, structures, dtypes or shapes do not fit.
    """
    if not isinstance(parallel_iterations, int) or parallel_iterations < 1:
        raise TypeError(
            "'parallel_iterations' must be a positive int, got "
            f"{parallel_iterations!r}."
        )
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"{what} must be callable.")
    if not loop_vars and isinstance(loop_vars, (list, tuple)):
        raise ValueError("No loop variables provided")
    if not isinstance(loop_vars, (list, tuple)):
        loop_vars = [loop_vars]
    last: list[Any] = []  # what the body gave
    arrays_of_loop = Arrays(loop_vars)

    def turn(*values: Any) -> Collecting:
        result = body(*arrays_of_loop.before(values))
        single = len(loop_vars) == 1 and outline(result) == outline(loop_vars[0])
        if single or not isinstance(result, (list, tuple)):
            result = [result]
        result, pieces = arrays_of_loop.after(list(result))
        check_alike(list(loop_vars), result, "")
        last.append(pack(loop_vars, flatten(result)))
        made = spread(result, lambda value: value)
        kept = [_kept(*three) for three in zip(made, values, entered)]
        return Collecting(kept, pieces)

    graph = get_default_graph()
    with graph.as_default():
        entered = spread(loop_vars, _tensor)
        shapes = shapes_of(loop_vars, shape_invariants, entered)
        if maximum_iterations is not None:
            maximum_iterations = _limit(maximum_iterations)
        made, collected = pg.while_loop(
            lambda *values: arrays_of_loop.condition(cond, values),
            turn, entered, shapes, maximum_iterations, name,
            lambda value, dtype: _tensor(value),
        )  # fmt: skip
    made = [made] if len(entered) == 1 else made
    if not back_prop:
        made, collected = (
            [math.stop_gradient(m) if m.dtype.is_floating else m for m in side]
            for side in (made, collected)
        )
    result = arrays_of_loop.filled(joined(last[0], made), collected)
    leaves = flatten(result)
    return leaves[0] if len(leaves) == 1 and not return_same_structure else result


def _kept(value: Any, taken: Any, entered: Any) -> Any:
    # The next value of a variable, which has the dtype and the shape that it had.
    if not isinstance(value, pg.Symbol):
        value = convert_to_tensor(value, taken.dtype)
    if value.dtype != taken.dtype:
        raise TypeError(
            f"Input tensor {entered.name!r} enters the loop with dtype "
            f"{taken.dtype.name}, but has dtype {value.dtype.name} after one "
            f"iteration: {value}."
        )
    if not more_general(taken.shape, value.shape):
        said = "shape" if taken.shape == entered.shape else "the shape invariant"
        raise ValueError(
            f"Input tensor {entered.name!r} enters the loop with {said} {taken.shape}, "
            f"but has shape {value.shape} after one iteration. To allow the shape to "
            "vary "
            "across iterations, use the `shape_invariants` argument of tf.while_loop "
            "to specify a less-specific shape."
        )
    return value


def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False,
    name: str | None = None, fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """What true_fn gives where the predicate is true, else what false_fn gives.

    They may give what while_loop() takes, and operations: then a tensor of the
    predicate stands for each.  Without ``strict`` a list of one is what it holds.
    """
    true_fn, false_fn = true_fn or fn1, false_fn or fn2
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"{what} must be callable.")
    given: list[Any] = []  # of each function

    def tensor(value: Any) -> Any:
        if isinstance(value, pg.Operation):
            with control_dependencies([value]):
                return math.identity(pred)
        return _here(value)

    def branch(function: Any) -> Any:
        def call() -> list[Any]:
            result = function()
            if result is None:
                raise ValueError(f"{_NAMES[len(given)]} must have a return value.")
            if not strict and isinstance(result, (list, tuple)) and len(result) == 1:
                result = result[0]
            made = spread(result, tensor)
            given.append((result, [symbol.dtype for symbol in made]))
            if len(given) == 2:
                _check_branches(*given)
            return made

        return call

    with get_default_graph().as_default():
        made = pg.cond(pred, branch(true_fn), branch(false_fn), name)
    return joined(given[0][0], made)


_NAMES = ("true_fn", "false_fn")


def _check_branches(true: tuple[Any, list[Any]], false: tuple[Any, list[Any]]) -> None:
    said = "Incompatible return {} of true_fn and false_fn: "
    check_alike(true[0], false[0], said.format("values"))
    _check_sequences(true[0], false[0], said.format("types"))
    for one, other in zip(true[1], false[1]):
        if one != other:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{one.name}, {other.name}"
            )


def _check_sequences(true: Any, false: Any, said: str) -> None:
    # Of structures that are alike: a list is no tuple.
    if isinstance(true, Mapping):
        pairs = [(true[key], false[key]) for key in true]
    elif isinstance(true, (list, tuple)):
        fields = getattr(true, "_fields", None)
        named = fields is not None and fields == getattr(false, "_fields", None)
        if type(true) is not type(false) and not named:
            raise TypeError(
                f"{said}The two structures don't have the same sequence type. First "
                f"structure has type {type(true)}, while second structure has type "
                f"{type(false)}."
            )
        pairs = list(zip(true, false))
    else:
        return
    for one, other in pairs:
        _check_sequences(one, other, said)


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
    names = ", ".join(pred.name for pred in preds)
    made = []
    if preds and complete:
        said = f"Input error: None of conditions evaluated as True: {names}"
        made.append(Assert(reduce.reduce_any(arrays.stack(preds)), [said]))
    if preds and exclusive:
        said = f"Input error: more than 1 conditions evaluated as True: {names}"
        count = reduce.reduce_sum(math.to_int32(arrays.stack(preds)))
        made.append(Assert(math.less(count, 2), [said]))
    return made


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
