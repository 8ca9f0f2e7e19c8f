# SPDX-License-Identifier: Apache-2.0
"""Writes docs/ops.md: every op, layer, loss, optimiser and schedule, and the gaps.

Run by hand after a change of those; tests/house/test_ops_page.py compares:

    python docs/programs/ops_page.py

Ops come from the registry, the rest from the modules' own signatures and docstrings.
What PyTorch has besides is asked where it is installed (torch_gaps.py); where it is
not, that part of the page stays.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch_gaps

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "ops.md"

HEAD = """\
# Ops, layers, optimisers, and what is missing

Written by `docs/programs/ops_page.py` from the registry and from the modules. Names
and meaning are PyTorch's; `help(pkg.add)` shows one op at the prompt. The parts:
[ops](#ops), [functions](#functions), [tensors](#tensors), [layers](#layers),
[losses](#losses), [functional](#functional), [optimisers](#optimisers),
[schedules](#schedules), [linalg](#linalg), [autograd](#autograd), [data](#data),
[saving](#saving), and [what PyTorch has besides](#what-pytorch-has-besides). What
differs from PyTorch on purpose: [differences.md](differences.md).

## Ops

Called as `pkg.add(x, y)`; those whose first argument is `self` are methods too,
`x.add(y)`. In place: the form that writes to `self`. Gradient: *formula*, its own;
*parts*, that of the ops that it calls; *none*, a result that requires no grad. A view
shares the memory of `self`. An op of another library is in `pkg.ops.<namespace>`.
"""
DTYPES = """\
Dtypes are those of the tensors that it takes; other ones are a RuntimeError.
"""

# (title, sentence, module, which of its names; "" is all that can be called)
SECTIONS = [
    (
        "Functions",
        "Names of `pkg` beside the ops.",
        "pkg",
        "",
    ),
    ("Tensors", "What a Tensor has beside its ops.", "pkg", "tensor"),
    ("Layers", "Of `pkg.nn`.", "pkg.nn", "layers"),
    ("Losses", "Of `pkg.nn`.", "pkg.nn", "losses"),
    (
        "Functional",
        "Of `pkg.nn.functional`. These are ops, listed above: {ops}.",
        "pkg.nn.functional",
        "",
    ),
    ("Initial values", "Of `pkg.nn.init`.", "pkg.nn.init", ""),
    ("Utilities of networks", "Of `pkg.nn.utils`.", "pkg.nn.utils", ""),
    ("Optimisers", "Of `pkg.optim`.", "pkg.optim", ""),
    ("Schedules", "Of `pkg.optim.lr_scheduler`.", "pkg.optim.lr_scheduler", ""),
    (
        "Linalg",
        "Of `pkg.linalg`. These are ops, listed above: {ops}.",
        "pkg.linalg",
        "",
    ),
    (
        "Autograd",
        "Of `pkg.autograd`; [autograd.md](autograd.md) is its guide.",
        "pkg.autograd",
        "",
    ),
    ("Data", "Of `pkg.data`, which is also `pkg.utils.data`.", "pkg.data", ""),
    (
        "Saving",
        "Of `pkg.serialization`; `save` and `load` are in `pkg` too.",
        "pkg.serialization",
        "",
    ),
]


def ops_table(core: ModuleType) -> str:
    """One row for each overload of each public op; in-place forms have none."""
    names = [n for n in core.operator_names("pkg") if not n.startswith("_")]
    records = {name: core.Operator(name).records for name in names}
    with_dtypes = any("dtypes" in record for record in records["add"])
    columns = ["op", "what it does", "in place", "gradient"]
    columns += ["dtypes"] * with_dtypes
    rows = []
    for name in names:
        if name.endswith("_") and name[:-1] in records:
            continue
        for record in records[name]:
            gradient = {"formula": "formula", "composed": "parts", "none": "none"}
            view = ", view" if record["kind"] == "view" else ""
            row = [
                f"`{record['schema']}`",
                first_sentence(record["doc"]),
                f"`{name}_`" if f"{name}_" in records else "",
                gradient.get(record["gradient"], record["gradient"]) + view,
            ]
            rows.append(row + [str(record.get("dtypes", ""))] * with_dtypes)
    return (DTYPES if with_dtypes else "") + "\n" + table(columns, rows)


def table(columns: list[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n"
        for line in lines
    )


def first_sentence(doc: str | None) -> str:
    """Of a docstring; what CPython puts before it, a signature, is left out."""
    text = re.sub(r"\A\w[^\n]*\)\n--\n\n", "", inspect.cleandoc(doc or ""))
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.:])\s+(?=[A-Z])", paragraph)[0]
    return sentence.rstrip(":").replace("``", "`")


def call(name: str, value: Any) -> str:
    """``name(parameters)`` without annotations, which are for type checkers."""
    if isinstance(value, type) and issubclass(value, BaseException):
        return name  # CPython's releases differ in what they say of these
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return f"{name}(...)"
    parameters = []
    for parameter in signature.parameters.values():
        default = parameter.default
        if callable(default) and default is not parameter.empty:
            default = Named(getattr(default, "__name__", "..."))
        parameters.append(
            parameter.replace(annotation=parameter.empty, default=default)
        )
    if parameters and parameters[0].name == "self":
        del parameters[0]
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    return f"{name}{plain}"


class Named:
    """A default that is shown by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a module offers, sorted."""
    names = getattr(module, "__all__", None) or dir(module)
    for name in sorted(set(names), key=lambda name: (name.lower(), name)):
        value = getattr(module, name)
        ours = str(getattr(value, "__module__", "pkg")).split(".")[0] in (
            "pkg",
            "_pybind_core",
        )
        if is_public(name) and not inspect.ismodule(value) and ours:
            yield name, value


def of_kind(module: ModuleType, kind: str, core: ModuleType) -> list[tuple[str, Any]]:
    """The members of a section."""
    if kind == "tensor":
        tensor = module.Tensor
        names = sorted(filter(is_public, dir(tensor)), key=str.lower)
        found = [(name, inspect.getattr_static(tensor, name)) for name in names]
    else:
        found = [(name, value) for name, value in public(module) if callable(value)]
    found = [(n, v) for n, v in found if not isinstance(v, core.Operator)]
    if kind in ("layers", "losses"):
        return [(n, v) for n, v in found if n.endswith("Loss") == (kind == "losses")]
    return found


def is_public(name: str) -> bool:
    return not name.startswith("_")


def section(core: ModuleType, title: str, text: str, module: str, kind: str) -> str:
    """One of SECTIONS as Markdown."""
    home = importlib.import_module(module)
    ops = [f"`{n}`" for n, v in public(home) if isinstance(v, core.Operator)]
    rows = []
    for name, value in of_kind(home, kind, core):
        shown = call(name, value) if callable(value) else name
        rows.append([f"`{shown}`", first_sentence(inspect.getdoc(value))])
    head = f"## {title}\n\n{text.format(ops=', '.join(ops))}\n\n"
    return head + table(["name", "what it is"], rows)


def page() -> str:
    """The text of docs/ops.md."""
    core = importlib.import_module("pkg._binding").core
    parts = [HEAD + ops_table(core)]
    parts += [section(core, *row) for row in SECTIONS]
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return "\n".join([*parts, torch_gaps.text(old)])


def main() -> None:
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
