# SPDX-License-Identifier: Apache-2.0
"""Rewriting: another graph from a graph, with other operations in the place of some."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._binding import core
from .building import Graph
from .definition_values import Definition, Node, Reference
from .describing import describe
from .graph_def import brief
from .node_builder import Builder
from .reading import read
from .sessions import Session
from .symbols import Operation, Symbol
from .variables import Variable

__all__ = ["Rewrite", "rewrite"]

Attributes = dict[str, Any]
AttributeMap = Mapping[str, Any] | Callable[[Attributes], Attributes]


class _Rule:
    """What takes the place of the operations that it matches."""

    def __init__(
        self, name: str, function: Any, attr_map: Any, where: Any, by_name: bool
    ) -> None:
        self.name, self.function = name, function
        self.attr_map, self.where = attr_map, where
        self.by_name = by_name  # whether tensors are given by name

    def matches(self, op: Operation) -> bool:
        registered = str(op._handle.type())
        if self.name not in (op.type, registered, registered.partition(".")[0]):
            return False
        return self.where is None or bool(self.where(op))


class Rewrite:
    """A change of a graph that is described first and then applied.

    The graph itself is never changed: ``apply`` makes another one, and to undo it is to
    go on with the old one.
    """

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"[rewrite] expected a Graph, got {type(graph).__name__}.")
        self._old = graph
        self._rules: list[_Rule] = []
        self._made: tuple[int, _Rewriter] | None = None

    graph = property(lambda self: self._old, doc="The graph, which is not changed.")

    def replace_op(
        self,
        name: str,
        replacement: str | Callable[..., Any],
        attr_map: AttributeMap | None = None,
        where: Callable[[Operation], bool] | None = None,
    ) -> Rewrite:
        """Something else for the operations of a type; gives this object again.

        name: "relu", or one overload, "sum.dim".
        replacement: the name of an op, which is called with the same arguments by name,
        or a function.  That is called with the tensors before the first other argument,
        and with all others by name, and returns as many tensors as the operation has;
        the new graph is the default one meanwhile.  Arguments that have the op's
        defaults are left out.
        attr_map: other names of arguments, None for those to leave out; or a function
        that takes and returns the dict of those that are no tensors.
        where: says of an operation whether it is meant.

        The first replacement that matches an operation counts.  ValueError for what is
        no op of the registry.
        """
        if not isinstance(name, str):
            raise TypeError(
                f"[replace_op] expected the type of operations, got "
                f"{type(name).__name__}."
            )
        by_name = isinstance(replacement, str)
        if isinstance(replacement, str):
            space, _, plain = replacement.rpartition("::")
            try:
                function: Any = core.Operator(plain.partition(".")[0], space or "pkg")
            except (AttributeError, RuntimeError, ValueError) as error:
                raise ValueError(
                    f"[replace_op] expected the name of an op, got {replacement!r} "
                    f"({brief(error)})."
                ) from None
        elif callable(replacement):
            function = replacement
        else:
            raise TypeError(
                "[replace_op] expected the name of an op or a function, got "
                f"{type(replacement).__name__}."
            )
        self._rules.append(_Rule(name, function, attr_map, where, by_name))
        self._made = None
        return self

    def remove(
        self, name: str, where: Callable[[Operation], bool] | None = None
    ) -> Rewrite:
        """Takes operations out: who used their output uses their first tensor."""

        def first(*tensors: Any, **_: Any) -> Any:
            if not tensors:
                raise ValueError("it takes no tensor that could stand in its place")
            return tensors[0][0] if isinstance(tensors[0], list) else tensors[0]

        return self.replace_op(name, first, None, where)

    def matches(self) -> list[Operation]:
        """The operations of the graph that would be replaced."""
        return [op for op in self._old.get_operations() if self._rule_of(op)]

    def _rule_of(self, op: Operation) -> _Rule | None:
        return next((rule for rule in self._rules if rule.matches(op)), None)

    def apply(self) -> Graph:
        """The new graph; the same one until something changes.

        Shapes and dtypes are inferred again.  Operations keep their names; what a
        function adds stands under the name of the operation that it replaces.
        GraphDefError, a ValueError, names the operation where it fails.
        """
        return self._rewriter().graph

    def _rewriter(self) -> _Rewriter:
        version = self._old.version
        if self._made is None or self._made[0] != version:
            definition = read(describe(self._old))
            rules = {}
            for op in self._old.get_operations():
                rule = self._rule_of(op)
                if rule is not None:
                    rules[op.name] = rule
            made = _Rewriter(Graph(), definition, rules)
            made.add()
            made.finish()
            self._made = version, made
        return self._made[1]

    def element(self, old: Any) -> Any:
        """What stands in the new graph for a symbol or operation of the old one."""
        found = self._old.as_graph_element(old)
        return self._rewriter().find(found.name)

    def diff(self) -> str:
        """What changes, as text: lines with "-" and "+" before operations.

        "" if nothing changes.
        """
        old, new = _lines(self._old), _lines(self.apply())
        lines = difflib.unified_diff(old, new, n=0, lineterm="")
        return "\n".join(list(lines)[2:])

    def check(
        self,
        inputs: Mapping[Any, Any] | None = None,
        rtol: float = 1e-5,
        atol: float = 1e-6,
        fetches: Iterable[Any] | None = None,
        session: Any = None,
        seed: int = 0,
        unknown: int = 3,
    ) -> dict[str, float]:
        """Runs both graphs and compares; returns the largest difference of each fetch.

        inputs: values of placeholders by symbol or name; others are random numbers of
        the seed, with `unknown` for sizes that are not known.
        fetches: symbols of the old graph; None: those that nothing uses.
        session: one of the old graph, whose values variables have; None: those of
        their initializers.  It is not changed.

        ValueError for the first fetch of which dtype, shape or values differ by more
        than ``atol + rtol * abs(old value)``; a NaN equals a NaN.
        """
        if session is not None and session.graph is not self._old:
            raise ValueError("[check] expected a session of the graph.")
        if fetches is None:
            symbols = _unused(self._old)
        else:
            symbols = [
                self._old.as_graph_element(item, allow_operation=False)
                for item in fetches
            ]
        if not symbols:
            raise ValueError("[check] the graph has no output to compare.")
        feeds = _feeds(self._old, inputs or {}, seed, unknown)
        drawn = core.initial_seed(), core.random_position()
        try:
            values = _variables(self._old, session, feeds)
            results = self._runs(symbols, feeds, values, seed)
        finally:
            core.set_random_state(*drawn)
        return {
            symbol.name: _difference(symbol.name, old, found, rtol, atol)
            for symbol, old, found in zip(symbols, *results)
        }

    def _runs(
        self, symbols: list[Symbol], feeds: dict[Symbol, Any], values: Any, seed: int
    ) -> list[list[Any]]:
        # Of the old graph, and of the new one.
        results = []
        for new in (False, True):
            fetches: list[Any] = [self.element(s) if new else s for s in symbols]
            fed = {self.element(s) if new else s: v for s, v in feeds.items()}
            with Session(graph=self.apply() if new else self._old) as session:
                if values:
                    session.swap_weights(values)
                core.manual_seed(seed)  # both draw the same numbers
                results.append(session.run(fetches, fed))
        return results


def rewrite(graph: Graph) -> Rewrite:
    """Begins a change of a graph, which stays as it is: see ``Rewrite``."""
    return Rewrite(graph)


class _Rewriter(Builder):
    """Adds the nodes of a graph to another one, and what replaces some of them."""

    def __init__(
        self, graph: Graph, definition: Definition, rules: dict[str, _Rule]
    ) -> None:
        super().__init__(graph, definition)
        self.rules = rules
        self.changed |= set(rules)
        self.defaults: dict[str, Attributes] = {}  # of arguments, by the type of ops
        for name in definition.nodes:  # no function takes them
            graph._handle.unique_name(name, True)

    def make(self, node: Node) -> None:
        rule = self.rules.get(node.name)
        if rule is None:
            return super().make(node)
        leading, named = self._arguments(node, rule)
        with self.graph.as_default(), self.scope(node):
            if rule.by_name:
                name = self.taken(node.name)
                found = self.graph.record(name, lambda: rule.function(**named))
            else:
                with self.graph._with(prefix=node.name + "/"):
                    found = rule.function(*leading, **named)
            items = found if isinstance(found, (list, tuple)) else [found]
            symbols = [self._symbol(node, item) for item in items]
        if len(symbols) != len(node.outputs):
            raise node.error(
                f"expected {len(node.outputs)} tensors from what replaces {node.op}, "
                f"got {len(symbols)}"
            )
        self.show(node, symbols, [symbol.op for symbol in symbols])

    def _symbol(self, node: Node, item: Any) -> Symbol:
        if isinstance(item, Symbol):
            found: Symbol = self.graph.as_graph_element(item)
            return found
        if not isinstance(item, core.Tensor):
            raise node.error(
                f"expected tensors from what replaces {node.op}, got "
                f"{type(item).__name__}"
            )
        handle = self.graph._handle.constant(node.name + "/value", item)
        return self.graph._operation(handle).outputs[0]

    def _arguments(self, node: Node, rule: _Rule) -> tuple[list[Any], Attributes]:
        """Tensors that come first, and the others by name, as the rule wants them."""
        if node.call is None:
            raise node.error(f"{node.op} is no call of an op: only those are replaced")
        defaults = self.defaults.get(node.op)
        if defaults is None:
            parameters = inspect.signature(node.call).parameters
            defaults = {name: p.default for name, p in parameters.items()}
            self.defaults[node.op] = defaults
        leading: list[Any] = []
        tensors: Attributes = {}
        others: Attributes = {}
        first = not rule.by_name
        for name, value in node.attributes.items():
            items = value if isinstance(value, list) else [value]
            if any(isinstance(item, Reference) for item in items):
                resolved = self.resolve(node, value)
                if first:
                    leading.append(resolved)
                else:
                    tensors[name] = resolved
                continue
            first = False
            if name not in defaults or not _same(value, defaults[name]):
                others[name] = value
        if callable(rule.attr_map):
            return leading, {**tensors, **rule.attr_map(others)}
        names = rule.attr_map or {}
        given = {**tensors, **others}
        renamed = {names.get(key, key): value for key, value in given.items()}
        renamed.pop(None, None)
        return leading, renamed


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, list) and isinstance(default, (list, tuple)):
        return value == list(default)
    return type(value) is type(default) and bool(value == default)


def _lines(graph: Graph) -> list[str]:
    """Each operation as text: name = type(arguments) -> outputs."""
    definition = describe(graph)
    lines = []
    for node in definition["nodes"]:

        def text(value: Any, node: Any = node) -> str:
            if isinstance(value, list):
                return "[" + ", ".join(text(item) for item in value) + "]"
            if not isinstance(value, dict):
                return repr(value)
            ((tag, inner),) = value.items()
            if tag == "input":
                return str(node["inputs"][inner])
            if tag == "tensor":
                tensor = definition["tensors"][inner]
                return f"<{tensor.dtype.name} {tuple(tensor.shape)}>"
            return str(inner)

        parts = [f"{key}={text(value)}" for key, value in node["attributes"].items()]
        parts += [name for name in node["inputs"] if name.startswith("^")]
        outputs = ", ".join(
            f"{out['dtype']} {'?' if out['shape'] is None else out['shape']}"
            for out in node["outputs"]
        ).replace("None", "?")
        device = f" on {node['device']}" if node["device"] else ""
        lines.append(
            f"{node['name']} = {node['op']}({', '.join(parts)}) -> {outputs}{device}"
        )
    return lines


def _unused(graph: Graph) -> list[Symbol]:
    """Symbols that no operation takes; not those of initializers."""
    ops = graph.get_operations()
    used = {symbol.name for op in ops for symbol in op.inputs}
    used |= {v.initializer.outputs[0].name for v in _with_initializers(graph)}
    return [
        symbol
        for op in ops
        if op.type != "Variable" and not op.type.startswith("Placeholder")
        for symbol in op.outputs
        if symbol.name not in used
    ]


def _with_initializers(graph: Graph) -> list[Variable]:
    shown = [op.outputs[0] for op in graph.get_operations() if op.type == "Variable"]
    return [symbol for symbol in shown if isinstance(symbol, Variable)]


def _feeds(
    graph: Graph, inputs: Mapping[Any, Any], seed: int, unknown: int
) -> dict[Symbol, Any]:
    """A value for each placeholder: the given one, or random numbers."""
    feeds = {}
    for key, value in inputs.items():
        found = graph.as_graph_element(key)
        feeds[found.outputs[0] if isinstance(found, Operation) else found] = value
    draw = np.random.default_rng(seed)
    for op in graph.get_operations():
        symbol = op.outputs[0] if op.type == "Placeholder" else None
        if symbol is None or symbol in feeds:
            continue
        sizes = [unknown] if symbol.ndim is None else symbol.shape
        shape = [unknown if size is None else size for size in sizes]
        if symbol.dtype.is_floating_point:
            feeds[symbol] = draw.normal(size=shape).astype("float32")
        else:
            feeds[symbol] = draw.integers(0, 2, size=shape)
    return feeds


def _variables(graph: Graph, session: Any, feeds: dict[Symbol, Any]) -> dict[str, Any]:
    """Values of variables by name, of the session or of their initializers."""
    if session is None:
        with Session(graph=graph) as fresh:
            initializers = [v.initializer for v in _with_initializers(graph)]
            if initializers:
                fresh.run(initializers, feeds)
            return _variables(graph, fresh, feeds)
    values = {
        op.name: session._handle.variable(op._handle)
        for op in graph.get_operations()
        if op.type == "Variable"
    }
    return {name: value for name, value in values.items() if value is not None}


def _difference(name: str, old: Any, new: Any, rtol: float, atol: float) -> float:
    for what, a, b in [
        ("dtype", old.dtype, new.dtype),
        ("shape", tuple(old.shape), tuple(new.shape)),
    ]:
        if a != b:
            raise ValueError(f"[check] {name}: expected the {what} {a}, got {b}.")
    a, b = (value.double().numpy() for value in (old, new))
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        wrong = ~(apart <= atol + rtol * np.abs(np.where(np.isfinite(a), a, 0.0)))
    largest = float(apart.max(initial=0.0))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"[check] {name}: {int(wrong.sum())} of {a.size} elements differ by more "
            f"than atol={atol} + rtol={rtol} * abs(old), at {place} first: the old "
            f"graph gives {a[place]}, the new one {b[place]}."
        )
    return largest
