# SPDX-License-Identifier: Apache-2.0
"""The table of everything that a module of the kit offers, and calls of each of it.

It is made of the module's stub: every function, constructor, method, property,
operator and static, with arguments made by type; and what every object has (copy,
repr, iteration, weak references, ...).  What is written here by hand is only what no
type says: which texts fail, and what waits or ends the process.
"""

from __future__ import annotations

import array
import ast
import copy
import datetime
import enum
import gc
import itertools
import operator
import pathlib
import pickle
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

# Values of a parameter that its type does not tell.
VALUES: dict[tuple[str, str], list[Any]] = {
    ("errors", "kind"): [
        *("", "invalid_argument", "domain_error", "out_of_range", "length_error"),
        *("overflow_error", "range_error", "runtime_error", "logic_error"),
        *("bad_alloc", "bad_cast", "Error", "DeepError", "UnknownError", "Odd", "int"),
    ],
    ("errors", "milliseconds"): [0],  # waits
    ("virtuals", "kind"): ["shape", "polygon", "square", "secret", ""],
    ("buffers", "row"): [0],  # not checked by the library
    ("buffers", "col"): [0],
    ("corners", "flags"): [[True, False]],  # nor are these
    ("corners", "rows"): [[[1, 2], [3, 4]]],
    ("corners", "n"): [2],
    ("raw", "n"): [0],
}
# What is not called alone, and why.
EXCLUDED = {
    ("errors", "start"): "a thread that is not joined ends the process: see PAIRS",
    ("errors", "join"): "waits for what start() began: see PAIRS",
    ("virtuals", "last"): "expects one in the list: see PAIRS",
    ("sharing", "node_value"): "expects a node to be there: see PAIRS",
    ("sharing", "Subject.keep"): "the same",
    ("sharing", "Subject.tell_kept"): "the same",
    ("threads", "start_jobs"): "never ends: see test_soak.py",
    ("threads", "start_callbacks"): "never ends: see test_soak.py",
    ("pythonic", "keep_callable"): "what it kept goes later, on another thread",
}
# Parameters whose pointer the library follows without a look: None is not given.
NEVER_NULL = {
    ("sharing", "keep_shared_node"), ("virtuals", "sides_of"),
    ("members", "first_of"),
}  # fmt: skip
# A call of several steps.
PAIRS = {
    "errors": [("start, join", "m.start(lambda i: None, 2); m.join()")],
    "virtuals": [("add, last", "m.add(m.Listener()); m.last().heard('a')")],
    "sharing": [
        ("keep_node, node_value", "m.keep_shared_node(m.Node()); m.node_value()"),
        (
            "watch, keep",
            "s = m.Subject(); o = m.Observer(); s.watch_shared(o)\n"
            "s.keep(); s.tell_kept(1); s.kept()",
        ),
    ],
}
# Puts back what calls have collected in the library's variables.
RESET = {
    "virtuals": "m.forget()",
    "sharing": "m.drop_node(); m.engine()",
    "lent": "m.end_guest()",
    "lifetime": "m.keep(None)",
    "members": "m.fell()",
    "pythonic": "m.put_on_shelf(None)",
}

Maker = Callable[[], Any]
Operators = {
    f"__{name}__": getattr(operator, name)
    for name in (
        "add sub mul truediv floordiv mod matmul and_ or_ xor lshift rshift eq "
        "ne lt le gt ge neg pos invert getitem setitem delitem contains iadd "
        "isub imul"
    )
    .replace("_ ", " ")
    .split()
    if hasattr(operator, name)
}


@dataclass
class Variant:
    """One way to call: `make` returns the callable and its arguments, all fresh."""

    name: str
    make: Callable[[], tuple[Callable[..., Any], list[Any], dict[str, Any]]]


@dataclass
class Construct:
    """What is counted: all ways to call one thing."""

    name: str
    variants: list[Variant] = field(default_factory=list)


def fails(*_: Any) -> Any:
    """A callable that fails."""
    raise KeyError("fails")


