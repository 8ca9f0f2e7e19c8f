# SPDX-License-Identifier: Apache-2.0
"""Sessions: running parts of a graph, again and again, with other values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._binding import core
from ..tensor import Tensor
from .building import Graph, get_default_graph
from .defaults import sessions
from .errors import OpError, error_of
from .memory_plan import MemoryPlan, plan_from
from .partial_runs import PartialRuns
from .symbols import Operation, Symbol, dtype_of
from .traces import Tracing

__all__ = ["InteractiveSession", "Session"]


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _copy(value: Any) -> Any:
    if isinstance(value, core.Tensor):
        return core.Operator("clone")(value)
    return value.copy() if isinstance(value, np.ndarray) else value


_MOST_KEPT = 256  # combinations of feeds and fetches of a session


def _key_of_many(fetches: Any, feeds: Iterable[Any]) -> tuple[Any, ...] | None:
    """By what a flat list, tuple or dict of fetches is found again; else None.

    With its class, as equal tuples may be of different ones, and its length, that no
    fetch is taken for a feed.
    """
    kind = type(fetches)
    if kind is list or kind is tuple:
        return kind, len(fetches), *fetches, *feeds
    if kind is dict:
        return kind, len(fetches), *fetches, *fetches.values(), *feeds
    return None


class _Fetches:
    """A structure of fetches, and how to build the same of their values."""

    def __init__(self, graph: Graph, structure: Any, expand: Any) -> None:
        self.symbols: list[Symbol] = []
        self.targets: list[Operation] = []
        self._places: dict[int, int] = {}
        self._expand = expand
        self.build = self._walk(graph, structure)

    def _walk(self, graph: Graph, item: Any) -> Callable[[list[Any]], Any]:
        expanded = None if isinstance(item, Symbol) else self._expand(item)
        if expanded is not None:
            parts = [self._walk(graph, part) for part in expanded[0]]
            return lambda values: expanded[1]([part(values) for part in parts])
        if isinstance(item, (list, tuple)):
            parts = [self._walk(graph, part) for part in item]
            if _is_namedtuple(item):
                return lambda values: type(item)(*(part(values) for part in parts))
            if type(item) is list:
                return lambda values: [part(values) for part in parts]
            return lambda values: type(item)([part(values) for part in parts])
        if isinstance(item, Mapping):
            names = list(item)
            parts = [self._walk(graph, item[name]) for name in names]
            kind: Callable[..., Any] = type(item)

            def build(values: list[Any]) -> Any:
                made = {name: part(values) for name, part in zip(names, parts)}
                return made if kind is dict else kind(made)

            return build
        kind_name = type(item).__name__
        if item is None:
            raise TypeError(f'Fetch argument {item!r} has invalid type "{kind_name}".')
        try:
            element = graph.as_graph_element(item)
        except TypeError as error:
            raise TypeError(
                f'Fetch argument {item!r} has invalid type "{kind_name}", must be a '
                f"string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            text = error.args[0] if error.args else error
            raise ValueError(
                f"Fetch argument {item!r} cannot be interpreted as a Tensor. ({text})"
            ) from None
        if graph._not_fetched and not graph.is_fetchable(element):
            raise ValueError(f"{element!r} has been marked as not fetchable.")
        if isinstance(element, Operation):
            self.targets.append(element)
            return lambda values: None
        place = self._places.setdefault(id(element), len(self.symbols))
        if place < len(self.symbols):  # one may be written to, and the other stays
            return lambda values: _copy(values[place])
        self.symbols.append(element)
        return lambda values: values[place]


class _Feed:
    """A symbol that is fed, and the dtypes that its values have."""

    __slots__ = ("array_dtype", "dtype", "symbol")

    def __init__(self, symbol: Symbol) -> None:
        self.symbol = symbol
        self.dtype = dtype_of(symbol)
        try:
            self.array_dtype: Any = np.dtype(self.dtype.name)
        except TypeError:  # NumPy has no bfloat16
            self.array_dtype = None


class _Prepared:
    """What to feed and what to fetch, looked up once."""

    def __init__(self, session: Session, feeds: tuple[Any, ...], fetches: Any) -> None:
        made = _Fetches(session.graph, fetches, session._expand)
        self.build = made.build
        self.single = isinstance(fetches, Symbol)
        self.plain = self.single and session._gives_tensors
        symbols = [session._feed_symbol(feed) for feed in feeds]
        self.feeds = [_Feed(symbol) for symbol in symbols]
        self.handle = session._callable(symbols, made.symbols, made.targets)
        self.run = self.handle.run


class Session(PartialRuns, Tracing):
    """Runs parts of a graph, and has the values of its variables.

    graph: the default graph if not given.  ``with Session() as s:`` makes it and its
    graph the default ones of this thread, and closes it at the end.  Runs of several
    threads at once are independent of each other; those that assign to variables are
    one after the other, and what a run that fails has assigned is not kept.
    """

    _gives_tensors = True  # as the values of symbols, not what _show() makes of them

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        if graph is None:
            graph = get_default_graph()
        if not isinstance(graph, Graph):
            raise TypeError(
                f"Argument `graph` must be a Graph, but got {type(graph).__name__}."
            )
        if not isinstance(target, str):
            raise TypeError(
                f"Argument `target` must be a string, but got {type(target).__name__}."
            )
        super().__init__()
        self._graph = graph
        self._target = target
        self._config = config
        self._handle = core.SessionHandle(graph._handle)
        # By what was given: single fetches, and flat structures of them.
        self._prepared: dict[Any, _Prepared] = {}
        self._callables: dict[Any, core.CallableHandle] = {}
        self._timeout = 0.0  # seconds; of runs whose options have none
        self._closed = False
        self._contexts: list[Any] = []

    graph = property(lambda self: self._graph, doc="The graph that it runs.")
    sess_str = property(lambda self: self._target)

    @property
    def graph_def(self) -> list[dict[str, Any]]:
        """Plain descriptions of the graph's operations."""
        return [op.node_def for op in self._graph.get_operations()]

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None,
        run_metadata: Any = None, *, trace: bool = False,
    ) -> Any:  # fmt: skip
        """Values of the fetches, in the structure in which they are given.

        fetches: a symbol, an operation (its value is None), the name of one, or lists,
        tuples and dicts of them.
        feed_dict: values by symbol or name.
        options: an object with ``timeout_in_ms``, and perhaps ``trace_level``: not 0,
        it means ``trace``, and ``run_metadata.trace`` is set.
        trace: whether what the run did is in ``last_trace`` afterwards, of the session
        and of its graph: a ``RunTrace``, with the time of each operation.

        RuntimeError when the session is closed; TypeError and ValueError for wrong
        fetches and feeds; an OpError of ``pkg.graph.errors`` for what fails while it
        runs.
        """
        try:
            key = (fetches, *feed_dict) if feed_dict else (fetches,)
            prepared = self._prepared[key]
        except (KeyError, TypeError):
            try:
                prepared = self._prepared[_key_of_many(fetches, feed_dict or ())]
            except (KeyError, TypeError):
                feed_dict = self._feeds_of(feed_dict)
                prepared = self._prepare(fetches, feed_dict)
        try:
            values = [*feed_dict.values()] if feed_dict else []
        except AttributeError:
            self._feeds_of(feed_dict)  # which says what it should be
            raise
        if options is None and not trace:
            # What most calls are is written out: a method of its own costs a tenth.
            for value in values:
                if type(value) is not Tensor:
                    return self._call(prepared, values, self._timeout)
            try:
                results = prepared.run(values, self._timeout)
            except Exception as error:
                self._raise(error)
            return results[0] if prepared.plain else self._show(prepared, results)
        if not trace:
            return self._call_with(prepared, values, options, run_metadata)
        with self._traced(prepared, self._graph):
            if options is not None:
                return self._call_with(prepared, values, options, run_metadata)
            return self._call(prepared, values, self._timeout)

    def _call_with(
        self, prepared: _Prepared, values: list[Any], options: Any, run_metadata: Any
    ) -> Any:
        given = getattr(options, "timeout_in_ms", None)
        if not isinstance(given, (int, float)):
            raise TypeError(
                "[run] expected for options an object with a number timeout_in_ms, got "
                f"{type(options).__name__}"
                + ("." if given is None else f" with {type(given).__name__}.")
            )
        timeout = given / 1000 or self._timeout
        if not getattr(options, "trace_level", 0):
            return self._call(prepared, values, timeout)
        with self._traced(prepared, self._graph) as found:
            made = self._call(prepared, values, timeout)
        if run_metadata is not None:
            self._tell(run_metadata, found.trace)
        return made

    def _call(self, prepared: _Prepared, values: list[Any], timeout: float) -> Any:
        for value in values:
            if type(value) is not Tensor:
                pairs = zip(values, prepared.feeds, strict=True)
                values = [self._as_tensor(value, feed) for value, feed in pairs]
                break
        try:
            results = prepared.run(values, timeout)
        except Exception as error:
            self._raise(error)
        return results[0] if prepared.plain else self._show(prepared, results)

    def _show(self, prepared: _Prepared, results: list[Any]) -> Any:
        return results[0] if prepared.single else prepared.build(results)

    # What a run in steps needs: see partial_runs.py.
    def _structure(self, fetches: Any) -> _Fetches:
        return _Fetches(self._graph, fetches, self._expand)

    def _fed(self, feeds: list[Symbol], values: list[Any]) -> list[Any]:
        # Kept beyond the run: arrays, which their owner may change, are copied.
        made = [self._as_tensor(v, _Feed(feed)) for feed, v in zip(feeds, values)]
        return [core.Operator("clone")(tensor) for tensor in made]

    def _run_parts(
        self, feeds: list[Symbol], values: list[Any], fetches: list[Symbol],
        targets: list[Operation],
    ) -> list[Any]:  # fmt: skip
        try:
            run = self._callable(feeds, fetches, targets).run
            return list(run(values, self._timeout))
        except Exception as error:
            self._raise(error)
            raise

    def _shown(self, results: list[Any]) -> list[Any]:
        return results

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def _raise(self, error: Exception) -> None:
        failed = core.failed_operation()  # asked in any case: that forgets it
        self._check_open()
        if failed is None and isinstance(error, (TypeError, ValueError)):
            raise error  # of what was fed
        op = None if failed is None else self._graph._operation(failed)
        if isinstance(error, OpError):  # of a function of the graph
            error.op, error.node_def = op, op.node_def if op else None
            raise error
        raise self._error(error, op) from error

    def _error(self, error: Exception, op: Operation | None) -> Exception:
        return error_of(error, op)

    # What subclasses may have more to say of: fetches that stand for others, feeds.
    def _expand(self, fetch: Any) -> Any:
        return None

    def _feeds_of(self, feed_dict: Any) -> Any:
        if feed_dict is not None and not isinstance(feed_dict, Mapping):
            raise TypeError(
                "[run] expected a dict of values by symbol for feed_dict, got "
                f"{type(feed_dict).__name__}."
            )
        return feed_dict

    def _prepare(self, fetches: Any, feed_dict: Any) -> _Prepared:
        self._check_open()
        if self._graph.version == 0:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before "
                "calling run()."
            )
        feeds = tuple(feed_dict or ())
        prepared = _Prepared(self, feeds, fetches)
        key: tuple[Any, ...] | None = None
        if isinstance(fetches, (Symbol, Operation, str)):
            key = (fetches, *feeds)
        elif isinstance(fetches, (list, tuple, dict)):
            parts = fetches.values() if isinstance(fetches, dict) else fetches
            if all(isinstance(part, (Symbol, Operation, str)) for part in parts):
                key = _key_of_many(fetches, feeds)
        if key is not None:
            if len(self._prepared) >= _MOST_KEPT:
                self._prepared.clear()
            self._prepared[key] = prepared
        return prepared

    def _callable(
        self, feeds: list[Symbol], fetches: list[Symbol], targets: list[Operation]
    ) -> core.CallableHandle:
        # With its plans, which the next run of the same parts needs again.
        key = tuple(feeds), tuple(fetches), tuple(targets)
        found = self._callables.get(key)
        if found is None:
            if len(self._callables) >= _MOST_KEPT:
                self._callables.clear()
            handles = [op._handle for op in targets]
            found = self._handle.make_callable(feeds, fetches, handles)
            self._callables[key] = found
        return found

    def _feed_symbol(self, feed: Any) -> Symbol:
        try:
            found = self._graph.as_graph_element(feed, allow_operation=False)
        except Exception as error:
            text = error.args[0] if error.args else error
            raise TypeError(
                f"Cannot interpret feed_dict key as Tensor: {text}"
            ) from None
        assert isinstance(found, Symbol)
        if not self._graph.is_feedable(found):
            raise ValueError(f"Tensor {found} may not be fed.")
        return found

    def _as_tensor(self, value: Any, feed: _Feed) -> Any:
        if isinstance(value, np.ndarray) and value.dtype == feed.array_dtype:
            if value.flags.carray:
                return core.from_numpy(value)  # read while the run lasts, not copied
        if isinstance(value, (Symbol, Operation)):
            raise TypeError(
                "The value of a feed cannot be a symbol of a graph. Acceptable feed "
                "values include Python scalars, strings, lists, numpy ndarrays, or "
                "Tensors with values. For reference, the object was "
                f"{value!r}, which was passed to the feed with key "
                f"{feed.symbol.name!r}."
            )
        if isinstance(value, core.Tensor):
            return value
        return core.tensor(value, dtype=feed.dtype)

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the values of ``feed_list`` that runs the fetches."""
        self._check_open()
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("Argument `feed_list` must be a list or tuple.")
        prepared = _Prepared(self, tuple(feed_list or ()), fetches)
        n = len(prepared.feeds)

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            if len(values) != n:
                kind = ValueError if n else TypeError
                raise kind(f"[callable] expected {n} values, got {len(values)}.")
            if options is not None:
                return self._call_with(prepared, list(values), options, run_metadata)
            return self._call(prepared, list(values), self._timeout)

        return call

    def memory_plan(self, fetches: Any, feed_dict: Any = None) -> MemoryPlan:
        """How memory is used by runs of these fetches with these feeds.

        feed_dict: as in ``run``, or a list of what is fed: values do not matter.  It is
        the plan of the last such run; RuntimeError where there was no such run yet, or
        where the operations are called one by one, with the reason; TypeError for
        another feed_dict.
        """
        if isinstance(feed_dict, (Symbol, str, bytes)) or not (
            feed_dict is None or isinstance(feed_dict, Iterable)
        ):
            raise TypeError(
                "[memory_plan] expected a dict, or a list of symbols, for feed_dict, "
                f"got {type(feed_dict).__name__}."
            )
        if not isinstance(feed_dict, Mapping):
            feed_dict = dict.fromkeys(feed_dict or ())
        prepared = self._prepare(fetches, self._feeds_of(feed_dict))
        plan = plan_from(prepared.handle.plan())
        if plan is None:
            reason = prepared.handle.unplanned()
            raise RuntimeError(
                "[memory_plan] expected fetches that were run with a plan, got such "
                + (
                    f"whose operations are called one by one: {reason}"
                    if reason
                    else "that were not run yet with these feeds. Run them first."
                )
            )
        return plan

    def list_devices(self) -> list[str]:
        """The devices that it can run on."""
        return ["/job:localhost/replica:0/task:0/device:CPU:0"]

    def swap_weights(self, values: Mapping[Any, Any]) -> None:
        """New values for variables, by variable or name, all at once.

        A run that goes on meanwhile sees all old or all new values.  ValueError for
        another shape or dtype, and then nothing is changed.
        """
        self._check_open()
        handles, tensors = [], []
        for key, value in values.items():
            element = self._graph.as_graph_element(key)
            op = element if isinstance(element, Operation) else element.op
            handles.append(op._handle)
            tensors.append(self._as_tensor(value, _Feed(op.outputs[0])))
        self._handle.set_variables(handles, tensors)

    def close(self) -> None:
        """Ends it: what runs is stopped at its next step.  Again, nothing happens."""
        self._closed = True
        self._handle.close()
        self._prepared.clear()
        self._callables.clear()
        self._partial.clear()

    def as_default(self) -> _Entered:
        """A context in which it is the default session of this thread."""
        return _Entered(self, False)

    def __enter__(self) -> Session:
        """Makes it and its graph the default ones of this thread."""
        entered = _Entered(self, True)
        entered.__enter__()
        self._contexts.append(entered)
        return self

    def __exit__(self, *error: object) -> None:
        """Closes it."""
        self._contexts.pop().__exit__(*error)
        self.close()


class _Entered:
    def __init__(self, session: Session, with_graph: bool) -> None:
        self._session = session
        self._graph = session.graph.as_default() if with_graph else None

    def __enter__(self) -> Session:
        if self._graph:
            self._graph.__enter__()
        sessions.stack.append(self._session)
        return self._session

    def __exit__(self, *error: object) -> None:
        if not sessions.stack or sessions.stack[-1] is not self._session:
            raise AssertionError(
                "Nesting violated for default stack of sessions: expected the one that "
                "was entered last to be left first."
            )
        sessions.stack.pop()
        if self._graph:
            self._graph.__exit__(None, None, None)


class InteractiveSession(Session):
    """A session that is the default one from its making until it is closed."""

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        super().__init__(target, graph, config)
        self._graph_context = graph.as_default() if graph is not None else None
        if self._graph_context:
            self._graph_context.__enter__()
        sessions.stack.append(self)

    def close(self) -> None:
        """Ends it; the session before is the default one again."""
        if self in sessions.stack:
            sessions.stack.remove(self)
        if self._graph_context:
            self._graph_context.__exit__(None, None, None)
            self._graph_context = None
        super().close()
