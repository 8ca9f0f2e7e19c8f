# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's sessions: those of pkg.graph, which give NumPy arrays."""

from __future__ import annotations

import os
import warnings
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ... import graph as pg
from ..._binding import core
from ...graph import Operation, Symbol, errors
from ...graph.defaults import sessions
from ...graph.traces import RunTrace
from .conversions import conversion_of
from .devices import needed, refuse_missing
from .elements import get_default_graph
from .messages import while_running
from .step_stats import RunMetadata as RunMetadata, step_stats_of

__all__ = ["ConfigProto", "InteractiveSession", "RunMetadata", "RunOptions", "Session"]


class ConfigProto:
    """Options of a session.

    operation_timeout_in_ms: how long each run may take; device_count: how many devices
    there are said to be, by type.  Others are taken, and need nothing.
    """

    def __init__(self, **options: Any) -> None:
        self.operation_timeout_in_ms = 0
        self.device_count: dict[str, int] = {}
        self.gpu_options = SimpleNamespace()
        self.graph_options = SimpleNamespace()
        self.__dict__.update(options)


class RunOptions:
    """timeout_in_ms: how long a run may take; 0: as long as it takes.

    trace_level: with FULL_TRACE, as with all but NO_TRACE, the run's metadata says what
    ran, and how long it took.
    """

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)

    def __init__(
        self, trace_level: int = 0, timeout_in_ms: int = 0, **options: Any
    ) -> None:
        self.trace_level = trace_level
        self.timeout_in_ms = timeout_in_ms
        self.__dict__.update(options)


class DeviceAttributes(NamedTuple):
    """A device that a session can run on."""

    name: str
    device_type: str
    memory_limit_bytes: int