class Table:
    """The constructs of one module."""

    def __init__(self, theme: str, module: ModuleType, stub: str) -> None:
        self.theme, self.module = theme, module
        self.tree = ast.parse(stub)
        self.classes: dict[str, ast.ClassDef] = {}
        self._find(self.tree.body, "")
        self.makers: dict[str, list[Maker]] = {}
        self.producers: dict[str, list[Maker]] = {}
        self.functions = [n for n in self.tree.body if isinstance(n, ast.FunctionDef)]
        self.busy: set[str] = set()
        self.table: dict[str, Construct] = {}

    def _find(self, body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            # Such as _Array are only types.
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                self.classes[prefix + node.name] = node
                self._find(node.body, f"{prefix}{node.name}.")

    # --- values by type ---------------------------------------------------------------

    def values(self, kind: ast.expr | None, name: str = "") -> list[Maker]:
        """Makers of values that this type takes; the first one is the usual one."""
        given = VALUES.get((self.theme, name))
        if given is not None:
            return [lambda v=v: v for v in given]
        if kind is None:
            return [object]
        if isinstance(kind, ast.BinOp):
            return self.values(kind.left, name) + self.values(kind.right, name)
        if isinstance(kind, ast.Constant):
            return [lambda: None] if kind.value is None else [lambda: kind.value]
        if isinstance(kind, ast.Subscript):
            return self._generic(kind)
        return self._named(ast.unparse(kind))

    def _named(self, name: str) -> list[Maker]:
        plain: dict[str, list[Any]] = {
            "int": [1, 2], "float": [1.5, 2], "bool": [True], "str": ["a", "häß" * 9],
            "bytes": [b"ab"], "complex": [1j],
            "object": [3, "o"], "typing.Any": [3, "o"],
            "datetime.timedelta": [datetime.timedelta(seconds=1)],
            "datetime.datetime": [datetime.datetime(2024, 1, 2, 3, 4, 5)],
            "pathlib.Path": [pathlib.Path("/a/b")], "range": [range(3)],
        }  # fmt: skip
        if name in plain:
            return [lambda v=v: v for v in plain[name]]
        if name in ("_typeshed.ReadableBuffer", "_typeshed.WriteableBuffer"):
            return [lambda c=c: array.array(c, [1, 2, 3, 4]) for c in "fdilhb"]
        if name == "_Array":
            return [lambda: array.array("d", [1, 2, 3])]
        if name == "slice":
            return [lambda: slice(0, 2)]
        if name in self.classes:
            return self.objects(name)
        return [object]

    def _generic(self, kind: ast.Subscript) -> list[Maker]:
        outer = ast.unparse(kind.value).split(".")[-1]
        inner = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        if outer == "Callable":
            results = self.values(inner[-1])
            return [lambda: lambda *_: results[0](), lambda: fails, lambda: len]
        if outer == "PathLike":
            return [lambda: pathlib.Path("/a/b")]
        parts = [self.values(part) for part in inner if not is_dots(part)]
        if outer == "tuple" and len(parts) == len(inner):
            return [lambda: tuple(part[0]() for part in parts)]
        if outer == "Mapping" or outer == "dict":
            keys, values = parts
            return [lambda: {k(): values[0]() for k in keys}, dict]
        make = {"Set": set, "set": set, "tuple": tuple}.get(outer, list)
        item = parts[0]
        several = [lambda n=n: make(item[0]() for _ in range(n)) for n in (2, 0, 3)]
        # Fails behind some items that were good.
        return [*several, lambda: [item[0](), item[-1](), object()]]

    def objects(self, name: str) -> list[Maker]:
        """Makers of objects of a class: C++'s, and of classes that override it."""
        if name in self.makers:
            return self.makers[name]
        if name in self.busy:
            return [object]
        self.busy.add(name)
        cls = self.of(name)
        found: list[Maker] = []
        if isinstance(cls, enum.EnumMeta):
            found = [lambda v=v: v for v in list(cls)[:2]]
        else:
            found += [m for m in self._calls_of(cls, self._inits(name)) if works(m)][:1]
            found += [m for m in self._overriding(name, cls) if works(m)]
            for node in [] if found else self.functions:
                if name in ast.unparse(node.returns).split(" | "):
                    function = getattr(self.module, node.name)
                    makers = self._calls_of(function, [node.args])
                    found += [m for m in makers if works(m, cls)][:1]
        self.busy.discard(name)
        if found:
            self.makers[name] = found
        return found or [object]

    def of(self, name: str) -> Any:
        return operator.attrgetter(name)(self.module)

    def _inits(self, name: str) -> list[ast.arguments]:
        own = self.classes[name].body
        found = [n.args for n in methods(own) if n.name == "__init__"]
        return [without_self(args) for args in found]

    def _calls_of(self, function: Any, signatures: list[ast.arguments]) -> list[Maker]:
        def maker(args: list[Maker], named: dict[str, Maker]) -> Maker:
            return lambda: function(
                *(a() for a in args), **{k: a() for k, a in named.items()}
            )

        return [
            maker(args, named)
            for signature in signatures
            for _, args, named in self.arguments(signature, wrong=False)
        ]

    def _overriding(self, name: str, cls: Any) -> Iterator[Maker]:
        """Two classes of Python: one whose methods answer, one whose fail."""
        node = self.classes[name]
        answers: dict[str, Any] = {}
        for base in (*node.bases, ast.Name(name)):
            parent = self.classes.get(ast.unparse(base))
            for method in methods(parent.body) if parent else ():
                if method.name.startswith("__") or method.decorator_list:
                    continue
                results = self.values(method.returns)
                answers[method.name] = lambda *_, results=results: results[0]()
        for members in (answers, dict.fromkeys(answers, fails)):
            try:
                derived = type(f"Python{cls.__name__}", (cls,), members)
            except TypeError:  # final
                return
            yield from [
                m for m in self._calls_of(derived, self._inits(name)) if works(m)
            ][:1]

    # --- calls ------------------------------------------------------------------------

    def arguments(
        self, args: ast.arguments, wrong: bool = True
    ) -> Iterator[tuple[str, list[Maker], dict[str, Maker]]]:
        """The usual arguments, each other value and each wrong one, in turn."""
        given = [*args.posonlyargs, *args.args]
        values = [self.values(a.annotation, a.arg) for a in given]
        named = {a.arg: self.values(a.annotation, a.arg) for a in args.kwonlyargs}
        required = len(given) - len(args.defaults)
        usual = [v[0] for v in values]
        yield "", usual, {}
        if args.defaults or named:
            yield "shortest", usual[:required], {}
            yield "longest", usual, {k: v[0] for k, v in named.items()}
        if args.args:
            n = len(args.posonlyargs)
            keywords = {a.arg: m for a, m in zip(args.args, usual[n:])}
            yield "by name", usual[:n], keywords
        for i, others in enumerate(values):
            for k, other in enumerate(others[1:]):
                yield f"{i}:{k}", [*usual[:i], other, *usual[i + 1 :]], {}
        if not wrong:
            return
        for i in range(len(given)):
            for bad in (object, lambda: None, lambda: 2**70, lambda: [object()]):
                yield f"{i} wrong", [*usual[:i], bad, *usual[i + 1 :]], {}
        yield "too many", [*usual, object, object], {}
        yield "unknown name", usual, {"no_such_name": object}
        if usual:
            yield "twice", usual, {given[0].arg: usual[0]}

    def add(self, name: str, variant: str, make: Any) -> None:
        construct = self.table.setdefault(name, Construct(name))
        construct.variants.append(Variant(variant, make))

    def add_calls(self, name: str, get: Maker, args: ast.arguments) -> None:
        """All calls of what `get` gives: a function, or a method of a fresh object."""
        if (self.theme, name) in EXCLUDED:
            return
        for label, makers, named in self.arguments(args):
            values = [*makers, *named.values()]
            if (self.theme, name) in NEVER_NULL and any(is_none(v) for v in values):
                continue

            def make(makers=makers, named=named):
                return get(), makers, named

            self.add(name, label, make)

    def add_line(self, name: str, function: Any, *makers: Maker, way: str = "") -> None:
        self.add(name, way, lambda: (function, list(makers), {}))

    def constructs(self) -> list[Construct]:
        for node in self.functions:
            function = getattr(self.module, node.name)
            self.add_calls(node.name, lambda f=function: f, node.args)
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == "_Variables":
                variables = Kept(lambda: self.module.cvar)
                for line in node.body:
                    if isinstance(line, ast.AnnAssign):
                        self._attribute("cvar", line, variables)
        for name in self.classes:
            cls = self.of(name)
            if isinstance(cls, enum.EnumMeta):
                self.add_line(f"{name}()", cls, lambda: 1)
                self.add_line(f"{name}() fails", cls, lambda: "no member")
            elif issubclass(cls, BaseException):
                self.add_line(f"{name}()", cls, lambda: "text")
            else:
                self._class(name, cls)
        for label, line in PAIRS.get(self.theme, ()):
            code = compile(line, label, "exec")
            self.add_line(label, lambda c=code: exec(c, {"m": self.module}))
        return list(self.table.values())

    def _class(self, name: str, cls: Any) -> None:
        for args in self._inits(name):
            self.add_calls(f"{name}()", lambda: cls, args)
        # C++'s own object last, so that overriding ones take part, too.
        makers = [m for m in self.objects(name) if m is not object]
        for k, fresh in enumerate(makers):
            kept = Kept(fresh)
            for node in self.classes[name].body:
                if isinstance(node, ast.FunctionDef):
                    self._method(name, cls, node, kept)
                elif isinstance(node, ast.AnnAssign):
                    self._attribute(name, node, kept)
            if k == 0:
                self._protocol(name, cls, fresh, kept)

    def _method(self, name: str, cls: Any, node: ast.FunctionDef, kept: Kept) -> None:
        decorators = {ast.unparse(d) for d in node.decorator_list}
        full = f"{name}.{node.name}"
        if node.name == "__init__":
            return
        if decorators & {"staticmethod", "classmethod"}:
            args = (
                node.args if "staticmethod" in decorators else without_self(node.args)
            )
            self.add_calls(full, lambda: getattr(cls, node.name), args)
        elif "property" in decorators:
            self.add(full, "get", lambda: (getattr, [kept.get, lambda: node.name], {}))
        elif any(d.endswith(".setter") for d in decorators):
            self._set(full, node.name, node.args.args[1].annotation, kept)
        else:
            args = without_self(node.args)
            self.add_calls(full, lambda: getattr(kept.get(), node.name), args)
            if node.name in Operators:
                function = Operators[node.name]
                for label, makers, named in self.arguments(args):
                    if not named:
                        self.add(
                            f"{full} operator",
                            label,
                            lambda ms=makers: (function, [kept.get, *ms], {}),
                        )

    def _attribute(self, name: str, node: ast.AnnAssign, kept: Kept) -> None:
        member, kind = node.target.id, node.annotation
        full = f"{name}.{member}"
        if "ClassVar" in ast.unparse(kind):
            cls = self.of(name)
            self.add(full, "get", lambda: (getattr, [lambda: cls, lambda: member], {}))
            return
        self.add(full, "get", lambda: (getattr, [kept.get, lambda: member], {}))
        self._set(full, member, kind, kept)

    def _set(self, full: str, member: str, kind: Any, kept: Kept) -> None:
        for value in [*self.values(kind), object, lambda: 2**70]:
            self.add(
                full,
                "set",
                lambda v=value: (setattr, [kept.get, lambda: member, v], {}),
            )
        self.add(full, "del", lambda: (delattr, [kept.get, lambda: member], {}))

    def _protocol(self, name: str, cls: Any, fresh: Maker, kept: Kept) -> None:
        """What Python asks of any object."""

        class Derived(cls if can_derive(cls) else object):
            """With a dict."""

        def cycle() -> None:
            one = Derived.__new__(Derived)
            one.itself = one
            gc.collect(0)

        lines: dict[str, Any] = {
            "repr": repr, "str": str, "hash": hash, "bool": bool, "len": len,
            "copy": copy.copy, "deepcopy": copy.deepcopy, "dir": dir, "int": int,
            "pickle": lambda o: pickle.loads(pickle.dumps(o)), "weak": weakref.ref,
            "iterate": lambda o: list(itertools.islice(o, 9)), "memoryview": memoryview,
            "iterator": lambda o: next(iter(o)), "call": lambda o: o(),
            "is equal": lambda o: o == 3, "is other": lambda o: o != None,  # noqa: E711
            "less": lambda o: o < 3, "add": lambda o: o + object(),
            "item": lambda o: o[0], "no item": lambda o: o[10**6],
            "with": lambda o: enter_exit(o), "no attribute": lambda o: o.no_such_name,
            "set unknown": lambda o: setattr(o, "no_such_name", 1),
            "init twice": lambda o: o.__init__(),
        }  # fmt: skip
        # One construct for all classes, which have what the kit gives them: methods of
        # their own are counted as such.
        for label, function in lines.items():
            self.add_line(f"object: {label}", function, kept.get, way=name)
        self.add_line("object: new", lambda o: None, fresh, way=name)
        self.add_line("object: without init", lambda: repr(cls.__new__(cls)), way=name)
        self.add_line("object: cycle", cycle, way=name)


class Kept:
    """An object that many calls use; reset() asks for another one."""

    all: list[Kept] = []

    def __init__(self, make: Maker) -> None:
        self.make, self.object = make, None
        Kept.all.append(self)

    def get(self) -> Any:
        if self.object is None:
            self.object = self.make()
        return self.object


def enter_exit(obj: Any) -> None:
    with obj:
        pass


def can_derive(cls: Any) -> bool:
    try:
        type("Derived", (cls,), {})
    except TypeError:
        return False
    return True


def is_none(make: Maker) -> bool:
    try:
        return make() is None
    except Exception:  # noqa: BLE001
        return False


def is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def methods(body: list[ast.stmt]) -> list[ast.FunctionDef]:
    return [n for n in body if isinstance(n, ast.FunctionDef)]


def without_self(args: ast.arguments) -> ast.arguments:
    """The parameters that the caller gives."""
    parts = {name: list(getattr(args, name)) for name in ("posonlyargs", "args")}
    (parts["posonlyargs"] or parts["args"]).pop(0)
    return ast.arguments(
        **parts, vararg=args.vararg, kwonlyargs=args.kwonlyargs, kwarg=args.kwarg,
        kw_defaults=args.kw_defaults, defaults=args.defaults,
    )  # fmt: skip


def works(make: Maker, cls: Any = object) -> bool:
    """Whether it makes such an object."""
    try:
        return isinstance(make(), cls)
    except Exception:  # noqa: BLE001  (abstract, or other arguments are wanted)
        return False
