# SPDX-License-Identifier: Apache-2.0
"""Whether an op does what was registered of it, on given arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import testing
from .._binding import core
from ..autograd import grad, no_grad
from ..graph import compile
from ..tensor import Tensor
from . import registry
from .schemas import parameters_of

TESTS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
    "test_gradients",
)


# A wrong gradient looks right along one of some hundred, to the tolerance of float32.
DIRECTIONS = 3


class OpCheckError(RuntimeError):
    """An op does something else than was registered of it."""


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values if isinstance(values, (list, tuple)) else (values,):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _mapped(values: Any, change: Callable[[Tensor], Any]) -> Any:
    if isinstance(values, Tensor):
        return change(values)
    if isinstance(values, (list, tuple)):
        return type(values)(_mapped(value, change) for value in values)
    if isinstance(values, dict):
        return {name: _mapped(value, change) for name, value in values.items()}
    return values


class _Case:
    """An op with arguments that a test may not change."""

    def __init__(self, op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.name = registry.name_of(op)
        self.op = registry.overload(self.name)
        self.schema: str = self.op._schema
        self.args, self.kwargs = tuple(args), kwargs
        self.parameters = [p for p in parameters_of(self.schema) if p != "*"]
        self.table = {key: what for key, what, _ in core.dispatch_table(self.name)}
        self.record = self.op.records[0]

    def has_gradient(self) -> bool:
        """Whether gradients flow through it, or it says that none does."""
        missing = self.record["gradient"] == "missing"
        return self.table["Autograd"] == "kernel" or not missing

    def given(self) -> list[tuple[str, bool, Any]]:
        """(name, whether it is written to, value) of each argument."""
        named = []
        for i, parameter in enumerate(self.parameters):
            kind, _, name = parameter.partition("=")[0].rpartition(" ")
            if i < len(self.args):
                named.append((name, "!)" in kind, self.args[i]))
            elif name in self.kwargs:
                named.append((name, "!)" in kind, self.kwargs[name]))
        return named

    def copy(self, change: Callable[[Tensor], Any]) -> _Case:
        """The same with tensors of other values."""
        return _Case(self.op, _mapped(self.args, change), _mapped(self.kwargs, change))

    def leaves(self) -> _Case:
        """The same with leaves in the place of tensors."""
        return self.copy(lambda t: t.detach().clone().requires_grad_(t.requires_grad))

    def run(self) -> Any:
        """The results; without history if the op has no gradient."""
        if self.has_gradient() and not self.writes():
            return self.op(*self.args, **self.kwargs)
        with no_grad():
            return self.op(*self.args, **self.kwargs)

    def writes(self) -> bool:
        """Whether the schema says that it writes to an argument."""
        return any(written for _, written, _ in self.given())


def _copier(case: _Case) -> Callable[[Tensor], Tensor]:
    """What copies the arguments; those that share memory go on doing so."""
    view, zeros = core.Operator("_strided_view"), core.Operator("zeros")
    ends: dict[tuple[int, Any], int] = {}
    for t in _tensors([value for _, _, value in case.given()]):
        steps = zip(t.shape, t.stride())
        last = sum((size - 1) * step for size, step in steps) if t.numel() else -1
        place = t._storage_id(), t.dtype
        ends[place] = max(t.storage_offset() + last + 1, ends.get(place, 0))
    memory: dict[tuple[int, Any], Tensor] = {}
    copies: dict[int, Tensor] = {}

    def copied(t: Tensor) -> Tensor:
        if id(t) in copies:
            return copies[id(t)]
        t_place = t._storage_id(), t.dtype
        if t_place not in memory:
            memory[t_place] = zeros((ends[t_place],), dtype=t.dtype, device=t.device)
        start = t.storage_offset()
        once = t.detach()
        for dim, step in enumerate(t.stride()):
            if step == 0 and t.shape[dim] > 1:
                once = once.narrow(dim, 0, 1)
        with no_grad():
            view(memory[t_place], once.shape, once.stride(), start).copy_(once)
            made: Tensor = view(memory[t_place], t.shape, t.stride(), start)
        return copies.setdefault(id(t), made)

    return copied


def _test_schema(case: _Case) -> None:
    mine = case.copy(_copier(case))
    before = {id(t): t.clone() for _, _, value in mine.given() for t in _tensors(value)}
    results = mine.run()
    owners: dict[int, str] = {}
    for name, written, value in mine.given():
        for t in _tensors(value):
            old = before[id(t)]
            if not written and not testing.same_values(t, old):
                raise OpCheckError(
                    f"{case.schema}: argument {name!r} is not defined as mutable but "
                    "was mutated. Write Tensor(a!) in the schema, or let no argument "
                    "that is written to share memory with another."
                )
            owners[t._storage_id()] = "" if written else name
    seen: set[int] = set()
    for t in _tensors(results):
        key = t._storage_id()
        owner = owners.get(key)
        said = owner == "" and "!)" in case.schema.split("->")[1]
        if owner is not None and not said:
            raise OpCheckError(
                f"{case.schema}: a result shares memory with argument "
                f"{owner or 'that is written to'!r}, which the schema does not say. "
                "Return a clone()."
            )
        if key in seen and t.numel():
            raise OpCheckError(f"{case.schema}: two results share memory.")
        seen.add(key)


def _test_autograd_registration(case: _Case) -> None:
    wanting = [t for _, _, v in case.given() for t in _tensors(v) if t.requires_grad]
    if not wanting or case.has_gradient():
        return
    results = [t for t in _tensors(case.leaves().run()) if t.is_floating_point()]
    if results:
        raise OpCheckError(
            f"{case.schema}: it has no gradient, so calls whose inputs require grad "
            "are refused. Give it one with pkg.library.register_autograd."
        )


def _test_faketensor(case: _Case) -> None:
    if case.table["Meta"] == "nothing":
        raise OpCheckError(
            f"{case.schema}: it has no fake kernel, so shapes are not known before it "
            "runs. Give it one with pkg.library.register_fake."
        )
    real = list(_tensors(case.leaves().run()))
    with no_grad():
        fake_case = case.copy(lambda t: t.detach().to("meta"))
        fake = list(_tensors(fake_case.run()))
    if len(real) != len(fake):
        raise OpCheckError(
            f"{case.schema}: the fake kernel gives {len(fake)} tensors, the kernel "
            f"{len(real)}."
        )
    for i, (r, f) in enumerate(zip(real, fake)):
        if f.device.type != "meta":
            raise OpCheckError(
                f"{case.schema}: result {i} of the fake kernel has data: it is on "
                f"{f.device}. Make it like an argument: pkg.empty_like(x)."
            )
        if r.shape != f.shape or r.dtype != f.dtype:
            raise OpCheckError(
                f"{case.schema}: result {i} of the fake kernel has shape {f.shape} and "
                f"dtype {f.dtype}, that of the kernel shape {r.shape} and dtype "
                f"{r.dtype}."
            )


def _test_aot_dispatch_dynamic(case: _Case) -> None:
    if case.writes():
        return  # graphs take no writes to what is fed
    eager = case.leaves()
    flat = [t for _, _, value in eager.given() for t in _tensors(value)]
    places = {id(t): i for i, t in enumerate(flat)}

    def call(*tensors: Tensor) -> Any:
        return eager.copy(lambda t: tensors[places[id(t)]]).run()

    with no_grad():
        expected = list(_tensors(call(*flat)))
        for dynamic in (False, True):
            found = list(_tensors(compile(call, dynamic=dynamic)(*flat)))
            for e, f in zip(expected, found, strict=True):
                testing.assert_close(f, e, equal_nan=True)


def _test_gradients(case: _Case) -> None:
    """Along a few directions: (f(x + eps d) - f(x - eps d)) / 2 eps against grad."""
    mine = case.leaves()
    wanting = [
        t
        for _, _, v in mine.given()
        for t in _tensors(v)
        if t.requires_grad and t.is_floating_point()
    ]
    if not wanting or mine.writes() or not mine.has_gradient():
        return
    results = list(_tensors(mine.run()))
    # Others have no gradient, whatever their dtype.
    places = [i for i, t in enumerate(results) if t.requires_grad]
    if not places:
        return
    exact = all(t.dtype is core.float64 for t in wanting)
    eps, atol, rtol = (1e-6, 1e-5, 1e-4) if exact else (1e-2, 2e-2, 2e-2)
    for _ in range(DIRECTIONS):
        _compare_along(mine, results, places, wanting, (eps, atol, rtol))


def _compare_along(
    case: _Case,
    results: list[Tensor],
    places: list[int],
    wanting: list[Tensor],
    limits: tuple[float, float, float],
) -> None:
    """One random direction; OpCheckError where the two derivatives differ."""
    eps, atol, rtol = limits
    outputs = [results[i] for i in places]
    randn_like = core.Operator("randn_like")
    weights = [randn_like(t) for t in outputs]
    steps = [randn_like(t) for t in wanting]
    grads = grad(outputs, wanting, weights, allow_unused=True, retain_graph=True)
    analytic = sum(
        (g.double() * s.double()).sum().item()
        for g, s in zip(grads, steps)
        if g is not None
    )
    moved = {id(t): s for t, s in zip(wanting, steps)}

    def value_at(distance: float) -> float:
        def shifted(t: Tensor) -> Tensor:
            step = moved.get(id(t))
            return t.detach() if step is None else t.detach() + step * distance

        with no_grad():
            moved_results = list(_tensors(case.copy(shifted).run()))
        total = 0.0
        for i, w in zip(places, weights, strict=True):
            total += float((moved_results[i].double() * w.double()).sum().item())
        return total

    numeric = (value_at(eps) - value_at(-eps)) / (2 * eps)
    scale = max(abs(analytic), abs(numeric), 1.0)
    if abs(analytic - numeric) > atol + rtol * scale:
        raise OpCheckError(
            f"{case.schema}: its gradient along a random direction is {analytic:g}, "
            f"central differences give {numeric:g}."
        )


_RUN = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_aot_dispatch_dynamic": _test_aot_dispatch_dynamic,
    "test_gradients": _test_gradients,
}


def opcheck(
    op: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = TESTS,
    raise_exception: bool = True,
) -> dict[str, str | Exception]:
    """Try what was registered of an op, on `args` and `kwargs`, which stay as they are.

    test_schema: it writes to what the schema says and to nothing else, and no result
    shares memory with an argument or another result.  test_autograd_registration: with
    inputs that require grad it has a gradient.  test_faketensor: the fake kernel gives
    the kernel's shapes and dtypes.  test_aot_dispatch_dynamic: compiled, for these
    sizes and for all, it gives the same.  test_gradients: the gradient agrees with
    central differences.

    Returns {test: "SUCCESS"}; OpCheckError for the first that fails, or with
    raise_exception=False the error in the place of that word.  ValueError for a test
    that is none.
    """
    tests = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if unknown := set(tests) - set(TESTS):
        raise ValueError(
            f"[opcheck] expected tests among {', '.join(TESTS)}, got {sorted(unknown)}."
        )
    case = _Case(op, args, kwargs or {})
    outcomes: dict[str, str | Exception] = {}
    for test in tests:
        try:
            _RUN[test](case)
            outcomes[test] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                if isinstance(error, OpCheckError):
                    raise
                raise OpCheckError(f"{case.schema}, {test}: {error}") from error
            outcomes[test] = error
    return outcomes