class _Arrays(pg.Session):
    _entered = False
    _gives_tensors = False

    def __init__(
        self, target: str = "", graph: Any = None, config: Any = None
    ) -> None:
        for name, value, kind, said in (
            ("target", target, str, "a string"),
            ("graph", graph, pg.Graph, "a tf.Graph"),
            ("config", config, ConfigProto, "a tf.ConfigProto"),
        ):
            if not isinstance(value, kind) and (value is not None or name == "target"):
                raise TypeError(
                    f"Argument `{name}` must be {said}, but got "
                    f'"{type(value).__name__}". Hint: {name} must be {said}.'
                )
        if target:
            raise errors.NotFoundError(  # type: ignore[attr-defined]
                None,
                None,
                "No session factory registered for the given session options: {target: "
                f'"{target}"}}. Sessions run in this process: leave the target out.',
            )
        if graph is None:
            with get_default_graph().as_default():
                super().__init__(target, None, config)
        else:
            super().__init__(target, graph, config)
        if config is not None:
            self._timeout = config.operation_timeout_in_ms / 1000

    def _show(self, prepared: Any, results: list[Any]) -> Any:
        arrays = self._shown(results)
        return arrays[0] if prepared.single else prepared.build(arrays)

    def _shown(self, results: list[Any]) -> list[Any]:
        return [t.numpy() if t.ndim else _number(t) for t in results]

    def _symbols_to_feed(self, feeds: Any) -> list[Any]:
        made: list[Any] = []
        for feed in feeds:
            conversion = conversion_of(feed)
            if conversion is not None and conversion.feed_list is not None:
                made += self._symbols_to_feed(conversion.feed_list(feed))
            else:
                made.append(self._feed_symbol(feed))
        return made

    def _error(self, error: Exception, op: Any) -> Exception:
        meant = None
        if op is not None:
            meant = getattr(self._graph, "failures", {}).get(op.name)
        if meant is not None:
            kind = errors.exception_type_from_error_code(meant[0])
            return kind(op.node_def, op, meant[1])
        text = while_running(str(error), op)
        return errors.error_of(error, op, plain=True, text=text)

    def _tell(self, run_metadata: Any, trace: RunTrace) -> None:
        super()._tell(run_metadata, trace)
        run_metadata.step_stats = step_stats_of(trace, self.list_devices()[0].name)

    def _callable(
        self, feeds: list[Any], fetches: list[Any], targets: list[Any]
    ) -> core.CallableHandle:
        config: Any = self._config
        soft = config is not None and getattr(config, "allow_soft_placement", False)
        if getattr(self._graph, "has_devices", False) and not soft:
            roots = [*targets, *(symbol.op for symbol in fetches)]
            wrong = refuse_missing(needed(feeds, roots), len(self.list_devices()))
            if wrong is not None:
                kind = errors.exception_type_from_error_code(3)
                raise kind(wrong[1].node_def, wrong[1], wrong[0])
        return super()._callable(feeds, fetches, targets)

    def _expand(self, fetch: Any) -> Any:
        conversion = conversion_of(fetch)
        if conversion is not None:
            return conversion.fetch(fetch)
        own = getattr(type(fetch), "_fetch_of", None)
        if own is not None:
            return own(fetch, self)
        fields = getattr(type(fetch), "__attrs_attrs__", None)
        if fields is not None:
            names = [field.name for field in fields]
            parts = [getattr(fetch, name) for name in names]
            return parts, lambda values: type(fetch)(**dict(zip(names, values)))
        return None

    def _feeds_of(self, feed_dict: Any) -> Any:
        feeds = super()._feeds_of(feed_dict)
        if not feeds or all(isinstance(feed, (Symbol, str)) for feed in feeds):
            return feeds
        made: dict[Any, Any] = {}
        for key, value in feeds.items():
            self._feed(key, value, made)
        return made

    def _feed(self, key: Any, value: Any, made: dict[Any, Any]) -> None:
        conversion = conversion_of(key)
        if conversion is not None and conversion.feed is not None:
            for part, of_part in conversion.feed(key, value):
                self._feed(part, of_part, made)
        elif isinstance(key, (list, tuple)):
            if len(key) != len(value):
                raise ValueError(
                    f"Key had {len(key)} elements, but value had {len(value)} elements"
                )
            for part, of_part in zip(key, value):
                self._feed(part, of_part, made)
        else:
            made[key] = value

    def _as_tensor(self, value: Any, feed: Any) -> Any:
        array_dtype = feed.array_dtype
        if isinstance(value, np.ndarray) and value.dtype == array_dtype:
            if value.flags.carray:
                return core.from_numpy(value)  # read while the run lasts, not copied
        if isinstance(value, (Symbol, Operation)):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed "
                "values include Python scalars, strings, lists, numpy ndarrays, or "
                f"TensorHandles. For reference, the tensor object was {value!s} which "
                f"was passed to the feed with key {feed.symbol!s}."
            )
        if isinstance(value, core.Tensor) or array_dtype is None:
            return super()._as_tensor(value, feed)
        if isinstance(value, int):
            self._check_number(value, array_dtype)
        try:
            return core.tensor(value, dtype=feed.dtype)
        except Exception:  # what NumPy takes, or says of it, counts
            return core.from_numpy(np.asarray(value, dtype=array_dtype, order="C"))

    def _check_number(self, value: int, dtype: np.dtype[Any]) -> None:
        try:
            fits = dtype.type(value) == value
        except OverflowError:
            fits = False
        if not fits:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible "
                f"with Tensor type {dtype.type}. Try explicitly setting the type of "
                "the feed tensor to a larger type (e.g. int64)."
            )

    def list_devices(self) -> list[Any]:
        """The devices that it can run on."""
        counts = {} if self._config is None else self._config.device_count
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        name = "/job:localhost/replica:0/task:0/device:CPU:"
        return [
            DeviceAttributes(f"{name}{n}", "CPU", memory)
            for n in range(max(1, counts.get("CPU", 1)))
        ]


def _number(tensor: Any) -> Any:
    number = tensor.numpy()[()]
    # One of C's two names for 64 bits; NumPy prefers the other.
    return np.int64(number) if type(number) is np.longlong else number


class Session(_Arrays):
    """Runs parts of a graph; gives arrays and NumPy's numbers."""

    def __enter__(self) -> Session:
        """Makes it and its graph the default ones; RuntimeError if it is entered."""
        if self._entered:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use "
                "`Session.as_default()` if you want to enter a session multiple times."
            )
        self._entered = True
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Closes it."""
        super().__exit__(*error)
        self._entered = False


class InteractiveSession(_Arrays, pg.InteractiveSession):
    """A session that is the default one until it is closed."""

    def __init__(
        self, target: str = "", graph: Any = None, config: Any = None
    ) -> None:
        if any(isinstance(other, InteractiveSession) for other in sessions.stack):
            warnings.warn(
                "An interactive session is already active. This can cause "
                "out-of-memory errors in some cases. You must explicitly call "
                "`InteractiveSession.close()` to release resources held by the other "
                "session(s).",
                stacklevel=2,
            )
        super().__init__(target, graph, config)


