# SPDX-License-Identifier: Apache-2.0
"""Runs in steps: each feeds and fetches a part, and what was computed stays.

A step also fetches what later steps will need of what it computes, and these feed it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from typing import Any

from . import errors
from .symbols import Operation, Symbol

__all__ = ["PartialRun"]

_numbers = itertools.count()


def _refuse(text: str) -> errors.OpError:
    made: errors.OpError = errors.InvalidArgumentError(  # type: ignore[attr-defined]
        None, None, text
    )
    return made


def _before(op: Operation, known: set[Any]) -> list[Operation]:
    # The operations that one waits for, behind nothing that is known.
    taken = [t.op for t in op.inputs if _place(t) not in known]
    return [*taken, *op.control_inputs]


def _place(symbol: Symbol) -> tuple[Operation, int]:
    return symbol.op, symbol.value_index


def _needed(roots: list[Operation], known: set[Any], done: set[Any]) -> list[Operation]:
    found: dict[Operation, None] = {}
    next_ = [op for op in roots if op not in done]
    while next_:
        op = next_.pop()
        if op not in found:
            found[op] = None
            next_ += [before for before in _before(op, known) if before not in done]
    return list(found)


class PartialRun:
    """What was said at the beginning, and what was computed since."""

    def __init__(
        self, fetches: list[Symbol], targets: list[Operation], feeds: list[Symbol]
    ) -> None:
        self.handle = f"partial_run_{next(_numbers)}"
        self._fetches = {_place(fetch) for fetch in fetches}
        self._targets = set(targets)
        self._feeds = {_place(feed): feed for feed in feeds}
        self._values: dict[Any, tuple[Symbol, Any]] = {}  # fed, or needed later
        self._fed: set[Any] = set()
        self._done: set[Operation] = set()
        self._fetched: set[Any] = set()
        # Of the step that runs, one after the other; again by the thread that has it
        # where a function of Python that runs in a step asks for the next one.
        self.lock = threading.RLock()
        self.busy = False
        roots = [*(fetch.op for fetch in fetches), *targets]
        self._all = _needed(roots, set(self._feeds), set())

    def check(
        self, fetches: list[Symbol], targets: list[Operation], feeds: list[Symbol]
    ) -> None:
        """InvalidArgumentError for what the beginning did not say, or for what was
        there before."""
        for feed in feeds:
            place = _place(feed)
            if place not in self._feeds:
                raise _refuse(
                    f"The feed {feed.name} was not specified in partial_run_setup."
                )
            if place in self._fed:
                raise _refuse(f"The feed {feed.name} has already been fed.")
        elements: list[Any] = [*fetches, *targets]
        for element in elements:
            known: Any = element
            if isinstance(element, Symbol):
                known = _place(element)
            if known not in self._fetches and known not in self._targets:
                raise _refuse(
                    f"The fetch {element.name} was not specified in partial_run_setup."
                )
            if known in self._fetched:
                raise _refuse(f"The fetch {element.name} has already been fetched.")

    def plan(
        self, fetches: list[Symbol], targets: list[Operation], feeds: list[Symbol]
    ) -> tuple[list[tuple[Symbol, Any]], list[Symbol], list[Operation]]:
        """What this step feeds besides, what it fetches besides, and what it runs."""
        known = {*self._values, *self._fed, *map(_place, feeds)}
        roots = [fetch.op for fetch in fetches if _place(fetch) not in known]
        running = _needed([*roots, *targets], known, self._done)
        steps = set(running)
        for op in running:
            for place in [(op, i) for i in range(len(op.outputs))]:
                if place in self._feeds and place not in known:
                    raise _refuse(
                        f"Fetch {[f.name for f in fetches]} can't be computed from the "
                        f"feeds that have been fed so far: {self._feeds[place].name} "
                        "was not."
                    )
            if any(before in self._done for before in op.control_inputs):
                raise NotImplementedError(
                    f"[partial_run] {op.name} waits for operations that an earlier "
                    "step has run, and would run them again. Fetch both in one step."
                )
        kept: dict[Any, Symbol] = {}
        for op in self._all:
            if op in steps or op in self._done:
                continue
            for taken in op.inputs:
                if taken.op in steps and _place(taken) not in known:
                    kept[_place(taken)] = taken
        for op, index in self._fetches - self._fetched:
            if op in steps:
                kept[op, index] = op.outputs[index]
        used = [
            pair for place, pair in self._values.items()
            if any(pair[0] is fetch for fetch in fetches)
            or any(_place(taken) == place for op in running for taken in op.inputs)
        ]  # fmt: skip
        return used, list(kept.values()), running

    def done(
        self, running: list[Operation], fetches: list[Symbol], targets: list[Operation],
        feeds: list[Symbol], values: list[tuple[Symbol, Any]],
    ) -> None:  # fmt: skip
        """A step has gone well; only what later steps need is kept of it."""
        self._done.update(running)
        self._fetched.update(map(_place, fetches), targets)
        for symbol, value in values:
            self._values[_place(symbol)] = symbol, value
        self._fed.update(map(_place, feeds))
        needed = self._fetches - self._fetched
        for op in self._all:
            if op not in self._done:
                needed.update(map(_place, op.inputs))
        for place in self._values.keys() - needed:
            del self._values[place]

    @property
    def over(self) -> bool:
        """Whether all that it may fetch was fetched."""
        return self._fetched >= self._fetches | self._targets


class PartialRuns:
    """What a session has for runs in steps."""

    _graph: Any

    def __init__(self) -> None:
        self._partial: dict[str, PartialRun] = {}

    # Of the session.
    _check_open: Any
    _structure: Any
    _feeds_of: Any
    _feed_symbol: Any
    _fed: Any
    _run_parts: Any
    _shown: Any

    def _symbols_to_feed(self, feeds: Any) -> list[Symbol]:
        return [self._feed_symbol(feed) for feed in feeds]

    def _partial_of(self, handle: str) -> PartialRun:
        found = self._partial.get(handle)
        if found is None:
            raise _refuse(
                f"Must run partial_run_setup before partial_run: {handle!r} is no run, "
                "or one that is over: all of it was fetched, or a step has failed."
            )
        return found

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """The handle of a run in steps, which may fetch and feed these, each once.

        feeds: a list of symbols, or names of such.  It is over when all was fetched, or
        when a step fails while it runs.  InvalidArgumentError without a fetch.
        """
        self._check_open()
        if feeds is not None and (isinstance(feeds, (Symbol, str, bytes))
                                  or not isinstance(feeds, Iterable)):  # fmt: skip
            raise TypeError(
                "[partial_run_setup] expected a list of symbols for feeds, got "
                f"{type(feeds).__name__}."
            )
        made = self._structure(fetches)
        if not made.symbols and not made.targets:
            raise _refuse("Must specify at least one target to fetch or execute.")
        to_feed = self._symbols_to_feed([] if feeds is None else feeds)
        run = PartialRun(made.symbols, made.targets, to_feed)
        self._partial[run.handle] = run
        return run.handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """The next step of a run: values of the fetches, in their structure.

        What an earlier step has computed is not computed again.  Steps of one run that
        several threads ask for are one after the other.  InvalidArgumentError for what
        the beginning did not say, was there before, or needs a feed that was not, and
        for a run that is over; TypeError for a handle that is none.
        """
        self._check_open()
        if not isinstance(handle, str):
            raise TypeError(
                "[partial_run] expected the handle that partial_run_setup has given, a "
                f"str, got {type(handle).__name__}."
            )
        run = self._partial_of(handle)
        made = self._structure(fetches)
        given = dict(self._feeds_of(feed_dict) or {})
        with run.lock:
            self._partial_of(handle)  # it may be over since
            if run.busy:
                raise _refuse(f"A step of {handle!r} was asked for inside of another.")
            run.busy = True
            try:
                results = self._step(run, made, given)
            finally:
                run.busy = False
        return made.build(self._shown(results[: len(made.symbols)]))

    def _step(self, run: PartialRun, made: Any, given: dict[Any, Any]) -> list[Any]:
        feeds = [self._feed_symbol(feed) for feed in given]
        run.check(made.symbols, made.targets, feeds)
        values = self._fed(feeds, list(given.values()))
        used, kept, running = run.plan(made.symbols, made.targets, feeds)
        asked = [*made.symbols, *(k for k in kept if not _holds(made.symbols, k))]
        try:
            results: list[Any] = self._run_parts(
                [*feeds, *(symbol for symbol, _ in used)],
                [*values, *(value for _, value in used)],
                asked,
                made.targets,
            )
        except BaseException:
            self._partial.pop(run.handle, None)
            raise
        by_symbol = list(zip(asked, results))
        pairs = [*zip(feeds, values), *(p for p in by_symbol if _holds(kept, p[0]))]
        run.done(running, made.symbols, made.targets, feeds, pairs)
        if run.over:
            self._partial.pop(run.handle, None)
        return results


def _holds(symbols: list[Symbol], symbol: Symbol) -> bool:
    return any(symbol is other for other in symbols)
